"""What `tools/list` costs a model, counted on the bytes that leave the server (SPEC T9)."""

import pytest

from tests.integration.server.mcp.app_replicas import Caller, Replica
from tests.shared.http.http_clients import http_client
from tests.shared.tools.token_costs import tokens

pytestmark = pytest.mark.anyio
BUDGET = 2400
REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")


@pytest.mark.parametrize("revision", REVISIONS)
async def test_the_list_of_core_keeps_its_budget_on_the_wire(
    app_replicas: tuple[Replica, Replica], revision: str
) -> None:
    """SPEC T9: at most 2,400 tokens at every revision, whatever the revision adds."""
    async with http_client(timeout=20) as http:
        caller = Caller(http, revision)
        if revision != REVISIONS[-1]:
            await caller.initialize(app_replicas[0])
        listed = await caller.result(app_replicas[0], "tools/list")
    assert tokens(listed) <= BUDGET
