"""What a solve proves of its own plan, over a real worker (SPEC S2, T5)."""

import pytest

from tests.integration.server.tools.conftest import ToolClient
from tests.shared.engines.native_search import needs_native
from tests.shared.scenarios.seeded_fleet import fleet_body

pytestmark = [pytest.mark.anyio, needs_native]


async def test_a_solve_of_a_small_day_ends_with_a_plan_that_is_proved_optimal(tools_client: ToolClient) -> None:
    """SPEC S2, T5: its status, its curve and its plan say so, long before its time is up."""
    job_id = await tools_client.solve(fleet_body(12), "PT120S")
    status = await tools_client.use("query_vrp_status", job_id=job_id)
    assert status["result"]["optimal"] is True
    progress = await tools_client.use("read_progress", job_id=job_id)
    assert (progress["optimal"], progress["gap"]) == (True, 0)
    assert 0 <= status["result"]["cost"] - progress["lower_bound"] < 0.011  # one rounded, the other rounded down
    assert (await tools_client.use("read_plan", job_id=job_id))["proof"] == "optimal"


async def test_alternatives_say_nothing_of_a_proof_at_prices_of_their_own(tools_client: ToolClient) -> None:
    """SPEC S2: what is optimal at made-up prices is not at those of the day."""
    base = await tools_client.solve(fleet_body(12), "PT120S")
    answer = await tools_client.use("solve_alternatives", plan=base, solve_time="PT1S")
    assert answer["alternatives"]
    for each in answer["alternatives"]:
        assert "proof" not in await tools_client.plan(each["job_id"])
