"""`revise_scenario`: what a patch makes of a scenario, and what is refused at its place (SPEC T5, T7)."""

import threading
from typing import Any

import pytest

from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.server.tools.arguments import resolved_inputs, scenario_revision
from planner_mcp.server.tools.tool_definition import ToolContext
from tests.shared.scenarios.scenario_builders import agent, body, ticket
from tests.shared.scenarios.stored_plans import DAY, Call, created, solved

pytestmark = pytest.mark.anyio


async def test_a_patch_makes_a_revision(call: Call, ctx: ToolContext) -> None:
    """SPEC T5: a new scenario that knows its parent; the old one stays as it was."""
    scenario_id = await created(call)
    patch = {"tickets": {"a": {"demand": 2}, "b": None, "d": {"location": "E", "demand": 1}}, "depot": "A"}
    result = await call("revise_scenario", {"scenario_id": scenario_id, "patch": patch})
    assert result.structured["revision"] == 2
    assert result.structured["parent_id"] == scenario_id
    assert result.structured["changes"] == ["tickets: 1 added (d), 1 removed (b), 1 changed (a)", "changed: depot"]
    new = await ctx.job_service.scenario(ctx.principal, result.structured["scenario_id"])
    assert [entry["id"] for entry in new.body["tickets"]] == ["a", "c", "d"]
    assert (await ctx.job_service.scenario(ctx.principal, scenario_id)).body == DAY
    assert new.parent_id == scenario_id


async def test_a_revision_is_checked_like_a_scenario(call: Call) -> None:
    """SPEC T7: all faults at once, at the ids the caller knows."""
    scenario_id = await created(call)
    patch = {"tickets": {"c": {"demand": 99}, "a": {"location": "nowhere"}}}
    result = await call("revise_scenario", {"scenario_id": scenario_id, "patch": patch})
    assert {fault["path"] for fault in result.structured["errors"]} == {
        "/patch/tickets/c/demand",
        "/patch/tickets/a/location",
    }
    nothing = await call("revise_scenario", {"scenario_id": scenario_id, "patch": {"tickets": {"z": None}}})
    assert nothing.structured["errors"][0]["path"] == "/patch/tickets/z"
    same = await call("revise_scenario", {"scenario_id": scenario_id, "patch": {"name": "day"}})
    assert same.structured["errors"][0]["problem"] == "The patch changes nothing."
    assert f"scenario://{scenario_id}" in same.structured["errors"][0]["hint"]
    typo = await call(
        "revise_scenario", {"scenario_id": scenario_id, "patch": {"agents": {"v": {"end_locaton": None}}}}
    )
    assert [(fault["path"], fault["hint"]) for fault in typo.structured["errors"]] == [
        ("/patch/agents/v/end_locaton", "Did you mean end_location?")
    ]


async def test_a_change_under_an_unknown_id_is_refused_as_such(call: Call, store: RedisStore) -> None:
    """SPEC T7: nobody adds a field to a vehicle that was only called by a wrong name."""
    scenario_id = await created(call)
    patch = {"agents": {"V": {"shift_end": 9}}, "tickets": {"aa": {"priority": 9}}}
    job_id = await solved(call, store, scenario_id, ["a", "b"], ["c"])
    for tool, asked in (("revise_scenario", {"scenario_id": scenario_id}), ("resolve_vrp", {"warm_from": job_id})):
        refused = await call(tool, {**asked, "patch": patch})
        agent_fault, *ticket_faults = refused.structured["errors"]
        assert agent_fault == {
            "path": "/patch/agents/V/capacity",
            "problem": "There is no agent with this id yet, and one to add needs capacity.",
            "accepted": "the id of one that exists: v, w",
            "hint": "Did you mean v?",
            "which": ["V"],
        }
        assert {fault["path"] for fault in ticket_faults} == {
            f"/patch/tickets/aa/{name}" for name in ("location", "demand")
        }
        assert {fault["hint"] for fault in ticket_faults} == {"Did you mean a?"}
    new = {"id": "z", "demand": 1}
    refused = await call("resolve_vrp", {"warm_from": job_id, "new_ticket": [new]})
    assert [fault["problem"] for fault in refused.structured["errors"]] == [
        "The required parameter location is missing."
    ]


async def test_a_near_id_is_looked_for_beside_the_event_loop(
    call: Call, store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our choice: among 10,000 ids that takes up to a second, in which nobody else would be answered."""
    scenario_id = await created(call)
    job_id = await solved(call, store, scenario_id, ["a", "b"], ["c"])
    threads: list[threading.Thread] = []

    def looked_for(*_args: Any) -> dict[str, str]:
        threads.append(threading.current_thread())
        return {}

    monkeypatch.setattr(scenario_revision, "near_names", looked_for)
    for tool, asked in (("revise_scenario", {"scenario_id": scenario_id}), ("resolve_vrp", {"warm_from": job_id})):
        await call(tool, {**asked, "patch": {"agents": {"V": {"shift_end": 9}}}})
    assert len(threads) == 2
    assert threading.main_thread() not in threads


async def test_what_is_added_under_almost_the_id_of_another_is_reported(call: Call) -> None:
    """SPEC T5: whoever writes V for v gets one vehicle more, which no check refuses."""
    scenario_id = await created(call)
    patch = {"agents": {"V": {"capacity": 9}, "x": {"capacity": 9}}}
    for tool in ("revise_scenario", "validate_scenario"):
        answer = await call(tool, {"scenario_id": scenario_id, "patch": patch})
        assert answer.structured["changes"] == ["agents: 2 added (V, x)"]
        assert "agents: 2 added (V, x)" in answer.text.splitlines()
        assert answer.structured["warnings"] == ["/agents/V: This is a new agent. Did you mean v?"]


async def test_what_a_patch_takes_away_is_reported_before_ids_that_resemble_others(call: Call) -> None:
    """SPEC T5: an answer has room for a few warnings; a ticket gone from a lock is not to be lost among them."""
    names = [f"t-{number}" for number in range(6)]
    day = body([agent("v", locked_tickets=["a"])], [ticket("a"), *map(ticket, names)])
    scenario_id = await created(call, day)
    again = {name.upper(): {"location": "B", "demand": 1} for name in names}
    for tool in ("revise_scenario", "validate_scenario"):
        answer = await call(tool, {"scenario_id": scenario_id, "patch": {"tickets": {"a": None, **again}}})
        first, second, *_ = answer.structured["warnings"]
        assert first.startswith("a gone: ")
        assert second.endswith("Did you mean t-0?")


async def test_an_unknown_id_to_remove_hides_no_other_mistake(call: Call) -> None:
    """SPEC T7: of the patch and of the day under the rest of it; what cannot be merged is judged no further."""
    scenario_id = await created(call)
    patch = {
        "tickets": {"z/z": None, "c": {"demand": 99, "colour": 1}},
        "agents": {"nobody": None},
        "planning_date": "x",
    }
    refused = await call("revise_scenario", {"scenario_id": scenario_id, "patch": patch})
    assert [fault["path"] for fault in refused.structured["errors"]] == [
        "/patch/agents/nobody",
        "/patch/tickets/z~1z",
        "/patch/planning_date",
        "/patch/tickets/c/colour",
        "/patch/tickets/c/demand",
    ]
    patch = {"tickets": {"z": None, "d": {"location": "new", "demand": 1}}, "locations": {"new": 5}}
    refused = await call("revise_scenario", {"scenario_id": scenario_id, "patch": patch})
    assert [fault["path"] for fault in refused.structured["errors"]] == ["/patch/tickets/z", "/patch/locations/new"]


async def test_a_refused_patch_lists_what_it_broke_alone(call: Call) -> None:
    """SPEC T7: a ticket that nobody could serve before is no fault of the patch, another reason for it is."""
    heavy = {name: ticket(name, demand=99) for name in ("late", "z")}
    scenario_id = await created(call, DAY | {"tickets": [*DAY["tickets"], *heavy.values()]})
    changes = {"a": {"location": "nowhere"}, "c": {"demand": 99}, "late": {"demand": 1, "time_windows": [[90, 99]]}}
    refused = await call("revise_scenario", {"scenario_id": scenario_id, "patch": {"tickets": changes}})
    assert [fault["path"] for fault in refused.structured["errors"]] == [
        "/patch/tickets/a/location",
        "/patch/tickets/c/demand",
        "/patch/tickets/late/time_windows",
    ]
    misspelt = {"tickets": {"a": {"colour": "red"}, "c": {"demand": 99}}}
    refused = await call("revise_scenario", {"scenario_id": scenario_id, "patch": misspelt})
    assert [fault["path"] for fault in refused.structured["errors"]] == [
        "/patch/tickets/a/colour",
        "/patch/tickets/c/demand",
    ]
    locked = {"agents": {"v": {"locked_tickets": ["z"]}}}
    refused = await call("revise_scenario", {"scenario_id": scenario_id, "patch": locked})
    assert [fault["path"] for fault in refused.structured["errors"]] == [
        "/tickets/z/demand",
        "/patch/agents/v/locked_tickets",
    ]


async def test_what_a_patch_brings_stands_before_what_was_so_already(call: Call) -> None:
    """SPEC T5: an answer has room for a few warnings, and those of the day are known."""
    scenario_id = await created(call, DAY | {"tickets": [*DAY["tickets"][:2], {**DAY["tickets"][2], "penalty": 0}]})
    patch = {"tickets": {"a": {"preferred_agent": "v"}}}
    revised = await call("revise_scenario", {"scenario_id": scenario_id, "patch": patch})
    places = [warning.partition(":")[0] for warning in revised.structured["warnings"]]
    assert places == ["/tickets/a/preferred_agent", "/tickets/c/penalty"]


async def test_a_patch_that_cures_one_of_several_warnings_brings_none(call: Call) -> None:
    """SPEC T5: warnings are the same by their places, whichever of them one sentence names."""
    loose = [{**each, "preferred_agent": "v"} for each in DAY["tickets"]]
    scenario_id = await created(call, DAY | {"tickets": loose})
    patch = {"tickets": {"a": {"preferred_agent": None}, "b": {"penalty": 0}}}
    warnings = (await call("revise_scenario", {"scenario_id": scenario_id, "patch": patch})).structured["warnings"]
    assert [warning.partition(":")[0] for warning in warnings] == ["/tickets/b/penalty", "/tickets/b/preferred_agent"]
    assert warnings[1].endswith("Likewise c.")


async def test_the_day_before_needs_no_roads_for_its_warnings(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our choice: a road engine is asked, and tables are loaded, for the day that is kept alone."""
    scenario_id = await created(call)
    asked_for: list[Any] = []
    resolve = resolved_inputs.resolved_inputs

    def counted(body: Any, **how: Any) -> resolved_inputs.ResolvedInputs:
        asked_for.append(body)
        return resolve(body, **how)

    monkeypatch.setattr(resolved_inputs, "resolved_inputs", counted)
    patch = {"tickets": {"c": {"preferred_agent": "v"}}}
    assert (await call("revise_scenario", {"scenario_id": scenario_id, "patch": patch})).structured["warnings"]
    assert [day["tickets"][2].get("preferred_agent") for day in asked_for] == ["v"]


async def test_a_warning_names_the_entry_by_its_id(call: Call) -> None:
    """SPEC T7: the caller of a patch knows no positions, and tickets that leave the day move them."""
    scenario_id = await created(call)
    asked = {"scenario_id": scenario_id, "patch": {"tickets": {"a": None, "c": {"preferred_agent": "v"}}}}
    warning = "/tickets/c/preferred_agent: Without switch_cost this has no effect. Set switch_cost, or remove this."
    for tool in ("validate_scenario", "revise_scenario"):
        assert (await call(tool, asked)).structured["warnings"] == [warning]


@pytest.mark.parametrize("name", ["agents", "tickets", "locations"])
@pytest.mark.parametrize("entry", [7, "an id of", None, [], {"id": ["a"]}, {"id": None}, {"id": {}}])
async def test_a_list_of_anything_is_refused_at_its_place(call: Call, name: str, entry: object) -> None:
    """SPEC T7: whatever a patch puts in place of a list, the answer tells where it is wrong."""
    scenario_id = await created(call)
    result = await call("revise_scenario", {"scenario_id": scenario_id, "patch": {name: [entry]}})
    assert result.structured["errors"], result.structured
    assert result.structured["errors"][0]["path"].startswith(f"/patch/{name}/")


async def test_a_list_that_drops_entries_is_warned_of(call: Call) -> None:
    """SPEC T5, T7: a list replaces the list, as the RFC has it; who meant to add an entry hears what is gone."""
    scenario_id = await created(call)
    added = {"scenario_id": scenario_id, "patch": {"tickets": [ticket("a"), ticket("z")]}}
    removal = "A list replaces the whole list, removed with it: b, c."
    warning = f"/patch/tickets: {removal} Write an object by id to keep the others."
    assert warning in (await call("revise_scenario", added)).structured["warnings"]
    by_id = {"scenario_id": scenario_id, "patch": {"tickets": {"z": {"location": "A", "demand": 1}}}}
    assert (await call("revise_scenario", by_id)).structured["warnings"] == []


async def test_an_entry_of_a_list_that_lacks_fields_is_to_be_written_by_id(call: Call) -> None:
    """SPEC T7: who changes one field in a list means the object by id; the field that the list lacks is not the fix."""
    patch = {"tickets": [{"id": "b", "demand": 2}]}
    result = await call("revise_scenario", {"scenario_id": await created(call), "patch": patch})
    (fault,) = (each for each in result.structured["errors"] if each["path"] == "/patch/tickets/b/location")
    assert fault["hint"] == "Write an object by id to keep the others."


async def test_a_new_address_that_is_known_only_as_a_town_is_warned_of(call: Call) -> None:
    """SPEC T1, O4: the order of an urgent ticket among others would be a guess, as a new scenario says too."""
    places = [{"id": "D", "lat": 52.5, "lon": 13.4}, {"id": "A", "lat": 52.6, "lon": 13.4}]
    scenario_id = await created(call, body([agent("v")], [ticket("a", "A")], locations=places))
    patch = {"tickets": {"u": {"address": "Alexanderplatz 1, 10178 Berlin", "demand": 1}}}
    (warning,) = (await call("revise_scenario", {"scenario_id": scenario_id, "patch": patch})).structured["warnings"]
    assert warning.startswith("Known only as the centre of its town or district, true within ")
    assert warning.endswith("km: at u.")


async def test_null_in_place_of_a_list_is_none_at_all(call: Call) -> None:
    """SPEC T5, T7: null stands for absent, in a revision too."""
    day = {
        "name": "day",
        "planning_date": "2025-07-15",
        "agents": [{"id": "v", "capacity": 9}],
        "tickets": [{"id": "a", "location": "A", "demand": 1}],
        "locations": None,
        "groups": None,
        "options": None,
    }
    scenario_id = await created(call, day)
    patch = {"locations": {"A": {"x": 1, "y": 1}}, "options": {"backhaul": True}}
    added = await call("revise_scenario", {"scenario_id": scenario_id, "patch": patch})
    assert added.structured["changes"] == ["locations: 1 added (A)", "changed: options"]
    again = await call("revise_scenario", {"scenario_id": scenario_id, "patch": {"tickets": {"a": {"demand": 2}}}})
    assert again.structured["changes"] == ["tickets: 1 changed (a)"]
    none = await call("revise_scenario", {"scenario_id": scenario_id, "patch": {"locations": {"B": None}}})
    assert none.structured["errors"][0]["path"] == "/patch/locations/B"


async def test_names_written_for_the_rows_of_a_matrix_are_reported(call: Call) -> None:
    """SPEC T5: new tables come with names from then on, so who patches hears of it."""
    table = [[0, 9, 9], [9, 0, 9], [9, 9, 0]]
    day = body(tickets=[ticket("a")], locations=[{"id": name} for name in "DAB"], travel={"durations": table})
    asked = {"scenario_id": await created(call, day), "patch": {"locations": {"B": None}}}
    revised = (await call("revise_scenario", asked)).structured
    assert ["matrix_locations" in messages for messages in revised["warnings"]] == [True]


async def test_whatever_a_patch_makes_of_what_is_held_is_an_answer(call: Call, store: RedisStore) -> None:
    """SPEC T5, T7: broken parts of a day under way are told as faults, never as an error of ours."""
    job_id = await solved(call, store, await created(call), ["a", "b"], ["c"])
    held = await call("resolve_vrp", {"warm_from": job_id, "keep_until": "00:01"})
    lost: dict[str, Any] = {"agents": {"w": None}}
    wrong = [
        {"held": 5},
        {"held": {"routes": [[]]}},
        {"groups": [5], **lost},
        {"agents": [{"id": []}]},
        {"tickets": [5]},
    ]
    for patch in wrong:
        answer = await call("revise_scenario", {"scenario_id": held.structured["scenario_id"], "patch": patch})
        assert answer.structured["type"] in ("InvalidInput", "InvalidParameter")
        assert answer.structured["errors"]
    anew = await call("resolve_vrp", {"warm_from": job_id, "keep_until": "00:01", "patch": {"held": 5}})
    assert anew.structured["kept_tickets"] == 3
