"""What is held of a plan while vehicles are out: what has happened stays, and nothing else is planned into the past."""

from itertools import count
from typing import Any

import pytest

from planner_mcp.errors import InputError
from planner_mcp.routing.analysis.frozen_prefix import (
    REPAIR_S,
    agent_assignments,
    count_held,
    frozen_prefix,
    removed_begun_tickets,
    without_departed_agents,
)
from planner_mcp.routing.analysis.plan_repair import repair
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan, candidate_of
from planner_mcp.routing.feasibility.infeasibility_faults import infeasibility_faults
from planner_mcp.routing.feasibility.unassigned_reasons import with_reasons
from planner_mcp.routing.feasibility.verified_fixes import UnassignedAnalysis
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.problem import Candidate, Problem
from planner_mcp.routing.scenario.scenario_model import Held
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from planner_mcp.routing.scenario.scenario_patch import revise
from planner_mcp.routing.scenario.slim_schema import scenario_schema
from planner_mcp.routing.verification.plan_verification import verify
from planner_mcp.text import Json
from tests.shared.scenarios.scenario_builders import agent, body, candidate, compiled, problem, route, ticket

FAR: Json = {"id": "F", "x": 100, "y": 0}


def at(opens: int, closes: int | None = None) -> list[list[int]]:
    return [[opens, opens if closes is None else closes]]


def planned(day: Json, *routes: tuple[str, ...]) -> Plan:
    """Return a plan of a day in which each agent serves its tickets in the order given."""
    known = compiled(day)
    plan = build_plan(known, Candidate(tuple(route(known, *names, agent=n) for n, names in enumerate(routes) if names)))
    assert verify(known, plan) == []
    return plan


def under_way(day: Json, plan: Plan, until: int, patch: Json | None = None) -> Json:
    """Return a day as `resolve_vrp` keeps it at an hour, changed by a patch."""
    return without_departed_agents({**revise(day, patch or {}), "held": frozen_prefix(plan, until).as_json()})


def starts(plan: Plan) -> dict[str | None, float]:
    return {visit.ticket_id: visit.start_s for each in plan.routes for visit in each.visits}


def codes(problem: Problem, *names: str) -> dict[str, str]:
    found = with_reasons(problem, build_plan(problem, candidate(problem, *names) if names else Candidate(())))
    return {entry.ticket_id: entry.code for entry in found.unassigned}


def waiting(**fields: Any) -> Json:
    """Return a day on which one agent serves x at second 1 and stands there until z opens at 500."""
    tickets = [ticket("x", "A", time_windows=at(1)), ticket("z", "A", time_windows=at(500))]
    return body([agent()], tickets, **fields)


def test_who_waits_sets_out_for_something_new_at_the_hour_and_not_before() -> None:
    """SPEC T5: an order that came at 300 is not driven to at 2, though the plan of the morning left room for it."""
    day = waiting(locations=[*body()["locations"], FAR])
    patch = {"tickets": {"n": {"location": "F", "demand": 1, "time_windows": at(300, 450)}}}
    known = compiled(under_way(day, planned(day, ("x", "z")), 300, patch))
    plan = build_plan(known, candidate(known, "x", "n", "z"))
    assert verify(known, plan) == []
    assert starts(plan) == {"x": 1, "n": 300 + 99, "z": 500}
    soon = compiled(under_way(day, planned(day, ("x", "z")), 300, {"tickets": {"n": {**patch["tickets"]["n"]}}}))
    early = compiled(revise(day, patch))
    assert verify(soon, build_plan(early, candidate(early, "x", "n", "z")))


def test_the_proof_refuses_whoever_sets_out_before_the_hour() -> None:
    """SPEC T5, S1: judged from the plan alone, whatever lets an engine believe it."""
    day = waiting()
    patch = {"tickets": {"n": ticket("n", "C")}}
    early = compiled(revise(day, patch))
    known = compiled(under_way(day, planned(day, ("x", "z")), 300, patch))
    found = verify(known, build_plan(early, candidate(early, "x", "n", "z")))
    assert any("sets out for ticket n before the time" in sentence for sentence in found)


def test_a_ticket_whose_window_has_closed_is_left_out_with_its_reason() -> None:
    """SPEC T5, T7: whoever is out would have come by in time; now the hour is past."""
    day = waiting()
    known = compiled(
        under_way(day, planned(day, ("x", "z")), 10, {"tickets": {"m": ticket("m", "B", time_windows=at(3, 6))}})
    )
    assert verify(known, build_plan(known, candidate(known, "x", "m", "z")))
    assert codes(known, "x", "z") == {"m": "TIME_WINDOW"}


def test_what_was_once_too_late_is_served_when_its_window_is_widened() -> None:
    """SPEC T5: nothing that the server laid on a day stands between it and a later patch."""
    day = waiting()
    first = under_way(day, planned(day, ("x", "z")), 10, {"tickets": {"m": ticket("m", "B", time_windows=at(3, 6))}})
    own = {name: value for name, value in first.items() if name != "held"}
    assert own == revise(day, {"tickets": {"m": ticket("m", "B", time_windows=at(3, 6))}})
    plan = build_plan(compiled(first), candidate(compiled(first), "x", "z"))
    wider = compiled(under_way(first, plan, 20, {"tickets": {"m": {"time_windows": at(100, 200)}}}))
    assert verify(wider, build_plan(wider, candidate(wider, "x", "m", "z"))) == []
    gone = under_way(first, plan, 20, {"tickets": {"m": None}})
    assert verify(compiled(gone), build_plan(compiled(gone), candidate(compiled(gone), "x", "z"))) == []


def test_who_is_on_its_first_leg_goes_on() -> None:
    """SPEC T5, S1: the vehicle left at 200 for a visit at 300; at 250 nobody calls it back, nor sends another."""
    day = body(
        [agent("v"), agent("w")], [ticket("far", "F", time_windows=at(300))], locations=[*body()["locations"], FAR]
    )
    plan = planned(day, ("far",))
    assert plan.routes[0].start_s == 200
    known = compiled(under_way(day, plan, 250))
    assert [known.tickets[index].id for index in known.agents[0].locked] == ["far"]
    again = build_plan(known, candidate(known, "far"))
    assert verify(known, again) == []
    assert (again.routes[0].start_s, starts(again)) == (200, {"far": 300})
    assert verify(known, build_plan(known, Candidate((route(known, "far", agent=1),))))
    before = compiled(under_way(day, plan, 150))
    assert [each.locked for each in before.agents] == [(), ()]


def test_who_is_on_its_way_to_a_second_visit_goes_on() -> None:
    """SPEC T5, S1: the visit an agent drives to is held, the one after it is free; times ahead may move."""
    day = body([agent()], [ticket("a", "A", time_windows=at(1)), ticket("f", "F"), ticket("b", "B")])
    day["locations"] = [*day["locations"], FAR]
    known = compiled(under_way(day, planned(day, ("a", "f", "b")), 50))
    assert [known.tickets[index].id for index in known.agents[0].locked] == ["a", "f"]
    assert verify(known, build_plan(known, candidate(known, "a", "f", "b"))) == []
    assert verify(known, build_plan(known, candidate(known, "a", "b", "f")))


def test_a_visit_on_the_way_that_the_changed_day_forbids_is_let_go() -> None:
    """SPEC T5: what is ahead is held as far as it can be; the vehicle is planned on from its last visit."""
    day = body([agent()], [ticket("a", "A", time_windows=at(1)), ticket("f", "F"), ticket("b", "B")])
    day["locations"] = [*day["locations"], FAR]
    plan = planned(day, ("a", "f", "b"))
    for patch in ({"tickets": {"f": None}}, {"tickets": {"f": {"time_windows": at(60)}}}):
        known = compiled(under_way(day, plan, 50, patch))
        assert [known.tickets[index].id for index in known.agents[0].locked] == ["a"]
        found = build_plan(known, candidate(known, "a", "b"))
        assert verify(known, found) == []
        assert starts(found)["b"] == 51


def test_a_visit_on_the_way_that_was_moved_too_far_away_is_let_go() -> None:
    """SPEC T5: its recorded arrival is of the place where it was; no plan fails for it."""
    day = body([agent()], [ticket("a", "A", time_windows=at(1)), ticket("f", "F", time_windows=at(0, 150))])
    day["tickets"].append(ticket("b", "B"))
    day["locations"] = [*day["locations"], FAR, {"id": "G", "x": 500, "y": 0}]
    plan = planned(day, ("a", "f", "b"))
    known = compiled(under_way(day, plan, 50, {"tickets": {"f": {"location": "G"}}}))
    assert [known.tickets[index].id for index in known.agents[0].locked] == ["a"]
    assert codes(known, "a", "b") == {"f": "TIME_WINDOW"}
    assert verify(known, build_plan(known, candidate(known, "a", "b"))) == []
    nearer = compiled(under_way(day, plan, 50, {"tickets": {"f": {"location": "B"}}}))
    assert [nearer.tickets[index].id for index in nearer.agents[0].locked] == ["a", "f"]


def held_up(day: Json, plan: Plan, until: int, delay_s: int) -> Json:
    """Return a day as `late_by` makes it: the first agent reaches the visit it is driving to so much later."""
    changed = under_way(day, plan, until)
    changed["held"]["routes"][0]["arrival_s"] += delay_s
    return changed


def test_who_is_late_stays_late_where_the_visit_it_drives_to_is_let_go() -> None:
    """SPEC T5: its window closes before the late arrival; the delay is not forgotten with it."""
    day = body([agent()], [ticket("a", "A", time_windows=at(1)), ticket("f", "F", time_windows=at(0, 150))])
    day["tickets"].append(ticket("b", "B"))
    day["locations"] = [*day["locations"], FAR]
    plan = planned(day, ("a", "f", "b"))
    known = compiled(held_up(day, plan, 50, 100))
    assert verify(known, build_plan(known, candidate(known, "a", "f")))
    late = build_plan(known, candidate(known, "a", "b"))
    assert (verify(known, late), starts(late)["b"]) == ([], 102)
    first = body([agent()], [day["tickets"][1], ticket("b", "B")], locations=day["locations"])
    known = compiled(held_up(first, planned(first, ("f", "b")), 1, 80))
    assert verify(known, build_plan(known, candidate(known, "f")))
    late = build_plan(known, candidate(known, "b"))
    assert (verify(known, late), late.routes[0].start_s) == ([], 80)


def test_what_is_on_board_is_delivered_however_late() -> None:
    """SPEC T5, S1: nobody else has it; the window it can no longer keep is set aside, and the plan says so."""
    halves = [ticket("p", kind="pickup", time_windows=at(1)), ticket("q", "F", pickup="p", time_windows=at(0, 150))]
    day = body([agent("v", shift_end=250), agent("w")], [*halves, ticket("b", "B", time_windows=at(200))])
    day["locations"] = [*day["locations"], FAR]
    plan = planned(day, ("p", "q"), ("b",))
    known = compiled(held_up(day, plan, 50, 100))
    found = build_plan(known, Candidate((route(known, "p", "q"), route(known, "b", agent=1))))
    assert (verify(known, found), starts(found)["q"], found.routes[0].overtime_s) == ([], 200, 0)
    assert "Windows and agents of q are set aside: executed visits require it." in known.assumptions
    assert any(each.startswith("shift_end is set to ") for each in known.assumptions)
    elsewhere = compiled(under_way(day, plan, 50, {"tickets": {"q": {"agents": ["w"]}}}))
    assert verify(elsewhere, build_plan(elsewhere, Candidate((route(elsewhere, "p", "q"),)))) == []


def test_who_drives_to_deliver_what_is_on_board_keeps_its_shift() -> None:
    """SPEC T5, S1: it left before the hour, so that it is home in time; nothing was changed, so no limit is raised."""
    halves = [ticket("p", kind="pickup", time_windows=at(1)), ticket("q", "F", pickup="p")]
    day = body([agent(shift_end=201)], halves, locations=[*body()["locations"], FAR])
    plan = planned(day, ("p", "q"))
    known = compiled(under_way(day, plan, 50))
    assert (known.agents[0].shift, known.agents[0].locked) == ((0, 201), (0, 1))
    assert known.frozen_prefix_assumptions == ()
    assert verify(known, build_plan(known, candidate(known, "p", "q"))) == []


def test_who_is_home_in_time_through_a_rush_hour_is_not_called_back() -> None:
    """SPEC T5, S1: the way home begins before the rush, so that 250 is in time; at the slowest it would be 300."""
    rush = {"decimals": 0, "rush_hours": [{"start": 150, "end": 300, "factor": 2}]}
    day = body([agent(shift_end=260)], [ticket("f", "F")], locations=[*body()["locations"], FAR], travel=rush)
    plan = planned(day, ("f",))
    assert plan.routes[0].end_s == 250
    known = compiled(under_way(day, plan, 50))
    assert (known.agents[0].locked, known.frozen_prefix_assumptions) == ((0,), ())
    assert build_plan(known, candidate(known, "f")).routes == plan.routes


def test_of_two_on_board_the_order_that_keeps_both_windows_counts() -> None:
    """SPEC T5: no window is set aside for the order in which tickets happen to stand."""
    tickets = [ticket("r", kind="pickup", time_windows=at(1)), ticket("p", kind="pickup", service_time_s=60)]
    tickets.append(ticket("q", "B", pickup="p", time_windows=at(90, 300)))
    tickets.append(ticket("s", "C", pickup="r", time_windows=at(0, 65)))
    day = body([agent()], tickets)
    known = compiled(under_way(day, planned(day, ("r", "p", "s", "q")), 50))
    assert not any("set aside" in each for each in known.assumptions)
    assert verify(known, build_plan(known, candidate(known, "r", "p", "s", "q"))) == []


@pytest.mark.parametrize("price", [None, 0])
def test_a_group_that_has_begun_is_served_as_far_as_it_can_be(price: int | None) -> None:
    """SPEC T5, S1: who was to do the rest is gone; the day is planned all the same, and the rest is missed."""
    rest = ticket("b", "B", agents=["w"], penalty=price, time_windows=at(200))
    tickets = [ticket("a", "A", time_windows=at(1)), rest, ticket("c", "C")]
    day = body([agent("v"), agent("w")], tickets, groups=[{"kind": "all", "tickets": ["a", "b"]}])
    plan = planned(day, ("a", "c"), ("b",))
    gone = compiled(under_way(day, plan, 50, {"agents": {"w": {"shift_end": 40}}}))
    left = build_plan(gone, candidate(gone, "a", "c"))
    assert (verify(gone, left), left.status) == ([], "partial")
    assert codes(gone, "a", "c") == {"b": "SHIFT_END"}
    here = compiled(under_way(day, plan, 50))
    both = build_plan(here, Candidate((route(here, "a", "c"), route(here, "b", agent=1))))
    assert (verify(here, both), both.penalty) == ([], 0)
    assert build_plan(here, candidate(here, "a", "c")).penalty > both.cost


def test_alternatives_that_have_begun_stay_and_no_other_is_served() -> None:
    """SPEC T5: a patch may make a group of what was done; nothing is undone for it."""
    day = body(tickets=[ticket("a", "A"), ticket("b", "B"), ticket("c", "C")])
    patch = {"groups": [{"kind": "one_of", "tickets": ["c", "b", "a"]}]}
    known = compiled(under_way(day, planned(day, ("a", "b", "c")), 2, patch))
    assert verify(known, build_plan(known, candidate(known, "a", "b"))) == []
    assert verify(known, build_plan(known, candidate(known, "a", "b", "c"))) != []


def test_who_is_on_the_way_home_serves_nothing_more_and_another_agent_is_proposed() -> None:
    """SPEC T5: its times stay as they were, though the hour is later; the fix is a second tour."""
    day = body(
        [agent()], [ticket("a", "A", time_windows=at(1), service_time_s=5)], locations=[*body()["locations"], FAR]
    )
    plan = planned(day, ("a",))
    later = under_way(day, plan, 100, {"tickets": {"n": ticket("n", "B")}})
    known = compiled(later)
    found = build_plan(known, candidate(known, "a"))
    assert verify(known, found) == []
    assert found.routes[0].end_s == plan.routes[0].end_s == 7
    assert verify(known, build_plan(known, candidate(known, "a", "n")))
    analysis = UnassignedAnalysis(later, found)
    (fix,) = [fix for fix in analysis.fixes(analysis.index["n"], lambda: False) if fix.kinds == ("ADD_AGENT",)]
    mended = compiled(revise(later, fix.patch))
    both = Candidate((route(mended, "a"), route(mended, "n", agent=1)))
    assert build_plan(mended, both).routes[1].start_s >= 100


def test_where_everybody_is_out_another_agent_is_still_proposed() -> None:
    """SPEC T5: agents that have visits locked can be copied as well; the copy has done nothing yet."""
    day = body([agent(capacity=2), agent("w", capacity=2)], waiting()["tickets"])
    later = under_way(day, planned(day, ("x",), ("z",)), 500, {"tickets": {"n": ticket("n", "C", demand=2)}})
    known = compiled(later)
    found = build_plan(known, Candidate((route(known, "x"), route(known, "z", agent=1))))
    analysis = UnassignedAnalysis(later, found)
    assert ("ADD_AGENT",) in {fix.kinds for fix in analysis.fixes(analysis.index["n"], lambda: False)}


def test_what_nobody_can_reach_any_more_is_left_out_not_refused() -> None:
    """SPEC T5, T7: a breakdown at 250 takes the only agent that could be there by 300."""
    day = body([agent("v"), agent("w", shift_start=250)], [ticket("a", "A"), ticket("far", "F", time_windows=at(300))])
    day["locations"] = [*day["locations"], FAR]
    patch = {"agents": {"v": {"shift_end": 210}}}
    with pytest.raises(InputError):
        parse_scenario({**revise(day, patch), "strict": True}, prove_infeasible=infeasibility_faults)
    later = under_way(day, planned(day, ("a",)), 250, patch)
    known = compiled(later, prove_infeasible=infeasibility_faults)
    assert codes(known)["far"] == "TIME_WINDOW"


def test_what_an_agent_that_is_gone_has_done_leaves_the_day() -> None:
    """SPEC T5: its customers are not visited again; what it has on board, and what stood for it, leaves with it."""
    tickets = [
        ticket("p", "A", kind="pickup", time_windows=at(1)),
        ticket("d", "C", pickup="p", time_windows=at(400)),
        ticket("one", "A", time_windows=at(2)),
        ticket("other", "B", penalty=1),
        ticket("next", "B", time_windows=at(300)),
        ticket("w1", "A", time_windows=at(5)),
        ticket("w2", "A", time_windows=at(600)),
    ]
    groups = [{"kind": "one_of", "tickets": ["one", "other"]}, {"kind": "all", "tickets": ["one", "next"]}]
    day = body([agent("v"), agent("w")], tickets, groups=groups, incompatible=[["one", "w1"], ["p", "w1", "w2"]])
    plan = planned({**day, "incompatible": []}, ("p", "one", "next", "d"), ("w1", "w2"))
    later = under_way(day, plan, 10, {"agents": {"v": None}})
    assert [entry["id"] for entry in later["tickets"]] == ["next", "w1", "w2"]
    assert later["groups"] == [{"kind": "all", "tickets": ["next"]}]
    assert later["incompatible"] == [["w1", "w2"]]
    assert [each["agent"] for each in later["held"]["routes"]] == ["w"]
    assert [each.locked for each in compiled(later).agents] == [(1,)]


def test_a_limit_shorter_than_the_past_counts_as_the_past_and_says_so() -> None:
    """SPEC T5: who ends its shift at 100 is on the way home from what it is doing; nothing is done twice."""
    tickets = [ticket(name, place, service_time_s=50) for name, place in zip("abc", "ABC", strict=True)]
    day = body([agent("v", max_tickets=9, max_distance_m=1000, max_duration_s=1000), agent("w")], tickets)
    plan = planned(day, ("a", "b", "c"))
    limits = {
        "shift_end": 100,
        "max_tickets": 1,
        "max_distance_m": 1,
        "max_duration_s": 1,
        "capacity": 1,
        "min_load": 9,
    }
    known = compiled(under_way(day, plan, 100, {"agents": {"v": {**limits, "shift_start": 30}}}))
    found = build_plan(known, Candidate((route(known, "a", "b"), route(known, "c", agent=1))))
    assert verify(known, found) == []
    assert found.routes[0].end_s == 104
    assert [each.split(" is set to")[0] for each in known.assumptions if " is set to " in each] == [
        "shift_end",
        "max_duration_s",
        "the distance limit",
        "max_tickets",
        "capacity",
        "shift_start",
    ]
    assert starts(found)["c"] >= 100


def reloading(**fields: Any) -> Json:
    """Return a day of 10 for A, a reload at D, then 10 for B and 5 for C."""
    return body(
        [agent(capacity=15, reload_locations=["D"])],
        [ticket("a", "A", demand=10), ticket("b", "B", demand=10), ticket("c", "C", demand=5)],
        **fields,
    )


@pytest.mark.parametrize(
    ("way", "hour", "cut", "limits", "locked"),
    [
        (("a", "reload@D", "b", "reload@D", "c"), 7, {"capacity": 5}, (10, 5), "abc"),
        (("a", "reload@D", "b", "reload@D", "c"), 7, {"max_reloads": 1}, (15, 2), "abc"),
        (("a", "reload@D", "b", "c"), 5, {"capacity": 12}, (12, 5), "ab"),
        (("a", "reload@D", "b", "c"), 8, {"capacity": 12, "max_reloads": 0}, (25, 0), "abc"),
    ],
)
def test_a_limit_below_what_trips_have_carried_counts_as_what_they_carried(
    way: tuple[str, ...], hour: int, cut: Json, limits: tuple[int, int], locked: str
) -> None:
    """SPEC T5: each trip by itself, and the reloads made; of a day that does not record them nothing is raised."""
    plan = planned(reloading(), way)
    day = under_way(reloading(), plan, hour, {"agents": {"v": cut}})
    known = compiled(day)
    (van,) = known.agents
    assert ((*van.capacity, van.max_reloads), [known.tickets[index].id for index in van.locked]) == (limits, [*locked])
    found = build_plan(known, repair(known, candidate_of(known, plan)))
    assert verify(known, found) == []
    assert {name: starts(found)[name] for name in "ab"} == {name: starts(plan)[name] for name in "ab"}
    (executed,) = day["held"]["routes"]
    earlier = compiled({**day, "held": {**day["held"], "routes": [{**executed, "reloads": None}]}})
    assert cut.get("max_reloads") == 0 or earlier.agents[0].capacity == (cut.get("capacity", 15),)


def test_a_way_that_was_driven_to_reload_counts_where_the_distance_limit_is_cut() -> None:
    """SPEC T5: the limit is set to what was driven with it; without it no plan was left."""
    plan = planned(reloading(), ("a", "reload@D", "b", "reload@D", "c"))
    known = compiled(under_way(reloading(), plan, 7, {"agents": {"v": {"max_distance_m": 1}}}))
    found = build_plan(known, repair(known, candidate_of(known, plan)))
    assert verify(known, found) == []
    assert {name: starts(found)[name] for name in "ab"} == {name: starts(plan)[name] for name in "ab"}


def test_a_plan_with_more_reloads_than_are_left_keeps_the_first_when_it_is_repaired() -> None:
    """SPEC T5: tickets stay with their agents where these still can serve them; not one ticket has to go."""
    plan = planned(reloading(), ("a", "reload@D", "b", "reload@D", "c"))
    known = compiled(revise(reloading(), {"agents": {"v": {"max_reloads": 1}}}))
    assert repair(known, candidate_of(known, plan)).routes == (route(known, "a", "reload@D", "b", "c"),)


def test_a_repaired_plan_does_not_reload_for_nothing() -> None:
    """SPEC T5: with its last visit the way to load for it goes too, or what is before would be given up for it."""
    open_day = reloading()
    open_day["agents"][0] |= {"end_location": None}
    plan = planned(open_day, ("a", "reload@D", "b"))
    known = compiled(revise(open_day, {"agents": {"v": {"shift_end": 1}}}))
    assert repair(known, candidate_of(known, plan)).routes == (route(known, "a"),)
    gone = compiled(revise(open_day, {"agents": {"v": {"shift_end": 1}}, "tickets": {"b": None}}))
    assert repair(gone, candidate_of(gone, plan)).routes == (route(gone, "a"),)


def test_what_many_agents_need_is_one_sentence() -> None:
    """SPEC T9: a limit cut for a whole fleet that is out is told with the first few agents, whatever its size."""
    names = [f"v{n:02d}" for n in range(30)]
    locks = {name: [f"{name}-a", f"{name}-b", f"{name}-c"] for name in names}
    ends: Json = {"a": {"time_windows": at(1)}, "b": {"time_windows": at(100, 300)}, "c": {}}
    tickets = [ticket(f"{name}-{end}", end.upper(), **fields) for name in names for end, fields in ends.items()]
    day = body([agent(name, locked_tickets=locks[name]) for name in names], tickets)
    cut = {name: {"max_duration_s": 1} for name in names}
    late = {f"{name}-b": {"time_windows": at(20)} for name in names}
    known = compiled(under_way(day, planned(day, *locks.values()), 50, {"agents": cut, "tickets": late}))
    raised, unlocked = known.assumptions[-2:]
    assert raised == (
        "max_duration_s is set to 2 for v00, 2 for v01, 2 for v02, 2 for v03, 2 for v04, 25 more: "
        "executed visits require it."
    )
    assert unlocked == "v00-c, v01-c, v02-c, v03-c, v04-c, 25 more can no longer be locked."


def test_begun_visits_are_never_dropped_nor_moved_when_a_plan_is_repaired() -> None:
    """SPEC T5: whatever the patch forbids from now on, windows, agents, an exclusion, the past stands."""
    day = body(
        [agent("v"), agent("w")],
        [ticket("a", "A", time_windows=at(1)), ticket("b", "B"), ticket("c", "C", time_windows=at(90))],
    )
    plan = planned(day, ("a", "b", "c"))
    changed = {"time_windows": at(60), "agents": ["w"], "release_time": 50}
    patch = {"tickets": {"a": changed, "b": changed}, "incompatible": [["a", "b"]]}
    known = compiled(under_way(day, plan, 20, patch))
    mended = repair(known, candidate_of(known, plan))
    found = build_plan(known, mended)
    assert verify(known, found) == []
    assert {name: starts(found)[name] for name in "ab"} == {name: starts(plan)[name] for name in "ab"}


def test_longer_ways_put_the_past_off_rather_than_lose_it() -> None:
    """SPEC T5: where the changed day leaves no time for what was done, its order stands, as early as it can be."""
    day = body(
        [agent()], [ticket("a", "A", time_windows=at(1)), ticket("b", "B"), ticket("c", "C", time_windows=at(90))]
    )
    plan = planned(day, ("a", "b", "c"))
    known = compiled(under_way(day, plan, 20, {"agents": {"v": {"speed_factor": 0.1}}}))
    found = build_plan(known, candidate(known, "a", "b", "c"))
    assert verify(known, found) == []
    assert starts(found) == {"a": 10, "b": 20, "c": 90}


def resting(**fields: Any) -> Json:
    """Return a day with a break between 10 and 200, and visits at 1, 100 and 300."""
    tickets = [ticket(name, "A", time_windows=at(when)) for name, when in (("a", 1), ("b", 100), ("c", 300))]
    return body([agent(breaks=[{"earliest": 10, "latest": 200, "duration_s": 30}], **fields)], tickets)


def test_a_break_that_has_begun_stays_where_it_was() -> None:
    """SPEC T5, S1: a rest taken at 100 is not taken at 10 because something was cancelled."""
    day = resting()
    plan = planned(day, ("a", "b", "break", "c"))
    known = compiled(under_way(day, plan, 150, {"tickets": {"c": {"time_windows": at(220)}}}))
    (rest,) = known.agents[0].breaks
    assert rest.window == (100, 100)
    assert verify(known, build_plan(known, candidate(known, "a", "b", "break", "c"))) == []
    assert verify(known, build_plan(known, candidate(known, "a", "break", "b", "c")))


def test_a_break_ahead_is_not_moved_into_the_past_and_one_whose_window_has_passed_is_gone() -> None:
    """SPEC T5, S1: not begun by 150, it begins then at the earliest; by 250 nobody asks for it any more."""
    day = resting(end_location=None)
    plan = planned(day, ("a", "break", "b", "c"))
    assert [rest.window for rest in compiled(under_way(day, plan, 5)).agents[0].breaks] == [(10, 200)]
    away = body([agent(breaks=[{"earliest": 10, "latest": 400, "duration_s": 30}])], resting()["tickets"])
    late = planned(away, ("a", "b", "c", "break"))
    assert [rest.window for rest in compiled(under_way(away, late, 150)).agents[0].breaks] == [(150, 400)]
    patch = {"agents": {"v": {"breaks": [{"earliest": 10, "latest": 140, "duration_s": 30}]}}}
    assert compiled(under_way(away, late, 150, patch)).agents[0].breaks == ()


def test_who_rests_at_the_hour_drives_on_when_the_rest_is_over_and_not_before_the_hour() -> None:
    """SPEC T5: a rest taken at a customer fills the time until the hour, whatever follows it."""
    day = resting()
    plan = planned(day, ("a", "b", "break", "c"))
    known = compiled(under_way(day, plan, 150, {"tickets": {"n": ticket("n", "C")}}))
    found = build_plan(known, candidate(known, "a", "b", "break", "n", "c"))
    assert verify(known, found) == []
    assert starts(found)["n"] == 152


def test_agents_that_keep_tickets_may_go_away() -> None:
    """SPEC T5: who stays with whom is the server's word; no patch of the caller is refused for it."""
    day = body([agent("v"), agent("w")])
    plan = planned(day, ("a",), ("b",))
    tied, _ = agent_assignments(parse_scenario(day), plan, agents=True, switch_cost=3)
    bound = {**day, "held": tied.as_json()}
    known = compiled(bound)
    assert [spec.agents for spec in known.tickets] == [frozenset({0}), frozenset({1})]
    assert [(spec.preferred, spec.switch_cost) for spec in known.tickets] == [(0, 3), (1, 3)]
    assert count_held(bound) == 2
    alone = without_departed_agents(revise(bound, {"agents": {"w": None}}))
    known = compiled(alone)
    assert [spec.agents for spec in known.tickets] == [None, None]
    assert [spec.preferred for spec in known.tickets] == [0, None]
    assert count_held(alone) == 1
    free = compiled(revise(bound, {"held": None}))
    assert [(spec.agents, spec.preferred) for spec in free.tickets] == [(None, None)] * 2


@pytest.mark.parametrize(
    ("own", "both", "names"),
    [
        ({"preferred_agent": "v", "switch_cost": 500}, (0, 501), []),
        ({"preferred_agent": "w", "switch_cost": 500}, (1, 500), ["a"]),
        ({"preferred_agent": "w"}, (0, 1), []),
        ({"switch_cost": 500}, (0, 1), []),
    ],
)
def test_the_price_of_a_call_takes_no_price_of_the_caller_away(own: Json, both: Any, names: list[str]) -> None:
    """SPEC T5: for the same agent they add up; one for another agent stands alone, and the answer says so."""
    day = body([agent("v"), agent("w")], [ticket("a", **own), ticket("b", preferred_agent="w", switch_cost=9)])
    tied, said = agent_assignments(parse_scenario(day), planned(day, ("a",)), switch_cost=1)
    known = compiled({**day, "held": tied.as_json()})
    assert [(spec.preferred, spec.switch_cost // known.cost_scale) for spec in known.tickets] == [both, (1, 9)]
    passed_over = "switch_cost of this call passes over 1 ticket ({}): their own preferred_agent is another and has its"
    assert said == [f"{passed_over.format(name)} price." for name in names]


def test_a_tie_concerns_the_past_alone() -> None:
    """SPEC T5: on a day that holds nothing it is nothing, however amounts and prices are rounded."""
    day = body([agent(capacity=1.0000001)], [ticket("a", "A", demand=0.3333333333)])
    _, notes = agent_assignments(parse_scenario(day), planned(day, ("a",)), agents=True)
    assert compiled(day).assumptions
    assert notes == []


def test_keeping_agents_ends_with_its_time() -> None:
    """SPEC T5: a caller waits for it; a route that no longer fits and is not come to keeps its beginning."""
    tickets = [ticket(f"t{n}", "A") for n in range(60)]
    plan = planned(body([agent(capacity=60)], tickets), tuple(each["id"] for each in tickets))
    ticks, step_s = count(), 0.01
    less = parse_scenario(body([agent(capacity=40)], tickets))
    tied, _ = agent_assignments(less, plan, agents=True, clock=lambda: step_s * next(ticks))
    assert len(tied.stay) == 40
    assert REPAIR_S / step_s <= next(ticks) < REPAIR_S / step_s + 10


def test_the_frozen_prefix_is_written_as_a_scenario_has_it() -> None:
    """SPEC T5: only what is known of a route; an absent field says that there is nothing of the kind."""
    day = body([agent()], [ticket("x", "A", time_windows=at(1)), ticket("z", "C", time_windows=at(500))])
    plan, first = planned(day, ("x", "z")), {"ticket": "x", "start_s": 1, "departure_s": 1}
    begun = {"agent": "v", "start_s": 0, "visits": [first], "reloads": []}
    ahead, over = frozen_prefix(plan, 300).as_json(), frozen_prefix(plan, 600).as_json()
    assert ahead == {"until_s": 300, "routes": [{**begun, "next_ticket": "z", "arrival_s": 3}]}
    last = {"ticket": "z", "start_s": 500, "departure_s": 500}
    assert over == {"until_s": 600, "routes": [{**begun, "visits": [first, last], "end_s": 503}]}
    assert Held.model_validate(over).as_json() == over


def test_a_later_hour_holds_what_the_earlier_one_did() -> None:
    """SPEC T5: again and again through the day, with nothing new begun."""
    day = waiting()
    first = under_way(day, planned(day, ("x", "z")), 10)
    known = compiled(first)
    plan = build_plan(known, candidate(known, "x", "z"))
    second = under_way(first, plan, 20)
    assert (count_held(first), count_held(second)) == (1, 1)
    assert compiled(second).agents[0].locked == known.agents[0].locked == (0,)
    assert compiled(second).tickets[0].service == 19


def test_locks_of_the_caller_follow_what_is_done_as_far_as_they_can() -> None:
    """SPEC T5, S1: history leads; a locked visit whose window has closed is unlocked, not the end of all plans."""
    tickets = [ticket("a", "A"), ticket("b", "B", time_windows=at(100, 300)), ticket("c", "C")]
    day = body([agent(locked_tickets=["a", "b", "c"]), agent("w", locked_tickets=[])], tickets)
    plan = planned(day, ("a", "b", "c"))
    assert compiled(under_way(day, plan, 50)).agents[0].locked == (0, 1, 2)
    known = compiled(under_way(day, plan, 50, {"tickets": {"b": {"time_windows": at(20)}}}))
    assert known.agents[0].locked == (0,)
    assert any("can no longer be locked" in each for each in known.assumptions)


@pytest.mark.parametrize(
    ("driver", "order", "more"),
    [
        ({"max_tickets": 2}, {}, {}),
        ({"max_distance_m": 7}, {}, {}),
        ({"max_duration_s": 55}, {}, {}),
        ({}, {"demand": 9}, {}),
        ({"reload_locations": ["D"], "capacity": 5}, {"demand": 9}, {}),
        ({}, {"release_time": 40}, {}),
        ({}, {}, {"incompatible": [["a", "n"]]}),
        ({}, {}, {"groups": [{"kind": "one_of", "tickets": ["a", "n"]}]}),
        ({}, {}, {"options": {"backhaul": True}}),
    ],
)
def test_a_lock_for_which_the_past_leaves_no_room_is_let_go(driver: Json, order: Json, more: Json) -> None:
    """SPEC T5, S1: the rest of the day is planned; what an agent may yet serve depends on what it has served."""
    empties = [ticket(name.lower(), name, kind="pickup", time_windows=at(hour)) for name, hour in (("A", 1), ("B", 50))]
    day = body([agent("v"), agent("w")], empties)
    wish = {"tickets": {"n": ticket("n", "E")}, "agents": {"v": {"locked_tickets": ["n"]}}}
    free = compiled(under_way(day, planned(day, ("a", "b")), 20, wish))
    assert free.agents[0].locked == (0, 1, 2)
    wish = {"tickets": {"n": ticket("n", "E", **order)}, "agents": {"v": {"locked_tickets": ["n"], **driver}}}
    known = compiled(under_way(day, planned(day, ("a", "b")), 20, wish | more))
    assert known.agents[0].locked == (0, 1)
    assert "n can no longer be locked." in known.assumptions
    assert verify(known, build_plan(known, candidate(known, "a", "b"))) == []


def test_a_locked_pickup_whose_delivery_is_released_too_late_for_its_trip_is_let_go() -> None:
    """SPEC T5, S1: the trip left before; another agent makes the shipment."""
    for release, locked in ((0, (0, 1)), (30, (0,))):
        halves = [ticket("p", kind="pickup", time_windows=at(50, 90))]
        halves.append(ticket("q", "B", pickup="p", release_time=release))
        day = body([agent("v"), agent("w")], [ticket("a", "B", time_windows=at(9), service_time_s=5), *halves])
        lock = {"agents": {"v": {"locked_tickets": ["p"]}}}
        known = compiled(under_way(day, planned(day, ("a",), ("p", "q")), 10, lock))
        assert known.agents[0].locked == locked


def test_a_pickup_whose_delivery_went_to_others_is_let_go() -> None:
    """SPEC T5, S1: who drives to it may not deliver it."""
    halves = [ticket("p", kind="pickup", time_windows=at(30)), ticket("q", "B", pickup="p")]
    day = body([agent("v"), agent("w")], [ticket("a", "B", time_windows=at(9)), *halves])
    plan = planned(day, ("a", "p", "q"))
    known = compiled(under_way(day, plan, 20, {"tickets": {"q": {"agents": ["w"]}}}))
    assert known.agents[0].locked == (0,)
    found = repair(known, candidate_of(known, plan))
    assert verify(known, build_plan(known, found)) == []


def test_what_has_begun_is_checked_by_nothing_that_changes_later() -> None:
    """SPEC T5, T7: it is neither what nobody can serve nor a lock that cannot be kept."""
    first = ticket("a", demand=10, skills=["x"])
    for names in ([], ["a"]):
        day = body([agent("v", locked_tickets=names, skills=["x"]), agent("w", capacity=1)], [first, ticket("b", "B")])
        plan = planned(day, ("a",), ("b",))
        for cut in ({"capacity": 5}, {"skills": []}, {"max_tickets": 0}):
            changed = under_way(day, plan, 2, {"agents": {"v": cut}})
            found = parse_scenario(changed, prove_infeasible=infeasibility_faults)
            assert found.findings == ()
            with pytest.raises(InputError) as beside:
                parse_scenario({**changed, "options": 1}, prove_infeasible=infeasibility_faults)
            assert [fault.path for fault in beside.value.errors] == ["/options"]
            known = compile_scenario(found)
            assert verify(known, build_plan(known, repair(known, candidate_of(known, plan)))) == []


def test_a_locked_pickup_whose_delivery_has_closed_is_let_go() -> None:
    """SPEC T5, S1: whoever has not set out by the hour can pick up, and not deliver in time."""
    halves = [ticket("p", kind="pickup"), ticket("q", "B", pickup="p", time_windows=at(0, 20))]
    day = body([agent("v"), agent("w", locked_tickets=["p"])], [ticket("a", "A", time_windows=at(1)), *halves])
    known = compiled(under_way(day, planned(day, ("a",), ("p", "q")), 1))
    assert known.agents[1].locked == (1,)
    late = compiled({**day, "held": {"until_s": 50, "routes": []}})
    assert late.agents[1].locked == ()
    assert verify(late, build_plan(late, candidate(late))) == []


def test_a_lock_whose_window_closes_before_the_hour_is_let_go() -> None:
    """SPEC T5, S1: who rests at the hour begins nothing new before it, however short."""
    day = resting()
    new = ticket("n", "A", time_windows=at(110), service_time_s=0)
    patch = {"tickets": {"n": new}, "agents": {"v": {"locked_tickets": ["n"]}}}
    known = compiled(under_way(day, planned(day, ("a", "b", "break", "c")), 120, patch))
    assert known.agents[0].locked == (0, 1)
    assert any("n can no longer be locked" in each for each in known.assumptions)


def test_a_window_that_closed_during_a_break_is_fixed_by_a_wider_window_alone() -> None:
    """SPEC T5, T6: nobody may serve it then, yet neither ticket nor agent says so: no other change."""
    day = resting()
    patch = {"tickets": {"n": ticket("n", "A", time_windows=at(0, 100), service_time_s=0)}}
    late = under_way(day, planned(day, ("a", "b", "break", "c")), 120, patch)
    known = compiled(late)
    analysis = UnassignedAnalysis(late, build_plan(known, candidate(known, "a", "b", "break", "c")))
    (fix,) = (each for each in analysis.fixes(analysis.index["n"], lambda: False) if "ADD_AGENT" not in each.kinds)
    assert fix.kinds == ("TIME_WINDOW",)
    assert fix.change.startswith("widen the time window of n to ")


def test_who_is_not_out_sets_out_at_the_hour_or_not_at_all() -> None:
    """SPEC T5: an idle agent leaves at the hour; one whose shift is over does not leave in its overtime."""
    day = body([agent("v"), agent("idle"), agent("gone", shift_end=50, overtime_s=500)], waiting()["tickets"])
    known = compiled(under_way(day, planned(day, ("x", "z")), 100))
    assert [(spec.shift[0], spec.overtime) for spec in known.agents[1:]] == [(100, 0), (100, 0)]
    assert known.agents[2].shift[1] == 100


def test_nonsense_in_a_day_is_reported_or_passed_over() -> None:
    """SPEC T5, T7: a caller may send such a day too; unknown names say nothing, unreadable ones are faults."""
    with pytest.raises(InputError) as refused:
        parse_scenario(body(held={"routes": [{"agent": 7}], "stay": {"a": 1}, "until_s": "x"}))
    assert {fault.path for fault in refused.value.errors} >= {"/held/until_s", "/held/routes/0/agent"}
    ghosts = [
        {"agent": "nobody", "start_s": 0},
        {"agent": "v", "start_s": 9, "visits": [{"start_s": 5, "departure_s": 1}]},
    ]
    twice = {"agent": "v", "start_s": 0, "visits": [{"ticket": "a", "start_s": 900, "departure_s": 2}], "end_s": 1}
    for routes in (ghosts, [twice, twice], [{**twice, "end_s": None, "next_ticket": "b"}]):
        assert compiled(body(held={"until_s": 400, "routes": routes, "stay": {"zz": "v", "a": "zz"}})).tickets
    broken: list[Json] = [{"held": "?"}, {"groups": [5]}, {"groups": [{}]}, {"tickets": [{}]}, {"agents": [{"id": []}]}]
    for wrong in broken:
        lost = body([agent("w")], held={"routes": [{"agent": "v", "start_s": 0}]}) | wrong
        assert without_departed_agents(lost) == lost


def test_schemas_for_models_leave_out_what_the_server_writes() -> None:
    """SPEC T9: `held` is no field a model fills in; it costs no tokens in the slim schema."""
    assert "held" not in str(scenario_schema())
    assert problem().frozen_until == 0


def test_a_begun_ticket_that_a_day_holds_and_does_not_have_is_reported() -> None:
    """SPEC T5: whoever writes such a day hears that the agent is planned as if it had not been there."""
    day = body([agent(), agent("w")], [ticket("a", "A", time_windows=at(1)), ticket("b", "B"), ticket("c", "C")])
    later = under_way(day, planned(day, ("a", "b"), ("c",)), 20)
    gone = {**later, "tickets": [entry for entry in later["tickets"] if entry["id"] not in "bc"]}
    assert removed_begun_tickets(later) == {}
    assert removed_begun_tickets(gone) == {"b": ("v", 2.0), "c": ("w", 3.0)}
    assumption = "Begun but removed from the scenario: b, c. Their agents are planned as if they had not visited them."
    assert compiled(gone).frozen_prefix_assumptions == (assumption,)
    assert removed_begun_tickets({**gone, "agents": gone["agents"][1:]}) == {"c": ("w", 3.0)}
    assert removed_begun_tickets({**gone, "held": "?"}) == removed_begun_tickets(body()) == {}
