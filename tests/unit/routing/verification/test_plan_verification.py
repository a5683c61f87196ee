"""The verifier: a day is planned at the very edge of each constraint, then broken by one unit."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.plan import Plan, PlanStatus, Unassigned
from planner_mcp.routing.problem import AgentSpec, Candidate, Problem, TicketSpec
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.scenarios.scenario_builders import agent, candidate, problem, route, ticket

Change = Callable[[Problem], Problem]


def of_agent(**changes: Any) -> Change:
    """Return a change of the first agent; a callable is given the agent."""

    def change(day: Problem) -> Problem:
        first: AgentSpec = day.agents[0]
        values = {name: value(first) if callable(value) else value for name, value in changes.items()}
        return replace(day, agents=(replace(first, **values), *day.agents[1:]))

    return change


def of_ticket(index: int, **changes: Any) -> Change:
    """Return a change of one ticket."""

    def change(day: Problem) -> Problem:
        tickets: list[TicketSpec] = list(day.tickets)
        tickets[index] = replace(tickets[index], **changes)
        return replace(day, tickets=tuple(tickets))

    return change


A, B = ticket("a", "A"), ticket("b", "B")
SHIPMENT = [ticket("p", "A", kind="pickup"), ticket("q", "B", pickup="p")]
REST = {"earliest": 1, "latest": 2, "duration_s": 5}
RELOADER = agent(capacity=1, reload_locations=["D"], max_reloads=1)
EDGES: list[tuple[str, dict[str, Any], tuple[str, ...], Change, str]] = [
    ("capacity", {"agents": [agent(capacity=2)]}, ("a", "b"), of_agent(capacity=(1,)), "leaves with more load"),
    (
        "second dimension",
        {
            "agents": [agent(capacity={"kg": 9, "m3": 2})],
            "tickets": [ticket("a", demand={"kg": 1, "m3": 1}), ticket("b", "B", demand={"kg": 1, "m3": 1})],
        },
        ("a", "b"),
        of_agent(capacity=(9, 1)),
        "more m3",
    ),
    (
        "open window",
        {"tickets": [ticket(time_windows=[[5, 9]])]},
        ("a",),
        of_ticket(0, windows=((6, 9),)),
        "outside its w",
    ),
    (
        "close window",
        {"tickets": [ticket(time_windows=[[0, 1]])]},
        ("a",),
        of_ticket(0, windows=((0, 0),)),
        "outside its w",
    ),
    (
        "second window",
        {"tickets": [A | {"service_time_s": 5}, B | {"time_windows": [[0, 1], [9, 9]]}]},
        ("a", "b"),
        of_ticket(1, windows=((0, 1), (10, 10))),
        "outside its windows",
    ),
    (
        "service",
        {"tickets": [A | {"service_time_s": 3}, B]},
        ("a", "b"),
        of_ticket(0, service=4),
        "left before its service",
    ),
    ("setup", {"tickets": [A | {"setup_time_s": 3}, B]}, ("a", "b"), of_ticket(0, setup=4), "arrival and setup"),
    (
        "setup where the agent starts",
        {"tickets": [ticket("a", "D", setup_time_s=3), B]},
        ("a", "b"),
        of_ticket(0, setup=4),
        "arrival and setup",
    ),
    (
        "setup once a place",
        {"tickets": [A | {"setup_time_s": 3}, ticket("b", "A", setup_time_s=3)]},
        ("a", "b"),
        of_ticket(0, setup=4),
        "arrival and setup",
    ),
    ("shift start", {"agents": [agent(shift_start=3)]}, ("a",), of_agent(shift=(4, 99)), "before the shift starts"),
    ("shift end", {"agents": [agent(shift_end=2)]}, ("a",), of_agent(shift=(0, 1)), "after the shift"),
    (
        "overtime",
        {"agents": [agent(shift_end=2, overtime_s=2)], "tickets": [A, B]},
        ("b",),
        of_agent(overtime=1),
        "after the shift and its overtime",
    ),
    ("distance limit", {"agents": [agent(max_distance_m=4)]}, ("a", "b"), of_agent(max_distance=3), "max_distance"),
    ("duration limit", {"agents": [agent(max_duration_s=4)]}, ("a", "b"), of_agent(max_duration=3), "max_duration"),
    ("stop limit", {"agents": [agent(max_tickets=2)]}, ("a", "b"), of_agent(max_stops=1), "max_tickets"),
    (
        "skills",
        {"agents": [agent(skills=["s"]), agent("w")], "tickets": [A | {"skills": ["s"]}, B]},
        ("a",),
        of_ticket(0, agents=frozenset({1})),
        "may not serve",
    ),
    (
        "pickup load",
        {"agents": [agent(capacity=1)], "tickets": [A | {"kind": "pickup"}, B]},
        ("b", "a"),
        of_agent(capacity=(0,)),
        "beyond",
    ),
    ("shipment", {"tickets": SHIPMENT}, ("p", "q"), of_ticket(0, pickup=1), "without having picked"),
    ("release", {"tickets": [A | {"release_time": 5}, B]}, ("a", "b"), of_ticket(0, release=6), "is released"),
    (
        "release of a later trip",
        {"agents": [RELOADER], "tickets": [A | {"time_windows": [[1, 1]]}, B | {"release_time": 5}]},
        ("a", "reload@D", "b"),
        of_ticket(1, release=6),
        "is released",
    ),
    (
        "reload of collected goods",
        {"agents": [RELOADER], "tickets": [A | {"kind": "pickup"}, B | {"kind": "pickup"}]},
        ("a", "reload@D", "b"),
        of_agent(capacity=(0,)),
        "beyond its capacity",
    ),
    (
        "reload beside a shipment",
        {"agents": [RELOADER], "tickets": SHIPMENT},
        ("p", "reload@D", "q"),
        of_agent(capacity=(0,)),
        "beyond its capacity after reload",
    ),
    (
        "reload count",
        {"agents": [agent(capacity=1, reload_locations=["D"], max_reloads=1)]},
        ("a", "reload@D", "b"),
        of_agent(max_reloads=0),
        "max_reloads",
    ),
    (
        "reload place",
        {"agents": [agent(capacity=1, reload_locations=["D"], max_reloads=1)]},
        ("a", "reload@D", "b"),
        of_agent(reload_at=()),
        "may not reload",
    ),
    (
        "break window",
        {"agents": [agent(breaks=[{"earliest": 1, "latest": 2, "duration_s": 5}], shift_start=1)]},
        ("break", "a"),
        of_agent(breaks=lambda spec: (replace(spec.breaks[0], window=(3, 3)),)),
        "a break is",
    ),
    (
        "break length",
        {"agents": [agent(breaks=[{"earliest": 1, "latest": 2, "duration_s": 5}], shift_start=1)]},
        ("break", "a"),
        of_agent(breaks=lambda spec: (replace(spec.breaks[0], duration=6),)),
        "a break is",
    ),
    ("locks", {"agents": [agent(locked_tickets=["a"])]}, ("a", "b"), of_agent(locked=(1,)), "locked tickets first"),
    ("order of locks", {"agents": [agent(locked_tickets=["a", "b"])]}, ("a", "b"), of_agent(locked=(1, 0)), "in order"),
    ("incompatible", {}, ("a", "b"), lambda day: replace(day, incompatible=frozenset({(0, 1)})), "exclude each other"),
    (
        "backhaul",
        {"tickets": [A | {"kind": "pickup"}, B]},
        ("a", "b"),
        lambda day: replace(day, backhaul=True),
        "against the backhaul rule",
    ),
    (
        "backhaul beside a shipment",
        {"tickets": SHIPMENT, "options": {"backhaul": True}},
        ("p", "q"),
        of_ticket(1, pickup=None),
        "against the backhaul rule",
    ),
    (
        "backhaul trip by trip",
        {"agents": [RELOADER], "tickets": [A | {"kind": "pickup"}, B], "options": {"backhaul": True}},
        ("a", "reload@D", "b"),
        of_agent(max_reloads=0),
        "max_reloads",
    ),
    (
        "break not needed before its end",
        {"agents": [agent(breaks=[REST | {"earliest": 2, "latest": 4}, REST | {"earliest": 3, "latest": 9}])]},
        ("a", "b"),
        of_agent(breaks=lambda spec: (replace(spec.breaks[0], window=(2, 3)), spec.breaks[1])),
        "a break is missing",
    ),
    (
        "break not needed once it is over",
        {"agents": [agent(shift_start=10, breaks=[REST | {"earliest": 5, "latest": 10}])]},
        ("a", "b"),
        of_agent(breaks=lambda spec: (replace(spec.breaks[0], duration=6),)),
        "a break is missing",
    ),
    ("start", {}, ("a",), of_agent(start=1), "does not start where"),
    ("end", {}, ("a",), of_agent(end=1), "does not end where"),
    ("travel time", {}, ("a",), lambda day: replace(day, durations=(day.durations[0] + 1,)), "sooner than travel"),
    (
        "own speed",
        {"agents": [agent(speed_factor=0.5), agent("w")]},
        ("a",),
        lambda day: replace(day, durations=(day.durations[0] + 1, day.durations[1])),
        "sooner than travel",
    ),
    (
        "rush",
        {"travel": {"decimals": 0, "rush_hours": [{"start": 0, "end": 99, "factor": 2}]}},
        ("a",),
        lambda day: replace(day, travel_periods=(replace(day.travel_periods[0], factor=2001),)),
        "sooner than travel",
    ),
    ("distance", {}, ("a",), lambda day: replace(day, distances=(day.distances[0] + 1,)), "wrong distance"),
    ("fixed cost", {"agents": [agent(fixed_cost=5)]}, ("a",), of_agent(fixed_cost=6), "wrong cost"),
    ("time cost", {"agents": [agent(cost_per_hour=3600)]}, ("a",), of_agent(time_cost=2), "wrong cost"),
    (
        "overtime cost",
        {"agents": [agent(shift_end=1, overtime_s=9, overtime_cost_per_hour=3600, cost_per_km=0)]},
        ("a",),
        of_agent(overtime_cost=2),
        "wrong cost",
    ),
    (
        "lateness cost",
        {"tickets": [B | {"soft_close": 1, "lateness_cost_per_hour": 3600}]},
        ("b",),
        of_ticket(0, lateness_cost=2),
        "wrong cost",
    ),
    (
        "switch cost",
        {"agents": [agent(), agent("w")], "tickets": [A | {"preferred_agent": "w", "switch_cost": 2}]},
        ("a",),
        of_ticket(0, switch_cost=3),
        "wrong cost",
    ),
    (
        "preference",
        {"agents": [agent(), agent("w")], "tickets": [A | {"preferred_agent": "w", "switch_cost": 2}]},
        ("a",),
        of_ticket(0, preferred=0),
        "wrong cost",
    ),
    ("lateness", {"tickets": [B | {"soft_close": 1}]}, ("b",), of_ticket(0, soft_close=0), "wrong lateness"),
    ("penalty", {"tickets": [A, B | {"penalty": 5}]}, ("a",), of_ticket(1, penalty=6), "wrong cost"),
    (
        "balance",
        {"options": {"balance_cost_per_hour": 3600}},
        ("a",),
        lambda day: replace(day, span_cost=2),
        "wrong cost",
    ),
]


@pytest.mark.parametrize(("what", "day", "stops", "change", "said"), EDGES, ids=[edge[0] for edge in EDGES])
def test_a_plan_at_the_edge_holds_and_one_unit_more_is_caught(
    what: str, day: dict[str, Any], stops: tuple[str, ...], change: Change, said: str
) -> None:
    """SPEC S1, S2: every constraint of the model is held by the verifier to the unit."""
    before = problem(**day)
    plan = build_plan(before, candidate(before, *stops))
    assert verify(before, plan) == []
    found = verify(change(before), plan)
    assert any(said in sentence for sentence in found), found


def altered(plan: Plan, **changes: Any) -> Plan:
    """Return the plan with its first route changed."""
    return replace(plan, routes=(replace(plan.routes[0], **changes), *plan.routes[1:]))


def visited(plan: Plan, index: int, **changes: Any) -> Plan:
    """Return the plan with one visit of its first route changed."""
    visits = list(plan.routes[0].visits)
    visits[index] = replace(visits[index], **changes)
    return altered(plan, visits=tuple(visits))


def left(plan: Plan, *names: str, code: str = "left_out") -> Plan:
    """Return the plan with these tickets listed as unassigned."""
    return replace(plan, unassigned=tuple(Unassigned(name, code, "") for name in names))


LIES: list[tuple[str, Callable[[Plan], Plan], str]] = [
    ("cost", lambda p: replace(p, cost=p.cost + 1), "The plan states a wrong cost."),
    ("penalty", lambda p: replace(p, penalty=1.0), "The plan states a wrong penalty."),
    ("distance", lambda p: replace(p, distance_m=p.distance_m + 1), "The plan states a wrong distance_m."),
    ("duration", lambda p: replace(p, duration_s=p.duration_s + 1), "The plan states a wrong duration_s."),
    ("agents", lambda p: replace(p, agents_used=2), "The plan states a wrong agents_used."),
    ("served", lambda p: replace(p, tickets_served=1), "The plan states a wrong tickets_served."),
    ("total", lambda p: replace(p, tickets_total=1), "The plan states a wrong tickets_total."),
    ("status", lambda p: replace(p, status=PlanStatus.PARTIAL), "The plan states a wrong status."),
    ("route cost", lambda p: altered(p, cost=9.0), "Agent v: states a wrong cost."),
    ("route travel", lambda p: altered(p, travel_s=9.0), "Agent v: states a wrong travel_s."),
    ("route overtime", lambda p: altered(p, overtime_s=9.0), "Agent v: states a wrong overtime_s."),
    ("route waiting", lambda p: altered(p, waiting_s=9.0), "Agent v: states a wrong waiting_s."),
    ("load", lambda p: visited(p, 0, load={"load": 2.0}), "Agent v: states a wrong load of load after a."),
    ("way", lambda p: visited(p, 0, distance_m=2.0), "Agent v: ticket a states a wrong distance."),
    ("route distance", lambda p: altered(p, distance_m=9.0), "Agent v: states a wrong distance_m."),
    ("empty route", lambda p: altered(p, visits=()), "Agent v: has a route without tickets."),
    (
        "kind",
        lambda p: visited(p, 0, kind="reload"),
        "Agent v: a visit names a ticket where its kind has none, or none where it has one.",
    ),
    ("strange kind", lambda p: visited(p, 0, kind="nap"), "A visit is of no known kind: nap."),
    (
        "lack of a load",
        lambda p: visited(p, 0, load={}),
        "A visit of v states loads of other dimensions than the problem has.",
    ),
    (
        "load not a number",
        lambda p: visited(p, 0, load={"load": float("nan")}),
        "The plan has a number that is not finite.",
    ),
    ("place", lambda p: visited(p, 0, location="C"), "Agent v: ticket a is visited at another place than its own."),
    (
        "arrival",
        lambda p: visited(p, 1, arrival_s=1.0),
        "Agent v: ticket b is reached sooner than travel and breaks allow.",
    ),
    ("twice", lambda p: replace(p, routes=p.routes * 2), "Agent v has 2 routes."),
    ("twice served", lambda p: replace(p, routes=p.routes * 2), "Ticket a is served 2 times."),
    (
        "lost",
        lambda p: altered(p, visits=p.routes[0].visits[:1]),
        "Ticket b must be either served or listed once as unassigned.",
    ),
    ("served and left", lambda p: left(p, "a"), "Ticket a must be either served or listed once as unassigned."),
    (
        "left twice",
        lambda p: left(altered(p, visits=p.routes[0].visits[:1]), "b", "b"),
        "Ticket b must be either served or listed once as unassigned.",
    ),
    ("stranger left", lambda p: left(p, "zz"), "Unassigned ticket zz does not exist."),
    ("no reason", lambda p: left(p, "b", code=""), "Unassigned ticket b has no reason."),
    ("stranger", lambda p: altered(p, agent_id="zz"), "Agent zz does not exist."),
    ("not a number", lambda p: altered(p, end_s=float("nan")), "The plan has a number that is not finite."),
]


@pytest.mark.parametrize(("what", "lie", "said"), LIES, ids=[lie[0] for lie in LIES])
def test_a_plan_that_misstates_itself_is_caught(what: str, lie: Callable[[Plan], Plan], said: str) -> None:
    """SPEC S2: a client may believe every number of a plan."""
    day = problem()
    assert said in verify(day, lie(build_plan(day, candidate(day, "a", "b"))))


def test_groups_allow_one_alternative_and_all_or_nothing() -> None:
    """SPEC S1: groups."""
    one_of = problem(groups=[{"kind": "one_of", "tickets": ["a", "b"]}])
    assert verify(one_of, build_plan(one_of, candidate(one_of, "a"))) == []
    assert build_plan(one_of, candidate(one_of, "a")).status is PlanStatus.FEASIBLE
    both = verify(one_of, build_plan(one_of, candidate(one_of, "a", "b")))
    assert both == ["More than one ticket of the group of a is served."]
    everything = problem(groups=[{"kind": "all", "tickets": ["a", "b"]}])
    assert verify(everything, build_plan(everything, Candidate(()))) == []
    some = verify(everything, build_plan(everything, candidate(everything, "a")))
    assert some == ["Only some tickets of the group of a are served."]


def test_a_shipment_stays_on_one_route_and_in_order() -> None:
    """SPEC S1: pickup and delivery."""
    day = problem([agent(), agent("w")], SHIPMENT)
    split = Candidate((route(day, "p"), route(day, "q", agent=1)))
    found = verify(day, build_plan(day, split))
    assert "Agent v: picks up p and never delivers it." in found
    assert "Agent w: delivers q without having picked it up." in found


def test_a_break_that_can_be_taken_off_duty_may_be_left_out() -> None:
    """SPEC S1: breaks bind a driver only while on the way."""
    noon = [{"earliest": 100, "latest": 110, "duration_s": 30}]
    short = problem([agent(breaks=noon)])
    assert verify(short, build_plan(short, candidate(short, "a", "b"))) == []
    long = problem([agent(breaks=noon)], [ticket(service_time_s=500, time_windows=[[0, 99]])])
    assert verify(long, build_plan(long, candidate(long, "a"))) != []


BREAK_LIES: list[tuple[str, dict[str, Any], str]] = [
    ("distance", {"distance_m": 1.0}, "a break states a location, a ticket or a distance."),
    ("place", {"location": "A"}, "a break states a location, a ticket or a distance."),
    ("ticket", {"ticket_id": "a"}, "a break states a location, a ticket or a distance."),
    ("early", {"arrival_s": 0.0}, "a break starts before the previous visit ends."),
    ("begun before reached", {"arrival_s": 6.0}, "a break starts before the previous visit ends."),
    ("over before begun", {"departure_s": 4.0}, "a break starts before the previous visit ends."),
]


def rested() -> tuple[Problem, Plan]:
    """Return a route that is at A until 1, rests there from 5 to 10, and reaches B, one away, when the rest is over."""
    breaks = [{"earliest": 5, "latest": 5, "duration_s": 5}, {"earliest": 100, "latest": 110, "duration_s": 30}]
    day = problem([agent(breaks=breaks)], [A | {"time_windows": [[1, 1]]}, B])
    plan = build_plan(day, candidate(day, "a", "break", "b"))
    rest, after = plan.routes[0].visits[1:]
    assert verify(day, plan) == []
    assert (rest.start_s, rest.departure_s, after.arrival_s) == (5.0, 10.0, 10.0)
    return day, plan


@pytest.mark.parametrize(("what", "changes", "said"), BREAK_LIES, ids=[lie[0] for lie in BREAK_LIES])
def test_a_break_that_misstates_itself_is_caught(what: str, changes: dict[str, Any], said: str) -> None:
    """SPEC S2: a break has no place, and stands between what is before and after it."""
    day, plan = rested()
    assert f"Agent v: {said}" in verify(day, visited(plan, 1, **changes))


@pytest.mark.parametrize("by", [-1, 1])
def test_a_break_keeps_its_window_and_its_length_to_the_unit(by: int) -> None:
    """SPEC S1, S2: sooner, later, shorter and longer by one; whichever of the breaks of the agent it is."""
    day, plan = rested()
    first, second = day.agents[0].breaks
    assert verify(of_agent(breaks=(second, first))(day), plan) == []
    for other in (replace(first, window=(5 + by, 5 + by)), replace(first, duration=5 + by)):
        found = verify(of_agent(breaks=(other, second))(day), plan)
        assert found == ["Agent v: a break is missing, too short, or outside its window."]


def test_nobody_arrives_while_resting_nor_drives_then() -> None:
    """SPEC S1: a leg takes the travel and the breaks on it, wherever there was time to wait."""
    day, plan = rested()
    sooner = "Agent v: ticket b is reached sooner than travel and breaks allow."
    assert sooner in verify(day, visited(plan, 2, arrival_s=9.0))
    at_once = problem([agent(breaks=[REST], shift_start=1)], [A, B])
    rests = build_plan(at_once, candidate(at_once, "break", "a"))
    arrival = rests.routes[0].visits[1].arrival_s
    hurried = verify(at_once, visited(rests, 1, arrival_s=arrival - 1))
    assert "Agent v: ticket a is reached sooner than travel and breaks allow." in hurried


def test_nobody_drives_while_resting_in_a_rush() -> None:
    """SPEC S1: of two breaks on one leg only the time before, between and after them is driven."""
    far = [{"id": "D", "x": 0, "y": 0}, {"id": "A", "x": 100, "y": 0}]
    breaks = [{"earliest": 40, "latest": 40, "duration_s": 30}, {"earliest": 80, "latest": 80, "duration_s": 10}]
    period = {"decimals": 0, "rush_hours": [{"start": 0, "end": 20, "factor": 2}]}
    day = problem([agent(breaks=breaks, shift_start=0)], [ticket()], locations=far, travel=period)
    plan = build_plan(day, candidate(day, "break", "break", "a"))
    assert verify(day, plan) == []
    hurried = visited(plan, 2, arrival_s=plan.routes[0].visits[2].arrival_s - 1)
    assert "Agent v: ticket a is reached sooner than travel and breaks allow." in verify(day, hurried)


def test_travel_done_before_a_break_counts() -> None:
    """SPEC S1: a break may interrupt a leg."""
    far = [{"id": "D", "x": 0, "y": 0}, {"id": "A", "x": 100, "y": 0}]
    rest = [{"earliest": 40, "latest": 40, "duration_s": 30}]
    day = problem([agent(breaks=rest, shift_start=0)], [ticket(time_windows=[[130, 130]])], locations=far)
    plan = build_plan(day, candidate(day, "break", "a"))
    assert verify(day, plan) == []
    assert (plan.routes[0].start_s, plan.routes[0].end_s) == (0.0, 230.0)


def test_travel_done_in_a_rush_before_a_break_counts_less() -> None:
    """SPEC S1: 40 until the break are worth 30, so 70 are left after it; driving is told as it was."""
    far = [{"id": "D", "x": 0, "y": 0}, {"id": "A", "x": 100, "y": 0}]
    rest = [{"earliest": 40, "latest": 40, "duration_s": 30}]
    period = {"decimals": 0, "rush_hours": [{"start": 0, "end": 20, "factor": 2}]}
    tickets = [ticket(time_windows=[[140, 140]])]
    day = problem([agent(breaks=rest, shift_start=0)], tickets, locations=far, travel=period)
    plan = build_plan(day, candidate(day, "break", "a"))
    assert verify(day, plan) == []
    assert (plan.routes[0].start_s, plan.routes[0].end_s, plan.routes[0].travel_s) == (0.0, 240.0, 210.0)
    hasty = replace(day, tickets=(replace(day.tickets[0], windows=((139, 139),)),))
    assert any(
        "outside its windows" in fault for fault in verify(hasty, build_plan(hasty, candidate(day, "break", "a")))
    )


def test_locked_tickets_bind_an_agent_that_stays_at_home() -> None:
    """SPEC S1: locked visits are served."""
    day = problem([agent(locked_tickets=["a"])])
    assert "Agent v: does not serve its locked tickets." in verify(day, build_plan(day, Candidate(())))


def test_the_price_of_a_candidate_is_the_cost_of_its_plan() -> None:
    """SPEC S3: what an engine is told is what a client reads."""
    day = problem([agent(fixed_cost=3.5, cost_per_km=250, cost_per_hour=12.25)], options={"balance_cost_per_hour": 7})
    chosen = candidate(day, "b", "a")
    assert price(day, chosen) / day.cost_scale == build_plan(day, chosen).cost


def test_cost_is_what_a_caller_pays_and_the_weight_of_wanted_tickets_stands_apart() -> None:
    """SPEC J5, S3: numbers of a partial plan make sense; penalty first, cost second, together the price."""
    day = problem(tickets=[ticket(), ticket("b", "B"), ticket("c", "C", penalty=2.5)])
    chosen = candidate(day, "a")
    plan = build_plan(day, chosen)
    wanted = next(each.penalty for each in day.tickets if each.id == "b")
    assert verify(day, plan) == []
    assert plan.cost == plan.routes[0].cost + 2.5
    assert plan.penalty == wanted / day.cost_scale > plan.cost
    assert price(day, chosen) == round((plan.cost + plan.penalty) * day.cost_scale)


def test_penalty_of_alternatives_is_a_cost_only_where_the_caller_named_it() -> None:
    """SPEC S1, J5: of a group that nobody serves."""
    wanted = problem(groups=[{"kind": "one_of", "tickets": ["a", "b"]}])
    priced = problem(groups=[{"kind": "one_of", "tickets": ["a", "b"], "penalty": 7}])
    nobody = [build_plan(day, Candidate(())) for day in (wanted, priced)]
    assert [verify(day, plan) for day, plan in zip((wanted, priced), nobody, strict=True)] == [[], []]
    assert (nobody[0].cost, nobody[0].penalty > 0) == (0.0, True)
    assert (nobody[1].cost, nobody[1].penalty) == (7.0, 0.0)


@pytest.mark.parametrize("kind", ["ticket", "reload", "break"])
def test_a_visit_of_any_kind_that_names_no_ticket_of_the_day_is_reported(kind: str) -> None:
    """SPEC S2: the verifier judges whatever plan it is given, and never breaks."""
    day = problem([agent(reload_locations=["D"], breaks=[{"earliest": 0, "latest": 9, "duration_s": 1}])])
    plan = build_plan(day, candidate(day, "a", "b"))
    first = plan.routes[0]
    stray = replace(first.visits[0], kind=kind, ticket_id="zz", location="D")
    broken = replace(plan, routes=(replace(first, visits=(stray, *first.visits[1:])),))
    assert "Ticket zz does not exist." in verify(day, broken)


def test_a_reload_at_an_unknown_place_is_reported_as_such() -> None:
    """SPEC S2: in one sentence; nothing more can be said of such a plan."""
    day = problem([RELOADER])
    plan = build_plan(day, candidate(day, "a", "reload@D", "b"))
    (first,) = plan.routes
    strayed = (replace(v, location="ZZ") if v.kind == "reload" else v for v in first.visits)
    lost = replace(plan, routes=(replace(first, visits=tuple(strayed)),))
    assert verify(day, plan) == []
    assert verify(day, lost) == ["A reload happens at ZZ, which does not exist."]


def test_loads_that_no_float_holds_are_read_as_the_nearest_unit() -> None:
    """SPEC S2: 0.29 is less than 29 hundredths as a float, and 0.07 more than 7."""
    day = problem([agent(capacity=0.36)], [ticket("a", demand=0.07), ticket("b", "B", demand=0.29)])
    assert day.amount_scale == 100
    for names in ("a", "b"), ("b", "a"):
        plan = build_plan(day, candidate(day, *names))
        assert any(visit.load["load"] * 100 % 1 for visit in plan.routes[0].visits)
        assert verify(day, plan) == []


def test_a_visit_to_a_ticket_needs_its_name() -> None:
    """SPEC S2: also where nothing else is wrong with it."""
    day = problem()
    plan = build_plan(day, candidate(day, "a", "b"))
    first = plan.routes[0]
    nameless = replace(first.visits[0], ticket_id=None)
    broken = replace(plan, routes=(replace(first, visits=(nameless, *first.visits[1:])),))
    assert verify(day, broken)


class Looked(frozenset[tuple[int, int]]):
    """Pairs that count how often one of them is looked at."""

    looks = 0

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for pair in super().__iter__():
            self.looks += 1
            yield pair

    def __contains__(self, pair: object) -> bool:
        self.looks += 1
        return super().__contains__(pair)


def crowd(tickets: int) -> Problem:
    """Return a day of as many agents as tickets."""
    names = range(tickets)
    return problem([agent(f"v{n}", capacity=tickets) for n in names], [ticket(f"t{n}") for n in names])


def test_many_exclusions_are_not_gone_through_for_each_route() -> None:
    """SPEC S2: 650 routes of a day with 180,000 pairs took 12 s to prove, longer than the worker waits for a plan."""
    day = crowd(60)
    apart = Looked(combinations(range(60), 2))
    day = replace(day, incompatible=apart)
    assert verify(day, build_plan(day, Candidate.of_tickets({n: [n] for n in range(60)}))) == []
    assert apart.looks <= 60 * 60
    together = build_plan(day, Candidate.of_tickets({0: range(60)}))
    assert len(verify(day, together)) == len(apart)


@given(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda pair: pair[0] < pair[1])), st.data())
def test_the_verifier_names_each_pair_on_one_route_that_excludes_itself(
    pairs: set[tuple[int, int]], data: st.DataObject
) -> None:
    """SPEC S2: whether a day excludes few pairs or nearly all, and routes are short or long."""
    day = replace(crowd(8), incompatible=frozenset(pairs))
    owners = data.draw(st.lists(st.integers(0, 3), min_size=8, max_size=8))
    routes = {owner: [n for n in range(8) if owners[n] == owner] for owner in sorted(set(owners))}
    expected = [
        f"Agent v{owner}: serves t{low} and t{high}, which exclude each other."
        for owner, served in routes.items()
        for low, high in combinations(served, 2)
        if (low, high) in pairs
    ]
    assert verify(day, build_plan(day, Candidate.of_tickets(routes))) == expected
