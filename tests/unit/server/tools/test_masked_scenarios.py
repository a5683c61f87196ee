"""What happens to a day that was read masked and comes back (SPEC R3): its prices and places would be lost unsaid."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner_mcp.jobs.principals import READ, WRITE, Principal
from planner_mcp.server.tools.tool_definition import ToolContext
from tests.shared.scenarios.stored_plans import Call
from tests.unit.server.tools.discovery.test_read_resource import reading

pytestmark = pytest.mark.anyio
ADA = Principal("ada", frozenset({READ, WRITE}))
"""What an API key holds where nobody says otherwise."""
DAY = {
    "name": "d",
    "planning_date": "2025-07-15",
    "depot": "D",
    "agents": [{"id": "veh-1", "capacity": 10, "name": "Ada", "cost_per_km": 2}],
    "tickets": [{"id": "t-1", "location": "A", "demand": 2, "penalty": 50, "name": None}],
    "locations": [{"id": "D", "lat": 39.9042, "lon": 116.4074}, {"id": "A", "lat": 39.9089, "lon": 116.41}],
}
HIDDEN = ["agents.cost_per_km", "agents.name", "locations.lat", "locations.lon", "tickets.penalty"]


async def seen(call: Call, here: ToolContext, day: dict[str, Any] = DAY) -> dict[str, Any]:
    """Return a stored day as `read_resource` shows it, with what is said beside it."""
    scenario_id = (await call("create_scenario", day, here)).structured["scenario_id"]
    answer = await call("read_resource", {"uri": f"scenario://{scenario_id}"}, here)
    return {**answer.structured, "told": answer.text, "scenario": json.loads(answer.structured["text"])["scenario"]}


async def test_a_masked_day_says_what_is_hidden(call: Call, ctx: ToolContext) -> None:
    """SPEC R3, T6: the day itself says it, and each piece of a long one in both forms of the answer."""
    found = await seen(call, reading(ctx, ADA))
    assert found["scenario"]["masked"] == found["masked"] == HIDDEN
    assert found["told"].endswith(f"masked: {', '.join(HIDDEN)}")
    many = DAY | {"tickets": [{"id": f"t-{n}", "location": "A", "demand": 1, "name": "Bob"} for n in range(100)]}
    here = reading(ctx, ADA)
    scenario_id = (await call("create_scenario", many, here)).structured["scenario_id"]
    piece = await call("read_resource", {"uri": f"scenario://{scenario_id}", "offset": 3000}, here)
    assert "tickets.name" in piece.structured["masked"]
    assert "tickets.name" in piece.text.rpartition("masked: ")[2]


async def test_a_day_of_which_nothing_is_hidden_is_as_it_was_sent(call: Call, ctx: ToolContext) -> None:
    """SPEC R3: with the scope, or without anything sensitive."""
    whole = await seen(call, ctx)
    assert (whole["scenario"], "masked" in whole, "masked: " in whole["told"]) == (DAY, False, False)
    bare = DAY | {"depot": "A", "agents": [{"id": "v", "capacity": 9}], "locations": []}
    bare["tickets"] = [{"id": "t-1", "location": "A", "demand": 2}]
    assert "masked" not in (await seen(call, reading(ctx, ADA), bare))["scenario"]


@pytest.mark.parametrize("tool", ["create_scenario", "validate_scenario"])
async def test_a_masked_day_that_comes_back_is_refused(call: Call, ctx: ToolContext, tool: str) -> None:
    """SPEC R3, T7: once, with the way out; nothing is planned without its prices and at rounded places."""
    masked = (await seen(call, reading(ctx, ADA)))["scenario"]
    args = masked if tool == "create_scenario" else {"scenario": masked}
    answer = (await call(tool, args, replace(ctx, principal=ADA))).structured
    (fault,) = answer["errors"]
    assert fault["path"] == "/masked"
    assert "planner:sensitive" in fault["hint"]
    assert "Patch what changes" in fault["hint"]


async def test_a_patch_that_says_masked_is_refused(call: Call, ctx: ToolContext) -> None:
    """SPEC R3, T7: a patch made of a masked day takes prices away."""
    scenario_id = (await call("create_scenario", DAY)).structured["scenario_id"]
    answer = await call("revise_scenario", {"scenario_id": scenario_id, "patch": {"masked": HIDDEN, "name": "e"}})
    assert [fault["path"] for fault in answer.structured["errors"]] == ["/patch/masked"]


NAMED = {"tickets": {"t-1": {"agents": ["Ada"]}}}


async def test_a_masked_name_does_not_appear_in_a_hint(call: Call, ctx: ToolContext) -> None:
    """SPEC R3: of a stored day only with the scope; of a day that is in the call itself to whoever wrote it."""

    async def hints(tool: str, args: dict[str, Any], here: ToolContext) -> list[str]:
        return [fault["hint"] for fault in (await call(tool, args, here)).structured["errors"]]

    ada, suggestion = replace(ctx, principal=ADA), ["Did you mean veh-1?"]
    for here, messages in ((ada, ["Add the agent or name another."]), (ctx, suggestion)):
        scenario_id = (await call("create_scenario", DAY, here)).structured["scenario_id"]
        for tool in ("validate_scenario", "revise_scenario"):
            assert await hints(tool, {"scenario_id": scenario_id, "patch": NAMED}, here) == messages
    written = DAY | {"tickets": [{**DAY["tickets"][0], **NAMED["tickets"]["t-1"]}]}
    assert await hints("create_scenario", written, ada) == suggestion
    assert await hints("validate_scenario", {"scenario": written}, ada) == suggestion
    agents = [{"id": "veh-1", "capacity": 9, "locked_tickets": ["Bob"]}]
    table = {"format": "csv", "content": "id,lat,lon,name\nt-1,39.9,116.4,Bob\n", "agents": agents}
    assert await hints("import_scenario", {**table, "planning_date": "2025-07-15"}, ada) == ["Did you mean t-1?"]


async def test_texts_that_were_masked_are_warned_of(call: Call, ctx: ToolContext) -> None:
    """SPEC R3, T7: where `masked` was left out the stars remain; whoever writes them on purpose still may."""
    starred = DAY | {"agents": [{"id": "veh-1", "capacity": 10, "name": "***", "cost_per_km": None}]}
    for answer in (await call("create_scenario", starred), await call("validate_scenario", {"scenario": starred})):
        assert "agents.name" in answer.structured["warnings"][0]
        assert f"Warning: {answer.structured['warnings'][0]}" in answer.text
    assert (await call("create_scenario", DAY)).structured["warnings"] == []
    scenario_id = (await call("create_scenario", DAY)).structured["scenario_id"]
    patch = {"agents": {"veh-1": {"name": "***", "cost_per_km": None}}}
    revised = await call("revise_scenario", {"scenario_id": scenario_id, "patch": patch})
    assert "agents.name" in revised.structured["warnings"][0]


def test_advice_to_read_a_scenario_warns_not_to_send_a_masked_one_back() -> None:
    """SPEC R3, R4: a key of the default scopes reads every day masked."""
    root = Path(__file__).parents[4]
    prompts = ("replan_after_change", "explain_unassigned")
    for page in (*(f"planner_mcp/server/prompts/{name}.md" for name in prompts), "skills/plan-routes/SKILL.md"):
        words = (root / page).read_text(encoding="utf-8")
        assert "`masked`" in words
        assert "planner:sensitive" in words
