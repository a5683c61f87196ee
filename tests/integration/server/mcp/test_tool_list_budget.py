"""What `tools/list` costs a model, counted on the bytes that leave the server (SPEC T9)."""

import pytest

from tests.integration.server.mcp.app_replicas import Caller, Replica
from tests.shared.http.http_clients import http_client
from tests.shared.tools.token_costs import tokens
from tests.shared.tools.undescribed_fields import undescribed

pytestmark = pytest.mark.anyio
BUDGET = 2400
REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")


@pytest.mark.parametrize("revision", REVISIONS)
async def test_the_list_of_core_keeps_its_budget_on_the_wire_and_describes_each_field(
    app_replicas: tuple[Replica, Replica], revision: str
) -> None:
    """SPEC T6, T9: at most 2,400 tokens at every revision, the message around the list included."""
    async with http_client(timeout=20) as http:
        caller = Caller(http, revision)
        if revision != REVISIONS[-1]:
            await caller.initialize(app_replicas[0])
        answer = await caller.ask(app_replicas[0], "tools/list")
    assert tokens(answer) <= BUDGET
    listed = answer["result"]
    assert listed["tools"]
    schemas = {tool["name"]: [tool["inputSchema"], tool.get("outputSchema")] for tool in listed["tools"]}
    assert {name: missing for name, schema in schemas.items() if (missing := [*undescribed(schema)])} == {}
