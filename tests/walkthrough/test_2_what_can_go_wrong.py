"""Chapter 2, what can go wrong: a day with mistakes, and a day that cannot be served.

You learn that a mistake is refused with its place, and that too much work is no mistake: it is planned as far as it
goes, with the reason for what is left out and the smallest change that would let it in.
"""

from typing import Any

import anyio
import pytest
from mcp import Client

from tests.shared.scenarios.client_scenarios import submit, use, wait_for
from tests.walkthrough.three_visits import THREE_VISITS

pytestmark = pytest.mark.anyio

TOO_MUCH: dict[str, Any] = {
    **THREE_VISITS,
    "tickets": [*THREE_VISITS["tickets"], {"id": "t-4", "location": "xidan", "demand": 6}],
}
"""The tickets need 21, the vans carry 20."""


async def test_all_mistakes_are_reported_together_each_with_its_place(client: Client) -> None:
    """SPEC T7: one refusal lists every mistake with its path, what would be accepted, and a hint to mend it."""
    ticket = {"id": "t-1", "location": "nowhere", "demand": 1, "time_windows": [["11:00", "09:00"]]}
    result = await client.call_tool("create_scenario", {**THREE_VISITS, "tickets": [ticket]})
    assert result.is_error
    assert result.structured_content["type"] == "InvalidScenario"
    errors = {error["path"]: error for error in result.structured_content["errors"]}
    assert errors.keys() == {"/tickets/0/location", "/tickets/0/time_windows/0"}
    assert errors["/tickets/0/time_windows/0"] == {
        "path": "/tickets/0/time_windows/0",
        "problem": "The window closes before it opens.",
        "accepted": "[open, close] with open ≤ close",
        "hint": "Swap the two, or write hours past midnight as 24:00 to 47:59.",
        "which": ["t-1 ([11:00,09:00])"],
    }


async def test_what_cannot_be_served_is_reported_before_solving(client: Client) -> None:
    """SPEC T5: `validate_scenario` proves in a moment that a day cannot be served whole, and says why."""
    answered = await use(client, "validate_scenario", scenario=TOO_MUCH)
    assert answered["valid"], "too much work is no mistake"
    assert answered["agents_needed"] == 3
    assert answered["conflict"]["ticket_ids"] == ["t-1", "t-2", "t-4"], "of these three a van carries one alone"
    why = "however they are shared among the 2 agents, one has more than it may carry or serve"
    assert answered["conflict"]["text"] == f"t-1, t-2, t-4 cannot all be served: {why}"


async def test_ticket_that_finds_no_room_is_left_out_with_the_reason(client: Client) -> None:
    """SPEC T5, S2: the job completes with a plan of the rest; each ticket left out has a code."""
    with anyio.fail_after(30):
        job_id = await submit(client, TOO_MUCH, "PT1S")
        done = await wait_for(client, job_id, "COMPLETED")
    assert (done["result"]["plan_status"], done["tickets_served"]) == ("partial", 3)
    left_out = await use(client, "read_plan", job_id=job_id, view="unassigned")
    assert [code for _ticket_id, code in left_out["rows"]] == ["ALL_CAPACITY_USED"]


async def test_smallest_fix_is_a_patch_that_lets_the_ticket_in(client: Client) -> None:
    """SPEC T5: `suggest_fixes` proves what would help, and `resolve_vrp` takes its patch as it stands."""
    with anyio.fail_after(30):
        job_id = await submit(client, TOO_MUCH, "PT1S")
        await wait_for(client, job_id, "COMPLETED")
        fix, *_others = (await use(client, "suggest_fixes", plan=job_id))["fixes"]
        assert fix["kinds"] == ["CAPACITY"]
        again = await use(client, "resolve_vrp", warm_from=job_id, patch=fix["patch"], solve_time="PT1S")
        done = await wait_for(client, again["job_id"], "COMPLETED")
    assert done["tickets_served"] == done["tickets_total"] == 4
