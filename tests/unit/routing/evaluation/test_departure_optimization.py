"""The hours of a given route against a definition so plain that it tries every departure there is."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.evaluation.time_dependent_travel import TravelSpeeds
from planner_mcp.routing.problem import Candidate, Problem, Route, StopKind, TravelPeriod
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.routing.verification.driving_verification import driving_time
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.property_tests.example_counts import examples
from tests.shared.scenarios.scenario_builders import agent, body, ticket
from tests.shared.scenarios.scenario_builders import route as route_of

HOURS = range(60)
"""Every shift, window and break below ends before; so does any route worth driving."""
HOURLY = 3600
"""A price of one for each second."""

few = st.integers(0, 4)


@st.composite
def windows(draw: st.DrawFn) -> list[list[int]]:
    edges = sorted(draw(st.sets(st.integers(0, 24), min_size=4, max_size=4)))
    return [edges[:2], edges[2:]][: draw(st.integers(1, 2))]


@st.composite
def drives(draw: st.DrawFn) -> tuple[Problem, Route]:
    """Return a day of one agent whose hours are paid or limited, and a route: right or wrong."""
    end = draw(st.integers(12, 30))
    driver = agent(shift_end=end, cost_per_hour=HOURLY * draw(few))
    if draw(st.booleans()):
        driver["max_duration_s"] = draw(st.integers(6, 14))
    if draw(st.booleans()):
        driver |= {"overtime_s": draw(few), "overtime_cost_per_hour": HOURLY * draw(few)}
    if has_break := draw(st.booleans()):
        earliest = draw(st.integers(0, 20))
        driver["breaks"] = [{"earliest": earliest, "latest": earliest + draw(few), "duration_s": draw(few)}]
    tickets = []
    for name in "abc":
        fields: dict[str, Any] = {"service_time_s": draw(few), "setup_time_s": draw(st.integers(0, 2))}
        if draw(st.booleans()):
            fields["time_windows"] = draw(windows())
        if draw(st.booleans()):
            fields |= {"soft_close": draw(st.integers(0, 20)), "lateness_cost_per_hour": HOURLY * draw(few)}
        tickets.append(ticket(name, draw(st.sampled_from("ABC")), **fields))
    balance = {"balance_cost_per_hour": HOURLY * draw(st.sampled_from([0, 0, 1, 3]))}
    day = compile_scenario(Scenario.model_validate(body([driver], tickets, options=balance)))
    stops = ["a", "b", "c"][: draw(st.integers(1, 3))]
    if has_break and draw(st.booleans()):
        stops.insert(draw(st.integers(0, len(stops))), "break")
    return day, route_of(day, *stops)


def costs(day: Problem, route: Route) -> Iterator[int]:
    """Yield what the route costs, in cost units, for every departure with which it keeps all limits."""
    driver = day.agents[0]
    metres = 0
    for leaving in HOURS[driver.shift[0] :]:
        now, place, lateness, metres, rests, is_kept = leaving, 0, 0, 0, [], True
        setting_up = True
        for stop in route.stops:
            if stop.kind is StopKind.BREAK:
                rests.append(driver.breaks[stop.index])
                continue
            spec = day.tickets[stop.index]
            reached = arrival(day, now, place, spec.location, rests)
            is_kept &= reached is not None
            ready = (reached or 0) + (spec.setup if setting_up or place != spec.location else 0)
            start = next((max(ready, opens) for opens, closes in spec.windows if ready <= closes), None)
            is_kept &= start is not None or not spec.windows
            now = (ready if start is None else start) + spec.service
            if spec.soft_close is not None:
                lateness += spec.lateness_cost * max(0, now - spec.service - spec.soft_close)
            metres += int(day.distances[0][place, spec.location])
            place, rests, setting_up = spec.location, [], False
        home = arrival(day, now, place, 0, rests)
        end = home or 0
        taken = any(stop.kind is StopKind.BREAK for stop in route.stops)
        off_duty = all(end <= r.window[1] or leaving >= r.window[0] + r.duration for r in driver.breaks)
        lasts = end - leaving
        is_kept &= home is not None and end <= driver.shift[1] + driver.overtime and (taken or off_duty)
        if is_kept and (driver.max_duration is None or lasts <= driver.max_duration):
            metres += int(day.distances[0][place, 0])
            hours = (driver.time_cost + day.span_cost) * lasts + driver.overtime_cost * max(0, end - driver.shift[1])
            yield driver.distance_cost * metres + hours + lateness


def arrival(day: Problem, now: int, origin: int, target: int, rests: list[Any]) -> int | None:
    """Return when a leg is over that is left at a moment, resting as soon as may be; None where that is too late."""
    left = int(day.durations[0][origin, target])
    for rest in rests:
        begun = max(now, rest.window[0])
        if begun > rest.window[1]:
            return None
        left = max(0, left - (begun - now))
        now = begun + rest.duration
    return now + left


@examples(400)
@given(drives())
def test_a_route_is_driven_at_the_hours_that_cost_least(case: tuple[Problem, Route]) -> None:
    """SPEC S1, S2: of all departures, with lateness, waiting, overtime and breaks; none that is possible is lost."""
    day, route = case
    candidate = Candidate((route,))
    plan = build_plan(day, candidate)
    least = min(costs(day, route), default=None)
    assert (verify(day, plan) == []) == (least is not None)
    if least is not None:
        missed = {entry.ticket_id for entry in plan.unassigned}
        assert price(day, candidate) - sum(spec.penalty for spec in day.tickets if spec.id in missed) == least


@st.composite
def rushed(draw: st.DrawFn) -> tuple[Problem, Route]:
    """Return a day with a rush, or quiet hours, of one agent whose hours are paid or limited, and a route."""
    driver = agent(shift_end=draw(st.integers(16, 36)), cost_per_hour=HOURLY * draw(few))
    if draw(st.booleans()):
        driver["max_duration_s"] = draw(st.integers(8, 18))
    if has_break := draw(st.booleans()):
        earliest = draw(st.integers(0, 20))
        driver["breaks"] = [{"earliest": earliest, "latest": earliest + draw(st.integers(0, 9)), "duration_s": 2}]
    tickets = []
    for name in "ab":
        fields: dict[str, Any] = {"service_time_s": draw(few)}
        if draw(st.booleans()):
            fields["time_windows"] = draw(windows())
        if draw(st.integers(0, 3)) == 0:
            fields |= {"soft_close": draw(st.integers(0, 20)), "lateness_cost_per_hour": HOURLY * draw(few)}
        tickets.append(ticket(name, draw(st.sampled_from("ABCE")), **fields))
    start = draw(st.integers(0, 18))
    period = {"start": start, "end": start + draw(st.integers(1, 9)), "factor": draw(st.sampled_from([0.5, 2, 3]))}
    travel = {"decimals": 0, "rush_hours": [period]}
    day = compile_scenario(Scenario.model_validate(body([driver], tickets, travel=travel)))
    stops = ["a", "b"][: draw(st.integers(1, 2))]
    if has_break and draw(st.booleans()):
        stops.insert(draw(st.integers(0, len(stops))), "break")
    return day, route_of(day, *stops)


def reached(day: Problem, gaps: list[tuple[int, int]], now: int, need: int) -> int:
    """Return when a leg is over that was driven in the gaps before its breaks and goes on now, hour by hour."""

    def speeds(hour: int) -> Fraction:
        return Fraction(
            1000, next((period.factor for period in day.travel_periods if period.start <= hour < period.end), 1000)
        )

    left = need - sum(speeds(hour) for since, until in gaps for hour in range(since, until))
    while left > 0:
        left, now = left - speeds(now), now + 1
    return now


def hourly_costs(day: Problem, route: Route) -> Iterator[int]:
    """Yield what hours and lateness cost for every departure, and every start of a break, that keeps all limits."""
    driver = day.agents[0]
    rests = any(stop.kind is StopKind.BREAK for stop in route.stops)

    def go(at: int, now: int, place: int, late: int, gaps: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        if at == len(route.stops):
            yield reached(day, gaps, now, int(day.durations[0][place, 0])), late
            return
        stop = route.stops[at]
        if stop.kind is StopKind.BREAK:
            rest = driver.breaks[stop.index]
            for begun in range(max(now, rest.window[0]), rest.window[1] + 1):
                yield from go(at + 1, begun + rest.duration, place, late, [*gaps, (now, begun)])
            return
        spec = day.tickets[stop.index]
        ready = reached(day, gaps, now, int(day.durations[0][place, spec.location]))
        start = next((max(ready, opens) for opens, closes in spec.windows if ready <= closes), None)
        if start is None and spec.windows:
            return
        start = ready if start is None else start
        over = 0 if spec.soft_close is None else max(0, start - spec.soft_close)
        yield from go(at + 1, start + spec.service, spec.location, late + spec.lateness_cost * over, [])

    for leaving in range(driver.shift[1]):
        for end, late in go(0, leaving, 0, 0, []):
            off_duty = all(end <= r.window[1] or leaving >= r.window[0] + r.duration for r in driver.breaks)
            is_short = driver.max_duration is None or end - leaving <= driver.max_duration
            if end <= driver.shift[1] and is_short and (rests or off_duty):
                yield driver.time_cost * (end - leaving) + late


@examples(300)
@given(rushed())
def test_in_rushes_too_a_route_is_driven_at_the_hours_that_cost_least(case: tuple[Problem, Route]) -> None:
    """SPEC S1, S2: of all departures and breaks, up to the unit that each leg is rounded up by."""
    day, route = case
    (driver,), candidate = day.agents, Candidate((route,))
    least, plan = min(hourly_costs(day, route), default=None), build_plan(day, candidate)
    is_proved = verify(day, plan) == []
    assert is_proved <= (least is not None)
    if driver.max_duration is not None:
        shorter = replace(driver, max_duration=driver.max_duration - len(route.stops) - 1)
        least = min(hourly_costs(replace(day, agents=(shorter,)), route), default=None)
    assert is_proved >= (least is not None)
    if least is not None:
        served = {stop.index for stop in route.stops if stop.kind is StopKind.TICKET}
        missed = sum(spec.penalty for index, spec in enumerate(day.tickets) if index not in served)
        metres = int(plan.distance_m) * driver.distance_cost
        assert price(day, candidate) - missed - metres <= least + driver.time_cost * (len(route.stops) + 1)


def test_a_break_waits_for_the_rush() -> None:
    """SPEC S1: an hour's drive before the rush, then the break while it lasts: in time. Resting first is too late."""
    driver = agent(breaks=[{"earliest": 8, "latest": 9, "duration_s": 1}], shift_start=8)
    period = {"decimals": 0, "rush_hours": [{"start": 9, "end": 10, "factor": 3}]}
    tickets = [ticket("a", "A", time_windows=[[8, 10]])]
    day = compile_scenario(Scenario.model_validate(body([driver], tickets, travel=period)))
    plan = build_plan(day, Candidate((route_of(day, "break", "a"),)))
    assert verify(day, plan) == []
    assert [(visit.start_s, visit.departure_s) for visit in plan.routes[0].visits] == [(9, 10), (10, 10)]


@pytest.mark.parametrize("driver", [{"max_duration_s": 13}, {"cost_per_hour": HOURLY}])
def test_a_route_leaves_when_a_later_leg_meets_the_end_of_the_rush(driver: dict[str, Any]) -> None:
    """SPEC S1, S2: half an hour earlier, or at an edge of the rush, it would be too long or dearer."""
    table = [[0, 2, 4], [2, 0, 3], [4, 3, 0]]
    hours = {"rush_hours": [{"start": 14, "end": 19, "factor": 2}]}
    tickets = [ticket("a", "A", service_time_s=3, time_windows=[[10, 15]]), ticket("b", "B")]
    travel = {"distances": table, "durations": table, **hours}
    places = [{"id": name} for name in "DAB"]
    day = [agent(shift_start=8, shift_end=40, **driver)]
    driving_time = compile_scenario(Scenario.model_validate(body(day, tickets, locations=places, travel=travel)))
    plan = build_plan(driving_time, Candidate((route_of(driving_time, "a", "b"),)))
    assert verify(driving_time, plan) == []
    assert (plan.routes[0].start_s, plan.routes[0].end_s) == (12, 25)


@st.composite
def paces(draw: st.DrawFn) -> tuple[TravelPeriod, ...]:
    """Return rushes of any factors, some with quiet hours between."""
    now, found = 0, []
    for gap, length, factor in draw(
        st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9), st.integers(100, 10_000)), min_size=1, max_size=12)
    ):
        found.append(TravelPeriod(now + gap, now + gap + length, factor))
        now = found[-1].end
    return tuple(found)


@given(paces(), st.integers(0, 40))
def test_many_moments_are_reckoned_in_64_bits_and_as_exactly_as_the_proof(
    travel_periods: tuple[TravelPeriod, ...], need: int
) -> None:
    """SPEC S1, S3: whatever the factors, though their common measure passes 64 bits; only absurd times need more."""
    speeds, hours = TravelSpeeds(travel_periods), range(160)
    assert speeds.is_small(10**9)
    assert not speeds.is_small(2**60)
    for numbers in (np.int64, object):
        moments = np.array(hours, dtype=numbers)
        arrivals, departures = speeds.arrivals(moments, need), speeds.departures(moments, need)
        assert {arrivals.dtype, departures.dtype} == {moments.dtype}
        assert arrivals.tolist() == [at + (driving_time(travel_periods, [(at, 10**6)], need) or 0) for at in hours]
        assert departures.tolist() == [speeds.departure(at, need * speeds.per_unit) for at in hours]


def test_a_rush_of_a_fractional_factor_is_computed_exactly() -> None:
    """SPEC S1: paces whose common measure passes 64 bits."""
    hours = [{"start": 10 * n + 5, "end": 10 * n + 9, "factor": 1.337 + 0.034 * n} for n in range(9)]
    travel = {"decimals": 0, "rush_hours": hours}
    orders = [ticket("a", "E", service_time_s=3), ticket("b", "B")]
    day = compile_scenario(Scenario.model_validate(body([agent(cost_per_hour=HOURLY)], orders, travel=travel)))
    assert TravelSpeeds(day.travel_periods).per_unit > 2**63
    plan = build_plan(day, Candidate((route_of(day, "a", "b"),)))
    assert verify(day, plan) == []
    assert plan.routes[0].end_s - plan.routes[0].start_s == 11


def test_a_little_lateness_is_borne_where_waiting_costs_more() -> None:
    """SPEC S1: at A from 0 on and late after 2, at B from 20 on; an hour late costs a tenth of an hour paid."""
    late = {"soft_close": 2, "lateness_cost_per_hour": HOURLY}
    tickets = [ticket("a", **late), ticket("b", "B", time_windows=[[20, 30]])]
    day = compile_scenario(Scenario.model_validate(body([agent(cost_per_hour=10 * HOURLY)], tickets)))
    (route,) = build_plan(day, Candidate((route_of(day, "a", "b"),))).routes
    assert (route.start_s, route.end_s, route.waiting_s, route.visits[0].late_s) == (18, 22, 0, 17)


def test_lateness_is_weighed_up_to_the_last_start_of_a_break() -> None:
    """SPEC S1: leaving at 7, when the break must begin at the latest, costs less than leaving sooner or after it."""
    table = [[0, 2, 4], [2, 0, 3], [4, 3, 0]]
    driver = agent(cost_per_hour=4 * HOURLY, breaks=[{"earliest": 0, "latest": 7, "duration_s": 3}])
    late = {"soft_close": 9, "lateness_cost_per_hour": HOURLY}
    tickets = [
        ticket("a", "A", time_windows=[[7, 13]], soft_close=9, lateness_cost_per_hour=3 * HOURLY),
        ticket("b", "B", time_windows=[[20, 20]], service_time_s=3, **late),
    ]
    places = [{"id": name} for name in "DAB"]
    travel = {"distances": table, "durations": table}
    day = compile_scenario(Scenario.model_validate(body([driver], tickets, locations=places, travel=travel)))
    (route,) = build_plan(day, Candidate((route_of(day, "break", "a", "b"),))).routes
    assert (route.start_s, route.end_s) == (7, 27)


def balanced(*routes: str, balance: float) -> list[tuple[float, float]]:
    """Return when each agent leaves and ends: first a ticket that is late after 2, then one at 20 in the same place."""
    late = {"soft_close": 2, "lateness_cost_per_hour": HOURLY}
    orders = []
    for name in routes:
        opens = 20 if name != "n" else 10
        orders += [ticket(f"{name}1", "A", **late), ticket(f"{name}2", "A", time_windows=[[opens, opens]])]
    drivers = [agent(name, cost_per_hour=0) for name in routes]
    options = {"balance_cost_per_hour": HOURLY * balance}
    day = compile_scenario(Scenario.model_validate(body(drivers, orders, options=options)))
    plan = build_plan(day, Candidate.of_tickets({n: [2 * n, 2 * n + 1] for n in range(len(routes))}))
    assert verify(day, plan) == []
    assert plan.cost == price(day, Candidate.of_tickets({n: [2 * n, 2 * n + 1] for n in range(len(routes))})) / (
        day.cost_scale
    )
    return [(route.start_s, route.end_s) for route in plan.routes]


def test_the_hours_of_the_longest_route_are_weighed_like_paid_ones() -> None:
    """SPEC S1 balance: alone at a hundredfold it leaves late; beside one of 10 hours it comes down to that."""
    assert balanced("v", balance=0) == [(1, 21)]
    assert balanced("v", balance=100) == [(19, 21)]
    assert balanced("v", "n", balance=3) == [(19, 21), (9, 11)]
    assert balanced("v", "n", balance=1.5) == [(11, 21), (1, 11)]


def test_routes_of_one_length_become_shorter_together() -> None:
    """SPEC S1 balance: neither alone would; a price below that of two hours of lateness changes nothing."""
    assert balanced("v", "w", balance=3) == [(19, 21), (19, 21)]
    assert balanced("v", "w", balance=1.5) == [(1, 21), (1, 21)]


@pytest.mark.parametrize("limit", [4, 20])
def test_a_soft_window_never_makes_a_route_too_long(limit: int) -> None:
    """SPEC S1: what is late at a price is not left out, even where leaving in time would be too long a day."""
    late = {"soft_close": 2, "lateness_cost_per_hour": HOURLY}
    tickets = [ticket("a", **late), ticket("b", "B", time_windows=[[20, 30]])]
    day = compile_scenario(Scenario.model_validate(body([agent(max_duration_s=limit)], tickets)))
    assert verify(day, build_plan(day, Candidate((route_of(day, "a", "b"),)))) == []


def test_a_break_left_out_is_rested_before_the_route_where_the_hours_allow() -> None:
    """SPEC S1: a break from 1 to 3 that no engine put on the route; leaving at 4 or later it lies outside."""
    driver = agent(breaks=[{"earliest": 1, "latest": 2, "duration_s": 3}])
    day = compile_scenario(Scenario.model_validate(body([driver], [ticket("a", "C")])))
    plan = build_plan(day, Candidate((route_of(day, "a"),)))
    assert verify(day, plan) == []
    assert plan.routes[0].start_s == 4


def test_a_paid_driver_waits_for_the_quiet_hours() -> None:
    """SPEC S1: hours in which travel takes half the time save what is paid by the hour."""
    driver = agent(cost_per_hour=HOURLY)
    quiet = {"decimals": 0, "rush_hours": [{"start": 20, "end": 40, "factor": 0.5}]}
    day = compile_scenario(Scenario.model_validate(body([driver], [ticket("a", "E")], travel=quiet)))
    (route,) = build_plan(day, Candidate((route_of(day, "a"),))).routes
    assert (route.start_s, route.end_s) == (20, 24)


def test_a_departure_before_a_rush_misses_no_window_for_a_break_on_the_way() -> None:
    """SPEC S1, S2: leaving at 4, the latest that ends no later, the break comes at once and the rush behind it."""
    driver = agent(breaks=[{"earliest": 2, "latest": 10, "duration_s": 4}])
    period = {"decimals": 0, "rush_hours": [{"start": 9, "end": 13, "factor": 2}]}
    tickets = [ticket("a", "B", time_windows=[[10, 10]])]
    day = compile_scenario(Scenario.model_validate(body([driver], tickets, travel=period)))
    assert verify(day, build_plan(day, Candidate((route_of(day, "break", "a"),)))) == []
