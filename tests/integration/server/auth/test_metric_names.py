"""The table of metrics that alerts and dashboard are held to (SPEC O3)."""

import re
from pathlib import Path
from typing import Any

import pytest

from planner_mcp.jobs.principals import ADMIN

OPERATE = Path(__file__).parents[4] / "docs" / "how-to" / "operate.md"


@pytest.mark.anyio
async def test_the_documented_metrics_are_those_that_a_server_has(served: Any, key: Any) -> None:
    """SPEC O3, O7: a metric that is renamed is renamed in the table, and with it in alerts and panels."""
    async with served() as http:
        text = (await http.get("/metrics", headers={"authorization": await key("eve", ADMIN)})).text
    documented = re.findall(r"`(planner_\w+)(?:\{[\w,]+\})?`", OPERATE.read_text("utf-8"))
    assert set(documented) == set(re.findall(r"^# TYPE (planner_\w+) ", text, re.MULTILINE))
