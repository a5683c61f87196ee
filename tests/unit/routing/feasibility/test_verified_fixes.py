"""Why a ticket is left out, agent by agent, and the smallest change that lets it in, proved."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, event, given
from hypothesis import strategies as st

from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.feasibility.insertion_candidates import insertion_candidates
from planner_mcp.routing.feasibility.verified_fixes import Fix, UnassignedAnalysis
from planner_mcp.routing.problem import Candidate
from planner_mcp.routing.scenario.checks.scenario_checks import check
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.routing.scenario.scenario_patch import revise
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.property_tests.example_counts import examples
from tests.shared.scenarios.scenario_builders import SHIPMENT, agent, body, compiled, haul, plane, ticket
from workers.engines.engine_interface import SearchLimits
from workers.engines.heuristics import enumeration


def analysis(day: dict[str, Any], *routes: str) -> UnassignedAnalysis:
    """Return a plan of routes of one-letter tickets on its day, one an agent."""
    problem = compiled(day)
    index = {spec.id: number for number, spec in enumerate(problem.tickets)}
    orders = {number: [index[name] for name in route] for number, route in enumerate(routes)}
    plan = build_plan(problem, Candidate.of_tickets(orders))
    assert verify(problem, plan) == []
    return UnassignedAnalysis(day, plan)


def fixes(at: UnassignedAnalysis, name: str) -> list[Fix]:
    return at.fixes(at.index[name], lambda: False)


def best_of(day: dict[str, Any]) -> Candidate:
    """Return the best plan there is of a small day."""
    problem = compiled(day)
    return enumeration.solve(problem, SearchLimits(float("inf")), lambda _: None, lambda: False).best or Candidate(())


def servings(day: dict[str, Any], candidate: Candidate) -> set[str]:
    """Return whom a plan serves."""
    return {day["tickets"][index]["id"] for route in candidate.routes for index in route.tickets}


def servings_with(fix: Fix, day: dict[str, Any]) -> set[str]:
    """Return whom the best plan there is of the patched day serves."""
    patched = revise(day, fix.patch)
    return servings(patched, best_of(patched))


FULL = body([agent("v", capacity=1)], [ticket("a"), ticket("b", "B")])
LATE = body(
    [agent("v", shift_end=10)],
    [ticket("a", service_time_s=5, time_windows=[[0, 1]]), ticket("b", "B", time_windows=[[0, 3]])],
)
SHORT = body([agent("v", shift_end=7)], [ticket("a", service_time_s=3), ticket("b", "B", service_time_s=3)])
COLD = body(
    [agent("v"), agent("w", skills=["cold"], max_tickets=1)],
    [ticket("a", skills=["cold"]), ticket("b", "B", skills=["cold"])],
)
NAMED = body([agent("v", max_tickets=1), agent("w")], [ticket("a"), ticket("b", "B", agents=["v"])])
IDLE = body([agent("v", min_load={"load": 3}), agent("w", capacity=1)], [ticket("a"), ticket("b", "B")])
CASES: list[tuple[dict[str, Any], tuple[str, ...], str, str, dict[str, Any]]] = [
    (FULL, ("a",), "b", "CAPACITY", {"agents": {"v": {"capacity": 2}}}),
    (LATE, ("a",), "b", "TIME_WINDOW", {"tickets": {"b": {"time_windows": [["00:00", 7]]}}}),
    (SHORT, ("a",), "b", "SHIFT_END", {"agents": {"v": {"shift_end": 10}}}),
    (COLD, ("", "a"), "b", "SKILL_OR_AGENT", {"agents": {"v": {"skills": ["cold"]}}}),
    (NAMED, ("a",), "b", "MAX_TICKETS", {"agents": {"v": {"max_tickets": 2}}}),
    (IDLE, ("", "a"), "b", "MIN_LOAD", {"agents": {"v": {"min_load": {"load": 1}}}}),
]


@pytest.mark.parametrize(("day", "routes", "left_out", "kind", "patch"), CASES, ids=[case[3] for case in CASES])
def test_the_smallest_change_is_found_and_proved(
    day: dict[str, Any], routes: tuple[str, ...], left_out: str, kind: str, patch: dict[str, Any]
) -> None:
    """SPEC T5: widen this window to, extend this shift to, raise this capacity to, drop this skill."""
    found = {fix.kinds: fix for fix in fixes(analysis(day, *routes), left_out)}
    assert found[(kind,)].patch == patch


def test_a_ticket_that_only_takes_one_more_reload_needs_no_change() -> None:
    """SPEC T5, S1: what the agents can do as they are is not told as a want of capacity."""
    day = body([agent("v", capacity=1, reload_locations=["D"])], [ticket("a"), ticket("b", "B")])
    (fix,) = fixes(analysis(day, "a"), "b")
    assert (fix.kinds, fix.patch) == (("NONE",), {})
    assert fix.change == "fits into the route of v with one more reload"


@pytest.mark.parametrize("case", CASES, ids=[case[3] for case in CASES])
def test_a_search_on_the_patched_day_serves_the_ticket(case: tuple[Any, ...]) -> None:
    """SPEC T5: proved by a re-solve, of every plan there is."""
    day, routes, left_out, *_ = case
    found = fixes(analysis(day, *routes), left_out)
    assert found
    for fix in found:
        assert servings_with(fix, day) == {entry["id"] for entry in day["tickets"]}, fix


def test_one_more_agent_is_offered_at_the_end() -> None:
    """SPEC T5: add one vehicle, a copy without what is its driver's own."""
    day = body([{**agent("v", capacity=1, fixed_cost=7), "name": "Li", "phone": "1"}], [ticket("a"), ticket("b", "B")])
    fix = fixes(analysis(day, "a"), "b")[-1]
    assert (fix.kinds, fix.agent_id, fix.cost_delta) == (("ADD_AGENT",), "v-2", 11.0)
    assert fix.patch == {"agents": {"v-2": {"capacity": 1, "fixed_cost": 7}}}


def test_an_agent_that_ends_anywhere_is_no_model_for_one_more() -> None:
    """SPEC T5: a patch takes null away, so the copy would end at the depot."""
    day = body([agent("v", capacity=1, end_location=None)], [ticket("a"), ticket("b", "B")])
    assert "ADD_AGENT" not in {kind for fix in fixes(analysis(day, "a"), "b") for kind in fix.kinds}


def test_what_fits_already_needs_no_change() -> None:
    """SPEC T5: a search that was cut short left room."""
    (fix,) = fixes(analysis(body(), "a"), "b")
    assert (fix.kinds, fix.patch, fix.cost_delta) == (("NONE",), {}, 2.0)


def test_a_ticket_that_costs_more_than_it_is_worth_names_its_price() -> None:
    """SPEC T5: the caller's own penalty was too low."""
    day = body(tickets=[ticket("a"), ticket("b", "B", penalty=1)])
    fix = fixes(analysis(day, "a"), "b")[0]
    assert (fix.kinds, fix.patch) == (("PENALTY",), {"tickets": {"b": {"penalty": 3}}})


def test_shipments_are_inserted_whole() -> None:
    """SPEC T5: both halves, in their order."""
    tickets = [ticket("a"), ticket("p", "B", kind="pickup"), ticket("q", "C", pickup="p")]
    (fix,) = fixes(analysis(body(tickets=tickets), "a"), "q")
    assert fix.kinds == ("NONE",)


def test_evidence_names_each_agent_by_itself() -> None:
    """SPEC T5: which limit stands in the way of each, and by how much."""
    agents = [agent("v", capacity=1), agent("w", shift_end=3), agent("x", shift_end=10)]
    day = body(agents, [ticket("a"), ticket("b", "B", agents=["v", "w"]), ticket("c", "B", demand=1)])
    at = analysis(day, "a")
    seen = {insertion.route.agent: at.evidence(insertion) for insertion in at.closest(1, lambda: False)}
    assert seen == {0: ["CAPACITY load short by 1"], 1: ["SHIFT_END 1 min over"], 2: ["SKILL_OR_AGENT may not serve b"]}


def test_what_the_hour_forbids_is_no_lack_of_skills_or_visits() -> None:
    """SPEC T5: a window that has closed, a route that is over; raising max_tickets would not help."""
    past = [
        {"agent": "v", "start_s": 0, "visits": [{"ticket": "a", "start_s": 1, "departure_s": 1}], "end_s": 2},
        {"agent": "w", "start_s": 0, "visits": [{"start_s": 50, "departure_s": 60}]},
    ]
    tickets = [ticket("a"), ticket("b", "B", time_windows=[[0, 40]]), ticket("c", "C")]
    day = body([agent("v"), agent("w"), agent("x")], tickets, held={"until_s": 100, "routes": past})
    at = analysis(day, "a")
    seen = {
        name: [at.evidence(insertion) for insertion in at.closest(at.index[name], lambda: False)] for name in ("b", "c")
    }
    late = "TIME_WINDOW 2 min late at b"
    assert seen["b"] == [[late], [late], ["TIME_WINDOW 1 min late at b", "ROUTE_OVER"]]
    assert seen["c"] == [[], [], ["ROUTE_OVER"]]
    assert fixes(at, "b")[0].patch == {"tickets": {"b": {"time_windows": [["00:00", 102]]}}}


@pytest.mark.parametrize(
    ("limits", "late", "closes"), [({}, 1, 2), ({"max_duration_s": 204}, 97, "01:37")], ids=["free", "short"]
)
def test_a_long_wait_behind_a_missed_visit_makes_it_no_later(
    limits: dict[str, Any], late: int, closes: int | str
) -> None:
    """SPEC T5: the smallest change, not that of a route that leaves as late as the wait allows; unless it must."""
    tickets = [
        ticket("a", "E", time_windows=[[6000, 7000]]),
        ticket("b", "B", time_windows=[[0, 1]]),
        ticket("c", "B", agents=["w"]),
    ]
    at = analysis(body([agent("v", **limits), agent("w", start_location="B", max_tickets=1)], tickets), "a", "c")
    (insertion, *_) = at.closest(at.index["b"], lambda: False)
    assert at.evidence(insertion) == [f"TIME_WINDOW {late} min late at b"]
    (fix, *_) = fixes(at, "b")
    assert fix.patch == {"tickets": {"b": {"time_windows": [["00:00", closes]]}}}


TWICE = [["09:00", "11:00"], ["14:00", "16:00"]]
"""Windows of a ticket that is reached a second after 11:05."""


def reached_between(windows: list[Any], **fields: Any) -> UnassignedAnalysis:
    """Return a morning on which a ticket is reached between two of its windows, and whoever waits is off duty."""
    places = plane({"D": (0, 0), "A": (1200, 0), "B": (2100, 0)})
    orders = [
        ticket(time_windows=[["09:00", "09:00"]], service_time_s=6601),
        ticket("b", "B", service_time_s=600, time_windows=windows),
    ]
    driver = agent(shift_start="08:00", **{"shift_end": "12:30", **fields})
    return analysis(body([driver], orders, locations=places), "a")


def test_evidence_and_fix_are_of_the_window_that_is_just_missed() -> None:
    """SPEC T5: six minutes in the morning, rather than a longer shift for the afternoon."""
    at = reached_between(TWICE)
    (insertion, *_) = at.closest(at.index["b"], lambda: False)
    assert at.evidence(insertion) == ["TIME_WINDOW 6 min late at b"]
    (fix, *_) = fixes(at, "b")
    assert fix.patch == {"tickets": {"b": {"time_windows": [["09:00", "11:06"], TWICE[1]]}}}
    assert fix.change == "widen the time window of b to 11:06"


def test_a_window_widened_up_to_the_next_is_one_with_it() -> None:
    """SPEC T5, T7: people agree on minutes, and a window that reaches the next is joined with it."""
    at = reached_between([["09:00", "11:00"], [39930, "11:30"]], shift_end=42610)
    found = {fix.kinds: fix.patch for fix in fixes(at, "b")}
    assert found["TIME_WINDOW",] == {"tickets": {"b": {"time_windows": [["09:00", "11:30"]]}}}


def test_the_pickup_of_a_shipment_need_not_wait_either() -> None:
    """SPEC T5: whichever half was asked about; an hour later nobody would be home in time."""
    drivers = [agent(shift_end=4050), agent("w", shift_end=7000, max_tickets=2)]
    day = haul(drivers, {"time_windows": [[0, 990], [3000, 4000]]})
    at = analysis({**day, "tickets": [*day["tickets"], ticket("c", "P", agents=["w"])]}, "", "c")
    (fix,) = (each for each in fixes(at, "q") if each.kinds == ("TIME_WINDOW",))
    assert fix.patch == {"tickets": {"p": {"time_windows": [["00:00", "00:17"], ["00:50", 4000]]}}}


@st.composite
def torn(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    """A plan of one or two tickets, and a third of two windows, between which the agent may have to wait too long."""
    some, place = st.integers(0, 3), st.sampled_from("ABCE")
    order = draw(st.sampled_from(["a", "ab"]))
    served = [ticket(name, draw(place), service_time_s=draw(some), time_windows=[[0, 8]]) for name in order]
    opens, again = draw(st.integers(3, 5)), draw(st.integers(9, 13))
    windows = [[opens, opens + draw(st.integers(0, 1))], [again, again + draw(some)]]
    driver = agent(shift_end=draw(st.integers(9, 15)), **draw(st.sampled_from([{}, {}, {"max_duration_s": 10}])))
    return body([driver], [*served, ticket("c", draw(st.sampled_from("ABC")), time_windows=windows)]), order


@examples(100, suppress_health_check=[HealthCheck.filter_too_much])
@given(torn())
def test_no_window_need_close_less_late_than_a_fix_says(case: tuple[dict[str, Any], str]) -> None:
    """SPEC T5: where closing a window of the ticket later is enough, the least such change is offered."""
    day, order = case
    problem = compile_scenario(Scenario.model_validate(day))
    plan = build_plan(problem, Candidate.of_tickets({0: list(range(len(order)))}))
    assume(not check(Scenario.model_validate(day)) and not verify(problem, plan))
    assume(not fits_somewhere(day, list(order), "c"))
    windows = day["tickets"][-1]["time_windows"]
    patches = ([later(windows, at, by) for at in range(2)] for by in range(1, 20))
    least = next((p for p in patches if any(fits_somewhere(revise(day, each), list(order), "c") for each in p)), None)
    event("no window" if least is None else "some window")
    found = [fix.patch for fix in fixes(analysis(day, order), "c") if fix.kinds == ("TIME_WINDOW",)]
    assert all(fits_somewhere(revise(day, patch), list(order), "c") for patch in found)
    assert least is None or found[0] in least


def later(windows: list[list[int]], at: int, by: int) -> dict[str, Any]:
    """Return the patch that closes one of two windows of `c` later, as a fix writes it; none where they would meet."""
    moved = [[opens, closes + by * (at == number)] for number, (opens, closes) in enumerate(windows)]
    if moved[0][1] >= moved[1][0]:
        moved = windows
    return {"tickets": {"c": {"time_windows": [[edge or "00:00" for edge in window] for window in moved]}}}


CLOSED = {
    "until_s": 100,
    "routes": [{"agent": "w", "start_s": 0, "visits": [{"start_s": 50, "departure_s": 60}]}],
}
"""It is past 40 s, and an agent has begun a break: what takes no time and closed before is nobody's any more."""


def test_a_closed_window_hides_no_lack_of_skills() -> None:
    """SPEC T5: the near agent without the skill does not take the place of the far one whose fix can be proved."""
    agents = [agent("v", skills=["x"], start_location="E", end_location="E"), agent("u"), agent("w")]
    tickets = [ticket("a"), ticket("b", time_windows=[[0, 40]], skills=["x"])]
    at = analysis(body(agents, tickets, held=CLOSED), "", "a")
    seen = {
        insertion.route.agent: [str(each.limit) for each in insertion.violations]
        for insertion in at.closest(1, lambda: False)
    }
    assert seen == {0: ["TIME_WINDOW"], 1: (both := ["SKILL_OR_AGENT", "TIME_WINDOW"]), 2: both}
    first, second = fixes(at, "b")[:2]
    assert (first.agent_id, first.patch) == ("v", {"tickets": {"b": {"time_windows": [["00:00", 103]]}}})
    assert (second.agent_id, list(second.kinds)) == ("u", both)


def test_a_closed_window_hides_nobody_the_ticket_is_kept_with() -> None:
    """SPEC T5: who keeps it needs another window, and a longer shift with it; the others are no help by either."""
    tickets = [ticket("a"), ticket("b", time_windows=[[0, 40]])]
    agents = [agent("v", shift_end=101), agent("u"), agent("w")]
    at = analysis(body(agents, tickets, held={**CLOSED, "stay": {"b": "v"}}), "", "a")
    seen = {
        insertion.route.agent: [str(each.limit) for each in insertion.violations]
        for insertion in at.closest(1, lambda: False)
    }
    kept = ["KEPT_ELSEWHERE", "TIME_WINDOW"]
    assert seen == {0: ["TIME_WINDOW", "SHIFT_END"], 1: kept, 2: kept}
    (fix, *_) = fixes(at, "b")
    assert (fix.agent_id, list(fix.kinds)) == ("v", ["TIME_WINDOW", "SHIFT_END"])


def test_a_ticket_kept_with_an_agent_lacks_no_skill_of_others() -> None:
    """SPEC T5: what a call of resolve_vrp asked to keep is told apart from what the caller wrote."""
    tickets = [ticket("a"), ticket("b", "B", not_agents=["x"])]
    day = body([agent("v", capacity=1), agent("w"), agent("x")], tickets, held={"stay": {"a": "v", "b": "v"}})
    at = analysis(day, "a")
    seen = {
        insertion.route.agent: [str(each.limit) for each in insertion.violations]
        for insertion in at.closest(1, lambda: False)
    }
    assert seen == {0: ["CAPACITY"], 1: ["KEPT_ELSEWHERE"], 2: ["SKILL_OR_AGENT"]}


def test_no_time_no_fixes() -> None:
    """SPEC T5: bounded."""
    assert len(analysis(FULL, "a").fixes(1, lambda: True)) <= 1


@st.composite
def crowded(draw: st.DrawFn) -> tuple[dict[str, Any], list[str]]:
    """A day with more to do than its one agent can."""
    hour = st.integers(0, 9)
    driver = agent(capacity=draw(st.integers(3, 4)), shift_end=draw(st.integers(9, 12)))
    tickets = [
        ticket(
            name,
            draw(st.sampled_from("ABC")),
            demand=draw(st.integers(1, 3)),
            service_time_s=draw(st.integers(0, 3)),
            time_windows=[[0, draw(st.integers(3, 5)) + draw(hour)]],
        )
        for name in "abcd"
    ]
    return body([driver], tickets), list(draw(st.permutations("abcd")))


@pytest.mark.slow
@examples(12)
@given(crowded())
def test_every_fix_holds_on_the_patched_day(case: tuple[dict[str, Any], list[str]]) -> None:
    """SPEC T5, S2: whatever the day, a patch that is offered passes the checks and lets one more ticket in."""
    day, order = case
    problem = compiled(day)
    index = {spec.id: number for number, spec in enumerate(problem.tickets)}
    served = [
        name for name in order[:1] if not verify(problem, build_plan(problem, Candidate.of_tickets({0: [index[name]]})))
    ]
    at = analysis(day, "".join(served))
    for name in set("abcd") - set(served):
        found = fixes(at, name)
        assert found, "one more agent always helps here"
        for fix in found:
            assert len(servings_with(fix, day)) > len(served)


SINGLE = {"CAPACITY", "TIME_WINDOW", "SHIFT_END", "MAX_DURATION", "MAX_DISTANCE", "MAX_TICKETS"}
"""Limits of which one value tells all, on these days."""


def one_less(patch: dict[str, Any]) -> dict[str, Any]:
    """Return a patch of one value with the value, or the close of the last window, one unit smaller."""
    ((part, entries),) = patch.items()
    ((name, change),) = entries.items()
    ((field, value),) = change.items()
    if field == "time_windows":
        *others, (opens, closes) = value
        return {part: {name: {field: [*others, [opens, closes - 1]]}}}
    return {part: {name: {field: value - 1}}}


def fits_somewhere(day: dict[str, Any], order: list[str], newcomer: str) -> bool:
    """Return whether a ticket can be put anywhere into a route, by the verifier's word."""
    problem = compile_scenario(Scenario.model_validate(day))
    index = {spec.id: number for number, spec in enumerate(problem.tickets)}
    ways = ([*order[:at], newcomer, *order[at:]] for at in range(len(order) + 1))
    tried = (build_plan(problem, Candidate.of_tickets({0: [index[name] for name in way]})) for way in ways)
    return any(not verify(problem, plan) for plan in tried)


TIGHT = {
    "CAPACITY": ("capacity", 3, 4),
    "SHIFT_END": ("shift_end", 8, 13),
    "MAX_DURATION": ("max_duration_s", 8, 13),
    "MAX_DISTANCE": ("max_distance_m", 4, 7),
    "MAX_TICKETS": ("max_tickets", 1, 2),
}


@st.composite
def narrow(draw: st.DrawFn, limit: str) -> tuple[dict[str, Any], list[str]]:
    """A day on which one limit of the agent, or the windows, leave somebody out."""
    driver = agent(capacity=20)
    if limit in TIGHT:
        field, least, most = TIGHT[limit]
        driver[field] = draw(st.integers(least, most))
    tickets = []
    for name in "abcd":
        fields: dict[str, Any] = {"demand": draw(st.integers(1, 3)), "service_time_s": draw(st.integers(0, 3))}
        if limit == "TIME_WINDOW" or draw(st.integers(0, 3)) == 0:
            fields["time_windows"] = [[0, draw(st.integers(4, 12))]]
        if draw(st.integers(0, 3)) == 0:
            fields |= {"soft_close": draw(st.integers(0, 9)), "lateness_cost_per_hour": 3600}
        tickets.append(ticket(name, draw(st.sampled_from("ABCE")), **fields))
    return body([driver], tickets), list(draw(st.permutations("abcd")))[: draw(st.integers(1, 3))]


@pytest.mark.parametrize("limit", [*TIGHT, "TIME_WINDOW"])
def test_a_fix_is_the_smallest_there_is(limit: str) -> None:
    """SPEC T5: with one unit less of what is changed, nowhere in the route is there room."""
    seen = Counter[str]()

    @examples(200)
    @given(narrow(limit))
    def judge(case: tuple[dict[str, Any], list[str]]) -> None:
        day, wished = case
        assume(not check(Scenario.model_validate(day)))
        order: list[str] = []
        for name in wished:  # a plan of as many of them as there is room for, one behind the other
            problem = compile_scenario(Scenario.model_validate(day))
            index = {spec.id: number for number, spec in enumerate(problem.tickets)}
            plan = build_plan(problem, Candidate.of_tickets({0: [index[each] for each in [*order, name]]}))
            order += [] if verify(problem, plan) else [name]
        at = analysis(day, "".join(order))
        for name in set("abcd") - set(order):
            for fix in fixes(at, name):
                if fix.kinds[0] in SINGLE and len(fix.kinds) == 1:
                    seen[fix.kinds[0]] += 1
                    assert fits_somewhere(revise(day, fix.patch), order, name)
                    assert not fits_somewhere(revise(day, one_less(fix.patch)), order, name), fix

    judge()
    assert seen[limit] >= 5, seen


def test_a_longer_span_is_part_of_what_a_ticket_costs() -> None:
    """SPEC T5, S1: where balance has a price, a fix names it and outweighs it."""
    day = body(tickets=[ticket("a"), ticket("b", "B", penalty=4)], options={"balance_cost_per_hour": 18000})
    (fix, *_) = fixes(analysis(day, "a"), "b")
    assert (fix.kinds, fix.cost_delta) == (("PENALTY",), 12.0)
    assert servings_with(fix, day) == {"a", "b"}


def test_the_agent_whose_day_grows_no_longer_than_the_longest_costs_least() -> None:
    """SPEC T5, S1: a higher price is not asked for where some other agent serves the ticket for less."""
    tickets = [ticket("a", "C"), ticket("b", "B", service_time_s=2, penalty=5), ticket("c", "A")]
    day = body([agent("v"), agent("w")], tickets, options={"balance_cost_per_hour": 18000})
    (fix,) = fixes(analysis(day, "a", "c"), "b")
    assert (fix.kinds, fix.agent_id, fix.cost_delta) == (("NONE",), "w", 2.0)


def test_no_fix_changes_more_than_another_for_as_much() -> None:
    """SPEC T5: where a higher price alone serves a ticket, one more agent beside one that stands idle is no advice."""
    day = body([agent("v", shift_end=6), agent("w")], [ticket("a"), ticket("b", "B", penalty=1)])
    (fix,) = fixes(analysis(day, "a"), "b")
    assert fix.kinds == ("PENALTY",)


def test_one_more_agent_must_be_worth_its_price_too() -> None:
    """SPEC T5: a ticket cheaper than the agent that would serve it is raised in price with it."""
    day = body([agent("v", capacity=1)], [ticket("a"), ticket("b", "B", penalty=1)])
    fix = fixes(analysis(day, "a"), "b")[-1]
    assert fix.kinds == ("ADD_AGENT", "PENALTY")
    assert servings_with(fix, day) == {"a", "b"}


@pytest.mark.parametrize("penalty", [None, 1])
def test_one_of_several_alternatives_is_raised_where_the_price_stands(penalty: float | None) -> None:
    """SPEC T5: leaving all alternatives out costs what their group says, else the highest of their own prices."""
    group = {"kind": "one_of", "tickets": ["b", "c"], **({} if penalty is None else {"penalty": penalty})}
    tickets = [ticket("a"), ticket("b", "B", penalty=1), ticket("c", "C", penalty=1)]
    day = body(tickets=tickets, groups=[group])
    (fix, *_) = fixes(analysis(day, "a"), "b")
    assert fix.kinds == ("PENALTY",)
    assert ("groups" in fix.patch) == (penalty is not None)
    assert servings_with(fix, day) == {"a", "b"}


def test_alternatives_whose_group_is_worth_it_need_no_higher_price() -> None:
    """SPEC T5: what a member says of its own price counts for nothing beside its group's."""
    tickets = [ticket("a"), ticket("b", "B", penalty=1), ticket("c", "C")]
    day = body(tickets=tickets, groups=[{"kind": "one_of", "tickets": ["b", "c"], "penalty": 50}])
    (fix,) = fixes(analysis(day, "a"), "b")
    assert fix.kinds == ("NONE",)


def test_tickets_that_stand_and_fall_together_go_in_together() -> None:
    """SPEC T5: one change lets a whole all-or-none group in."""
    tickets = [ticket("a"), ticket("b", "B"), ticket("c", "C")]
    day = body([agent("v", capacity=2)], tickets, groups=[{"kind": "all", "tickets": ["b", "c"]}])
    found = fixes(analysis(day, "a"), "b")
    assert {fix.kinds: fix.patch for fix in found}[("CAPACITY",)] == {"agents": {"v": {"capacity": 3}}}
    assert found[-1].kinds == ("ADD_AGENT",)
    for fix in found:
        assert servings_with(fix, day) == {"a", "b", "c"}, fix


@pytest.mark.parametrize("name", ["box{", "m{3}", "{0.__class__}"])
def test_names_are_written_as_they_are(name: str) -> None:
    """SPEC T5, T7: whatever a dimension is called."""
    day = body([agent("v", capacity={name: 1})], [ticket("a", demand={name: 1}), ticket("b", "B", demand={name: 1})])
    assert f"({name}) of v" in fixes(analysis(day, "a"), "b")[0].change


@pytest.mark.parametrize("wanted", [{"volume": 4}, {"volume": 4, "load": 5}], ids=["one", "two"])
def test_more_of_one_kind_of_room_takes_no_other_away(wanted: dict[str, int]) -> None:
    """SPEC T5: a bare number is the load; whoever gets room for something else beside it keeps it."""
    crew = [agent("v", capacity=3), agent("w", capacity={"load": 9, "volume": 9}, max_tickets=1)]
    day = body(crew, [ticket("a", demand={"volume": 3}), ticket("b", "B", demand=wanted)])
    found = {(fix.kinds, fix.agent_id): fix for fix in fixes(analysis(day, "", "a"), "b")}
    fix = found[("CAPACITY",) * len(wanted), "v"]
    assert revise(day, fix.patch)["agents"][0]["capacity"] == {"load": 3, **wanted}


TIMES = (("a", "08:45", "08:45"), ("b", "09:00", "09:30"))


def test_a_fix_on_the_third_day_names_a_date() -> None:
    """SPEC T5: in a form that people read and fields accept; "57:31" is none, seconds are not read."""
    day = "2025-07-17T"
    windows = {name: [[f"{day}{opens}", f"{day}{closes}"]] for name, opens, closes in TIMES}
    late = [ticket("a", service_time_s=3600, time_windows=windows["a"]), ticket("b", "B", time_windows=windows["b"])]
    found = fixes(analysis(body([agent()], late), "a"), "b")
    (fix,) = (each for each in found if each.kinds == ("TIME_WINDOW",))
    assert fix.patch == {"tickets": {"b": {"time_windows": [[f"{day}09:00", f"{day}09:46"]]}}}
    assert fix.change == f"widen the time window of b to {day}09:46"
    short = [ticket("a", service_time_s=3600), ticket("b", "B", service_time_s=1800)]
    shift = agent(shift_start=f"{day}08:00", shift_end=f"{day}09:05")
    (fix,) = (each for each in fixes(analysis(body([shift], short), "a"), "b") if each.kinds == ("SHIFT_END",))
    assert fix.patch == {"agents": {"v": {"shift_end": f"{day}09:31"}}}


def test_two_changes_of_one_list_are_both_made() -> None:
    """SPEC T5: a patch replaces a list whole."""
    tickets = [ticket("a", skills=["cold"]), ticket("b", "B", skills=["tall"]), ticket("c", "C")]
    crew = [agent("v"), agent("w", skills=["cold", "tall"], max_tickets=1)]
    day = body(crew, tickets, groups=[{"kind": "all", "tickets": ["a", "b"]}])
    found = {fix.kinds: fix.patch for fix in fixes(analysis(day, "", "c"), "b")}
    assert found["SKILL_OR_AGENT", "SKILL_OR_AGENT"] == {"agents": {"v": {"skills": ["tall", "cold"]}}}


def test_a_large_group_ends_with_the_time() -> None:
    """SPEC T5: bounded, between one ticket of the group and the next."""
    names = [f"t{number}" for number in range(40)]
    day = body([agent("v", capacity=2)], [ticket(name) for name in names], groups=[{"kind": "all", "tickets": names}])
    at, looks = analysis(day), iter(range(100))
    assert at.fixes(0, lambda: next(looks) >= 20) == []
    assert at.closest(0, lambda: True) == []


def test_the_places_of_a_long_route_end_with_the_time() -> None:
    """SPEC T5: of a shipment they are the square of the stops; asked between one and the next, but there is a first."""
    at = compiled(body(tickets=[*SHIPMENT, *(ticket(f"t{number}") for number in range(30))]))
    plan, looks = Candidate.of_tickets({0: range(2, 32)}), iter(range(100))
    tried = [insertion.route.tickets for insertion in insertion_candidates(at, plan, 0, until=lambda: next(looks) >= 7)]
    assert [tickets.index(1) - tickets.index(0) for tickets in tried] == [1] * 8, "side by side first"
    assert len(list(insertion_candidates(at, plan, 0, until=lambda: True))) == 1
    assert len(list(insertion_candidates(at, plan, 0))) == 31 * 32 / 2


@st.composite
def priced(draw: st.DrawFn) -> dict[str, Any]:
    """A day of two agents on which prices, a span, a group or a lack of room may leave somebody out."""
    agents = [agent(name, capacity=draw(st.integers(1, 3)), fixed_cost=draw(st.integers(0, 3))) for name in "vw"]
    if draw(st.booleans()):
        agents[0]["shift_end"] = draw(st.integers(4, 8))
    tickets = []
    for name in "abc":
        fields: dict[str, Any] = {"demand": draw(st.integers(0, 2)), "service_time_s": draw(st.integers(0, 2))}
        if draw(st.booleans()):
            fields["penalty"] = draw(st.integers(0, 9))
        tickets.append(ticket(name, draw(st.sampled_from("ABCE")), **fields))
    kind = draw(st.sampled_from([None, "one_of", "all"]))
    group = {"kind": kind, "tickets": draw(st.sampled_from([["a", "b"], ["a", "b", "c"]]))}
    if kind == "one_of" and draw(st.booleans()):
        group["penalty"] = draw(st.integers(0, 9))
    options = {"balance_cost_per_hour": draw(st.sampled_from([0, 3600, 18000]))}
    return body(agents, tickets, groups=[group] if kind else [], options=options)


def test_searching_again_finds_each_fix_worth_it() -> None:
    """SPEC T5: proved by a re-solve; from the best plan of a day, of all plans of the patched day, prices included."""
    seen = Counter[str]()

    @examples(40)
    @given(priced())
    def judge(day: dict[str, Any]) -> None:
        assume(not check(Scenario.model_validate(day)))
        before = best_of(day)
        problem = compiled(day)
        at, left_out = (
            UnassignedAnalysis(day, build_plan(problem, before)),
            set("abc") - servings(day, before),
        )
        for name in left_out:
            for fix in fixes(at, name):
                seen[fix.kinds[0]] += 1
                new = revise(day, fix.patch)
                patched, again = compiled(new), best_of(new)
                assert fix.kinds != ("NONE",), "the plan was the best there is"
                assert price(patched, again) < price(patched, before)
                if fix.kinds == ("PENALTY",) and not any(g["kind"] == "one_of" for g in day["groups"]):
                    assert name in servings(new, again)

    judge()
    assert seen["PENALTY"], seen
    assert seen["CAPACITY"], seen


def test_a_wanted_ticket_gets_the_room_where_no_other_waits_for_it() -> None:
    """SPEC T5: with the others that are left out gone, the best plan serves the ticket that was asked about."""
    seen = Counter[str]()

    @examples(80)
    @given(priced())
    def judge(day: dict[str, Any]) -> None:
        tickets = [{name: of for name, of in entry.items() if name != "penalty"} for entry in day["tickets"]]
        day = {**day, "agents": day["agents"][:1], "tickets": tickets, "groups": []}
        assume(not check(Scenario.model_validate(day)))
        before = best_of(day)
        served = servings(day, before)
        at = UnassignedAnalysis(day, build_plan(compiled(day), before))
        for name in set("abc") - served:
            others = {"tickets": dict.fromkeys(set("abc") - served - {name})}
            for fix in fixes(at, name):
                seen[fix.kinds[0]] += 1
                new = revise(revise(day, fix.patch), others)
                assert name in servings(new, best_of(new)), fix

    judge()
    assert seen["CAPACITY"], seen
    assert seen["SHIFT_END"], seen
