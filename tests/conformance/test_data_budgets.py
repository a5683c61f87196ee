"""What the tools of the set `data` cost a model (SPEC T9), in o200k tokens."""

import json
from typing import Any

import pytest

from planner_mcp.resources.base import Contents
from planner_mcp.tools import list_jobs, list_scenarios
from planner_mcp.tools.answers.table_result import table_result
from planner_mcp.tools.base import ToolResult
from planner_mcp.tools.read_resource import ResourceArguments, _piece
from planner_mcp.tools.registry import REGISTRY
from tests.conformance.test_token_budgets import JOB, PLAN, dearer, tokens, whole
from tests.unit.tools.plans import stored_plan

SCENARIO = JOB.replace("job-", "scn-", 1)
AT = "2026-07-15T08:30:15.123Z"


@pytest.mark.parametrize("name", ["data", "admin"])
def test_the_list_of_a_set(name: str) -> None:
    """SPEC T9: switching a small set on costs less than half of the core."""
    assert tokens({"tools": [tool.as_json() for tool in REGISTRY if tool.toolset == name]}) <= 1000


def jobs(count: int) -> ToolResult:
    """Return a page of `list_jobs`."""
    rows = [[JOB, "COMPLETED", 100, 123456.78, AT] for _ in range(count)]
    return table_result("jobs", list_jobs._COLUMNS, rows, page=1, size=count, total=9999)


def scenarios(count: int, name: str) -> ToolResult:
    """Return a page of `list_scenarios`."""
    rows = [[SCENARIO, name, 3, JOB, AT] for _ in range(count)]
    return table_result("scenarios", list_scenarios._COLUMNS, rows, page=1, size=count, total=9999)


def test_a_page_of_a_list() -> None:
    """SPEC T9: the usual page ≤ 900, the largest ≤ 8000 with both forms."""
    assert dearer(jobs(10)) <= 900
    assert dearer(scenarios(10, "北京城配 周二")) <= 900
    assert whole(jobs(50)) <= 8000
    assert whole(scenarios(20, "\N{DELIVERY TRUCK}" * list_scenarios.MAX_NAME)) <= 8000


def piece(text: str) -> ToolResult:
    """Return what `read_resource` answers for a long text."""
    return _piece(ResourceArguments(uri=f"plan://{PLAN}"), Contents("application/json", text))


def test_a_piece_of_a_resource() -> None:
    """SPEC T9: ≤ 900 for a plan and a report, ≤ 8000 whatever it holds."""
    plan: Any = stored_plan(routes=40, visits=30, left_out=100)
    assert dearer(piece(json.dumps(plan, separators=(",", ":")))) <= 900
    assert dearer(piece("<td>今天的配送报告</td>" * 500)) <= 900
    for script in ("x", '"', "\\", "北", "\N{DELIVERY TRUCK}", "\x01"):
        assert whole(piece(script * 9000)) <= 8000
