"""The hours of long routes against every departure there is, and how little is driven to find them."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation import departure_optimization, route_schedule
from planner_mcp.routing.evaluation.departure_optimization import SpanPrice, Tour
from planner_mcp.routing.evaluation.leg_timing import DrivenLeg, drive_leg
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.evaluation.route_legs import Leg, first_release
from planner_mcp.routing.evaluation.route_schedule import RouteSchedule, _forward, _violation_and_cost, schedule_route
from planner_mcp.routing.evaluation.time_dependent_travel import TravelSpeeds
from planner_mcp.routing.problem import Candidate, Problem, Route, StopKind
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.property_tests.example_counts import examples
from tests.shared.scenarios.scenario_builders import agent, body, problem, ticket
from tests.shared.scenarios.scenario_builders import route as route_of

HOURLY = 3600
"""A price of one for each second."""
DRIVES = 4
"""Times that a route is followed stop by stop, however many choices of hours it leaves."""

few = st.integers(0, 4)


@st.composite
def windows(draw: st.DrawFn) -> list[list[int]]:
    edges = sorted(draw(st.sets(st.integers(0, 40), min_size=6, max_size=6)))
    return [edges[:2], edges[2:4], edges[4:]][: draw(st.integers(0, 3))]


@st.composite
def tours(draw: st.DrawFn) -> tuple[Problem, Route, SpanPrice]:
    """Return a day of one agent, a route with several breaks, reloads and goods that come later, and what others do."""
    driver = agent(shift_start=draw(few), shift_end=draw(st.integers(20, 60)), cost_per_hour=HOURLY * draw(few))
    driver |= {"reload_locations": ["D"], "max_reloads": 2}
    if draw(st.booleans()):
        driver["max_duration_s"] = draw(st.integers(10, 40))
    if draw(st.booleans()):
        driver |= {"overtime_s": draw(few), "overtime_cost_per_hour": HOURLY * draw(few)}
    starts = draw(st.lists(st.integers(0, 30), max_size=3))
    driver["breaks"] = [{"earliest": at, "latest": at + draw(st.integers(0, 9)), "duration_s": 2} for at in starts]
    tickets = []
    for name in "abcdef"[: draw(st.integers(1, 6))]:
        fields: dict[str, Any] = {"service_time_s": draw(few), "setup_time_s": draw(st.integers(0, 2))}
        if hours := draw(windows()):
            fields["time_windows"] = hours
        if draw(st.booleans()):
            fields |= {"soft_close": draw(st.integers(0, 40)), "lateness_cost_per_hour": HOURLY * draw(few)}
        if draw(st.integers(0, 4)) == 0:
            fields["release_time"] = draw(st.integers(0, 20))
        tickets.append(ticket(name, draw(st.sampled_from("ABCE")), **fields))
    balance = draw(st.sampled_from([0, 0, 1, 3]))
    options = {"balance_cost_per_hour": HOURLY * balance}
    day = compile_scenario(Scenario.model_validate(body([driver], tickets, options=options)))
    stops = [each["id"] for each in tickets]
    for extra in (
        *["break"] * draw(st.integers(0, len(day.agents[0].breaks))),
        *["reload@D"] * draw(st.integers(0, 1)),
    ):
        stops.insert(draw(st.integers(0, len(stops))), extra)
    span = SpanPrice(day.span_cost, draw(st.integers(0, 30))) if balance and draw(st.booleans()) else SpanPrice()
    return day, route_of(day, *stops), span


def tour_of(day: Problem, route: Route, span: SpanPrice, schedule: RouteSchedule) -> Tour:
    taken = {stop.index for stop in route.stops if stop.kind is StopKind.BREAK}
    untaken_breaks = [rest for index, rest in enumerate(day.agents[0].breaks) if index not in taken]
    return Tour(day, day.agents[0], schedule.legs, untaken_breaks, span)


def every_burden(tour: Tour) -> Iterator[tuple[int, ...]]:
    """Yield limits broken, cost and duration of each departure that is possible."""
    soonest = max(tour.agent.shift[0], first_release(tour.problem, tour.legs))
    for at in range(soonest, max(soonest, tour.agent.latest_end) + 1):
        yield _violation_and_cost(tour, RouteSchedule(tour.legs, _forward(tour.legs, at, None), at))


@examples(500)
@given(tours())
def test_no_departure_of_a_long_route_costs_less(case: tuple[Problem, Route, SpanPrice]) -> None:
    """SPEC S1, S2: of all departures, one by one; where one keeps every limit the plan is proved."""
    day, route, span = case
    schedule = schedule_route(day, route, span)
    tour = tour_of(day, route, span, schedule)
    best, found = min(every_burden(tour)), _violation_and_cost(tour, schedule)
    assert (found[0] == 0) == (best[0] == 0)
    if best[0] == 0:
        assert found[:2] == best[:2]
    assert (verify(day, build_plan(day, Candidate((route,)))) == []) == (best[0] == 0)


@examples(100)
@given(tours())
def test_money_beyond_64_bits_is_reckoned_exactly(case: tuple[Problem, Route, SpanPrice]) -> None:
    """SPEC S1: an infeasible route may cost more than any plan can; numbers of either size choose one departure."""
    day, route, span = case
    schedule = schedule_route(day, route, span)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(departure_optimization, "_number_type", lambda *_: object)
        assert schedule_route(day, route, span) == schedule


@pytest.mark.parametrize("windows", [1, 2, 6])
def test_more_choices_of_hours_are_no_more_driving(windows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S2, S3: a plan of 1000 tickets with two windows each was laid out in seconds: no time was left to search."""
    driven = 0

    def counted(leg: Leg, now: int, speeds: TravelSpeeds | None) -> DrivenLeg:
        nonlocal driven
        driven += 1
        return drive_leg(leg, now, speeds)

    hours = [[[at, at + 60] for at in range(opens, opens + 400 * windows, 400)] for opens in (100, 300)]
    late = {"lateness_cost_per_hour": HOURLY}
    tickets = [
        ticket(f"t{n}", "ABCE"[n % 4], time_windows=hours[n // 10], soft_close=100 + 17 * n, **late) for n in range(20)
    ]
    day = problem([agent(capacity=20, cost_per_hour=30 * HOURLY, shift_end=5000)], tickets)
    route = route_of(day, *(each["id"] for each in tickets))
    monkeypatch.setattr(route_schedule, "drive_leg", counted)
    schedule = schedule_route(day, route)
    assert (schedule.start, schedule.end) == (146, 317)
    assert driven <= DRIVES * 21
