"""Chapter 4, the day changes: a patch, a late order, vehicles that are already out.

You learn to plan on from a plan you have, instead of sending the day again, and to say what must stay as it is.
"""

import json
from typing import Any

import anyio
import pytest
from mcp import Client

from tests.shared.scenarios.client_scenarios import submit, use, wait_for
from tests.walkthrough.three_visits import THREE_VISITS

pytestmark = pytest.mark.anyio

LATE_ORDER = {"tickets": {"t-4": {"location": "xidan", "demand": 1}}}
"""A patch: lists of agents, tickets and locations are written as objects by id. A new id adds, `null` removes."""


async def visits(client: Client, job_id: str) -> dict[str, tuple[str, str]]:
    """Return who serves each ticket and when, as `(agent_id, start)` by ticket."""
    asked: dict[str, Any] = {"job_id": job_id, "view": "visits", "fields": ["ticket_id", "agent_id", "start"]}
    return {ticket: (agent, start) for ticket, agent, start in (await use(client, "read_plan", **asked))["rows"]}


async def test_patch_makes_a_revision_and_the_old_day_stays(client: Client) -> None:
    """SPEC T5, R1: you send what changes; the answer says what did, and both days can be read."""
    first = await use(client, "create_scenario", **THREE_VISITS)
    patch = {"tickets": {"t-3": {"demand": 4}}}
    second = await use(client, "revise_scenario", scenario_id=first["scenario_id"], patch=patch)
    assert (second["revision"], second["parent_id"]) == (2, first["scenario_id"])
    assert second["changes"] == ["tickets: 1 changed (t-3)"]
    demands = []
    for scenario in (first, second):
        (contents,) = (await client.read_resource(f"scenario://{scenario['scenario_id']}")).contents
        demands.append([ticket["demand"] for ticket in json.loads(contents.text)["scenario"]["tickets"]])
    assert demands == [[6, 6, 3], [6, 6, 4]]


async def test_late_order_is_inserted_and_no_ticket_changes_its_agent(client: Client) -> None:
    """SPEC T5: `keep_agents` leaves each planned ticket with its agent; `compare_plans` tells drivers what is new."""
    with anyio.fail_after(30):
        before = await submit(client, THREE_VISITS, "PT1S")
        await wait_for(client, before, "COMPLETED")
        asked = {"warm_from": before, "patch": LATE_ORDER, "keep_agents": True, "solve_time": "PT1S"}
        after = (await use(client, "resolve_vrp", **asked))["job_id"]
        await wait_for(client, after, "COMPLETED")
        answered = await use(client, "compare_plans", plan_a=before, plan_b=after)
    assert (answered["moved"], answered["newly_served"], answered["newly_unserved"]) == (0, ["t-4"], [])


async def test_what_has_begun_stays_as_it_was(client: Client) -> None:
    """SPEC T5, S1: `keep_until` says what time it is; until then the plan is history, from then on it is planned."""
    with anyio.fail_after(30):
        before = await submit(client, THREE_VISITS, "PT1S")
        await wait_for(client, before, "COMPLETED")
        asked = {"warm_from": before, "patch": LATE_ORDER, "keep_until": "09:20", "solve_time": "PT1S"}
        after = (await use(client, "resolve_vrp", **asked))["job_id"]
        await wait_for(client, after, "COMPLETED")
        old, new = await visits(client, before), await visits(client, after)
    begun = {ticket: visit for ticket, visit in old.items() if visit[1] < "09:20"}
    assert begun.keys() == {"t-1", "t-2"}
    assert {ticket: new[ticket] for ticket in begun} == begun
    assert new["t-4"][1] > "09:20"
