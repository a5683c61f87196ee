"""The verifier against the definition: whole plans of two agents, as laid out and as altered by one thing or two."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.plan import Plan, PlannedRoute, Unassigned, Visit
from planner_mcp.routing.problem import Candidate, Problem, Route, Stop, StopKind
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.property_tests.example_counts import examples
from tests.shared.scenarios.scenario_builders import agent, body, ticket
from tests.unit.routing.verification.model_definition import honest, is_allowed, is_right

NAMES = "abcd"


def rarely(draw: st.DrawFn) -> bool:
    """Return True once in four times."""
    return draw(st.integers(0, 3)) == 3


def amounts(draw: st.DrawFn, least: int, most: int) -> dict[str, int]:
    """Return an amount in two dimensions."""
    return {name: draw(st.integers(least, most)) for name in ("kg", "m3")}


def crew(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Return two agents; most of their limits are set by `tightened`, where they matter."""
    found = []
    for name in "vw":
        fields: dict[str, Any] = {"capacity": amounts(draw, 5, 10), "fixed_cost": draw(st.integers(0, 3))}
        limits = {
            "shift_start": st.integers(1, 3),
            "cost_per_hour": st.just(3600),
            "overtime_cost_per_hour": st.just(3600),
            "end_location": st.none(),
        }
        fields |= {limit: draw(values) for limit, values in limits.items() if rarely(draw)}
        if rarely(draw) and rarely(draw):
            fields["locked_tickets"] = [draw(st.sampled_from("ab"))]
        if draw(st.booleans()):
            fields |= {"reload_locations": draw(st.sampled_from([["D"], ["B"]])), "max_reloads": 1}
        found.append(agent(name, skills=[] if rarely(draw) else ["s"], cost_per_km=1000, **fields))
    return found


def orders(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Return four tickets; b may be the other end of a shipment from a."""
    found = []
    for name in NAMES:
        fields: dict[str, Any] = {"demand": amounts(draw, 0, 3), "kind": draw(st.sampled_from(["delivery", "pickup"]))}
        opens = draw(st.integers(0, 8))
        extras = {
            "time_windows": st.just([[opens, opens + draw(st.integers(0, 8))]]),
            "service_time_s": st.integers(1, 2),
            "release_time": st.integers(1, 4),
            "skills": st.just(["s"]),
            "penalty": st.integers(0, 9),
        }
        fields |= {extra: draw(values) for extra, values in extras.items() if rarely(draw)}
        fields["setup_time_s"] = draw(st.integers(0, 2))
        found.append(ticket(name, draw(st.sampled_from("ABCDE")), **fields))
    if rarely(draw):
        found[0] |= {"kind": "pickup"}
        found[1] |= {"kind": "delivery", "pickup": "a", "demand": found[0]["demand"]}
    return found


@st.composite
def days(draw: st.DrawFn) -> Problem:
    """Return a day of two agents and four tickets."""
    more: dict[str, Any] = {"options": {"backhaul": draw(st.booleans())}}
    if rarely(draw):
        more["incompatible"] = [draw(st.sampled_from([["a", "c"], ["b", "d"], ["c", "d"]]))]
    if rarely(draw):
        more["groups"] = [{"kind": draw(st.sampled_from(["one_of", "all"])), "tickets": ["c", "d"]}]
    # unchecked: a day nobody can serve would be refused before it is planned
    return compile_scenario(Scenario.model_validate(body(crew(draw), orders(draw), **more)))


def tightened(draw: st.DrawFn, day: Problem, plan: Plan) -> Problem:
    """Return the day with one limit of each agent on the way at just what its route takes, or one beside that."""
    agents = {spec.id: spec for spec in day.agents}
    for route in plan.routes:
        spec, short, end = agents[route.agent_id], draw(st.integers(0, 1)), int(route.end_s)
        tickets = tuple(NAMES.index(visit.ticket_id) for visit in route.visits if visit.ticket_id is not None)
        reloads = len(route.visits) - len(tickets)
        limits: list[dict[str, Any]] = [
            {"max_duration": int(route.end_s - route.start_s) - short},
            {"max_distance": int(route.distance_m) - short},
            {"max_stops": len(tickets) - short},
            {"shift": (spec.shift[0], end - short)},
            {"shift": (spec.shift[0], end - 1), "overtime": 1 - short},
            {"locked": tickets[short : short + 1]},
            {},
        ]
        if reloads and draw(st.booleans()):
            limits = [{"max_reloads": reloads - short}]
        agents[spec.id] = replace(spec, **draw(st.sampled_from(limits)))
    return replace(day, agents=tuple(agents.values()))


@st.composite
def plans(draw: st.DrawFn) -> tuple[Problem, Plan]:
    """Return a day with limits at the edge and any plan of it, in the times the layout finds."""
    day = draw(days())
    served = draw(st.permutations(range(len(NAMES))))[: draw(st.sampled_from([0, 2, 3, 3, 4, 4]))]
    cut = draw(st.integers(0, len(served)))
    routes = []
    for number, hand in enumerate((served[:cut], served[cut:])):
        stops = [Stop(StopKind.TICKET, index) for index in hand]
        if day.agents[number].reload_at and len(stops) > 1 and not rarely(draw):
            stops.insert(draw(st.integers(1, len(stops) - 1)), Stop(StopKind.RELOAD, day.agents[number].reload_at[0]))
        routes.append(Route(number, tuple(stops)))
    chosen = Candidate(tuple(routes))
    day = tightened(draw, day, build_plan(day, chosen))
    return day, build_plan(day, chosen)


def with_visits(plan: Plan, at: int, visits: list[Visit]) -> Plan:
    """Return the plan with other visits in one route; a route without any is gone."""
    routes = list(plan.routes)
    routes[at : at + 1] = [replace(routes[at], visits=tuple(visits))] if visits else []
    return replace(plan, routes=tuple(routes))


def a_time_moved(draw: st.DrawFn, plan: Plan, at: int) -> Plan:
    """Move one time of a route by one."""
    route, by = plan.routes[at], draw(st.sampled_from([-1, 1]))
    spot = draw(st.integers(-1, len(route.visits) - 1))
    if spot < 0:
        name = draw(st.sampled_from(["start_s", "end_s"]))
        changed = replace(route, **{name: getattr(route, name) + by})
        return replace(plan, routes=(*plan.routes[:at], changed, *plan.routes[at + 1 :]))
    visits, name = list(route.visits), draw(st.sampled_from(["arrival_s", "start_s", "departure_s"]))
    visits[spot] = replace(visits[spot], **{name: getattr(visits[spot], name) + by})
    return with_visits(plan, at, visits)


def a_stop_hurried(draw: st.DrawFn, plan: Plan, at: int) -> Plan:
    """Let a stop be reached one later, or left one sooner: setup, or service, is cut short where nobody waits."""
    visits = list(plan.routes[at].visits)
    spot = draw(st.integers(0, len(visits) - 1))
    visit = visits[spot]
    hurries = [{"arrival_s": visit.arrival_s + 1}, {"departure_s": visit.departure_s - 1}]
    visits[spot] = replace(visit, **draw(st.sampled_from(hurries)))
    return with_visits(plan, at, visits)


def all_times_moved(draw: st.DrawFn, plan: Plan, at: int) -> Plan:
    """Let a route happen earlier or later."""
    by = draw(st.sampled_from([-1, 1]))
    moved = _moved(plan.routes[at], by)
    return replace(plan, routes=(*plan.routes[:at], moved, *plan.routes[at + 1 :]))


def _moved(route: PlannedRoute, by: int) -> PlannedRoute:
    visits = tuple(
        replace(v, arrival_s=v.arrival_s + by, start_s=v.start_s + by, departure_s=v.departure_s + by)
        for v in route.visits
    )
    return replace(route, visits=visits, start_s=route.start_s + by, end_s=route.end_s + by)


def two_swapped(draw: st.DrawFn, plan: Plan, at: int) -> Plan:
    """Let two stops of a route change places, the hours left as they are."""
    visits = list(plan.routes[at].visits)
    here, there = (draw(st.integers(0, len(visits) - 1)) for _ in range(2))
    kinds = [(visit.kind, visit.ticket_id, visit.location) for visit in visits]
    kinds[here], kinds[there] = kinds[there], kinds[here]
    changed = [
        replace(visit, kind=kind, ticket_id=name, location=place)
        for visit, (kind, name, place) in zip(visits, kinds, strict=True)
    ]
    return with_visits(plan, at, changed)


def one_dropped(draw: st.DrawFn, plan: Plan, at: int) -> Plan:
    """Leave a stop out, and mostly say so."""
    visits = list(plan.routes[at].visits)
    gone = visits.pop(draw(st.integers(0, len(visits) - 1)))
    if gone.ticket_id is not None and not rarely(draw):
        plan = replace(plan, unassigned=(*plan.unassigned, Unassigned(gone.ticket_id, "left_out", "")))
    return with_visits(plan, at, visits)


def one_handed_over(draw: st.DrawFn, plan: Plan, at: int) -> Plan:
    """Give a whole route, or one stop of it, to the other agent."""
    route = plan.routes[at]
    other = {"v": "w", "w": "v"}
    if len(plan.routes) == 1 or len(route.visits) == 1:
        agents = [
            other[each.agent_id] if len(plan.routes) > 1 or each is route else each.agent_id for each in plan.routes
        ]
        routes = tuple(replace(each, agent_id=name) for each, name in zip(plan.routes, agents, strict=True))
        return replace(plan, routes=routes)
    visits, taker = list(route.visits), 1 - at
    given_ = visits.pop(draw(st.integers(0, len(visits) - 1)))
    return with_visits(with_visits(plan, taker, [*plan.routes[taker].visits, given_]), at, visits)


CHANGES: list[Callable[[st.DrawFn, Plan, int], Plan]] = [
    a_time_moved,
    a_stop_hurried,
    all_times_moved,
    two_swapped,
    one_dropped,
    one_handed_over,
]


def a_figure_changed(draw: st.DrawFn, plan: Plan) -> Plan:
    """State one figure by one too much or too little."""
    by, at = draw(st.sampled_from([-1, 1])), draw(st.integers(-1, len(plan.routes) - 1))
    if at < 0:
        names = ["cost", "penalty", "distance_m", "duration_s", "agents_used", "tickets_served", "tickets_total"]
        name = draw(st.sampled_from(names))
        return replace(plan, **{name: getattr(plan, name) + by})
    visits = list(plan.routes[at].visits)
    spot, what = draw(st.integers(0, len(visits) - 1)), draw(st.sampled_from(["kg", "m3", "distance_m", "late_s"]))
    visit = visits[spot]
    load = {name: amount + by * (name == what) for name, amount in visit.load.items()}
    other = {what: getattr(visit, what) + by} if what not in load else {}
    visits[spot] = replace(visit, load=load, **other)
    return with_visits(plan, at, visits)


@examples(400)
@given(plans())
def test_a_plan_of_two_agents_is_proved_exactly_when_the_definition_holds(case: tuple[Problem, Plan]) -> None:
    """SPEC S1, S2: skills, pairs, shipments, locks, backhaul, loads, reloads, limits, groups; the layout too."""
    day, plan = case
    is_kept = is_allowed(day, plan)
    event("right" if is_kept else "wrong")
    assert (verify(day, plan) == []) == is_kept, verify(day, plan)
    assert not is_kept or plan == honest(day, plan)


@examples(600)
@given(plans(), st.data())
def test_an_altered_plan_is_proved_exactly_when_the_definition_holds(
    case: tuple[Problem, Plan], data: st.DataObject
) -> None:
    """SPEC S2: hours moved, stops swapped, dropped and handed over, figures made true again or left, or falsified."""
    day, plan = case
    draw = data.draw
    for change in draw(st.lists(st.sampled_from(CHANGES), min_size=1, max_size=2)):
        if plan.routes:
            plan = change(draw, plan, draw(st.integers(0, len(plan.routes) - 1)))
    if not rarely(draw):
        plan = honest(day, plan)
    if rarely(draw):
        plan = a_figure_changed(draw, plan)
    event("right" if is_right(day, plan) else "wrong")
    assert (verify(day, plan) == []) == is_right(day, plan), verify(day, plan)
