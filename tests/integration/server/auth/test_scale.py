"""`GET /scale` for autoscalers: who reads it, and what it says (SPEC O8)."""

from typing import Any

import pytest

from planner_mcp.jobs.principals import ADMIN, READ
from tests.shared.scenarios.client_scenarios import SMALLEST

pytestmark = pytest.mark.anyio
TOKEN = "a-token-for-the-autoscaler"  # noqa: S105 - of this test


async def test_the_token_opens_it_and_nothing_else(served: Any, key: Any) -> None:
    """SPEC O8, A3: no token, a wrong one, an operator's key; and the token at another path."""
    operator = await key("eve", ADMIN)
    async with served(scale_token=TOKEN) as http:
        answer = await http.get("/scale", headers={"authorization": f"Bearer {TOKEN}"})
        refused = [
            await http.get("/scale", headers=headers)
            for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": operator})
        ]
        elsewhere = await http.get("/metrics", headers={"authorization": f"Bearer {TOKEN}"})
    assert answer.json() == {"wanted_slots": 0, "live_slots": 0, "queued_s": 0.0, "solving_s": 0.0}
    assert [each.status_code for each in (*refused, elsewhere)] == [401, 401, 401, 401]
    assert all("www-authenticate" in each.headers for each in refused)


async def test_jobs_that_wait_ask_for_slots_where_no_worker_lives(served: Any, key: Any) -> None:
    """SPEC O8: two minutes of work start within 30 s on four slots; nobody has to be alive to say so."""
    ann = {"authorization": await key("ann")}
    async with served(scale_token=TOKEN, target_wait_s=30.0, solve_cores=1) as http:
        scenario = (await http.post("/v1/scenarios", json=SMALLEST, headers=ann)).json()["scenario_id"]
        for seed in (1, 2):
            body = {"scenario_id": scenario, "solve_time": "PT60S", "seed": seed}
            assert (await http.post("/v1/jobs", json=body, headers=ann)).status_code == 202
        answer = (await http.get("/scale", headers={"authorization": f"Bearer {TOKEN}"})).json()
    assert answer == {"wanted_slots": 4, "live_slots": 0, "queued_s": 120.0, "solving_s": 0.0}


async def test_without_a_token_it_wants_an_operator(served: Any, key: Any) -> None:
    """SPEC A3: as `/metrics` does."""
    operator, reader = await key("eve", ADMIN), await key("bob", READ)
    async with served() as http:
        statuses = [
            (await http.get("/scale", headers={"authorization": each})).status_code for each in (operator, reader)
        ]
        assert [*statuses, (await http.get("/scale")).status_code] == [200, 403, 401]
        assert (await http.post("/scale", headers={"authorization": operator})).status_code == 405
