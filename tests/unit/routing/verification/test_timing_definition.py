"""The verifier and the timing against a definition so plain that it tries every possible hour."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.evaluation.time_dependent_travel import TravelSpeeds, at_worst_case_speeds
from planner_mcp.routing.problem import Candidate, Problem
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.property_tests.example_counts import examples
from tests.shared.scenarios.scenario_builders import agent, body, ticket

HOURS = 14
"""Times 0 … 13; every window and shift of the days below lies within."""

small = st.integers(0, 4)
moment = st.integers(0, HOURS - 1)


@st.composite
def tickets(draw: st.DrawFn) -> list[dict[str, Any]]:
    found = []
    for name in "abc"[: draw(st.integers(1, 3))]:
        fields = {
            "demand": draw(small),
            "service_time_s": draw(st.integers(0, 2)),
            "setup_time_s": draw(st.integers(0, 1)),
        }
        fields |= {"kind": draw(st.sampled_from(["delivery", "pickup"]))}
        if draw(st.booleans()):
            times = sorted(draw(st.sets(moment, min_size=4, max_size=4)))
            fields["time_windows"] = [times[:2], times[2:]][: draw(st.integers(1, 2))]
        if draw(st.integers(0, 4)) == 0:
            fields["release_time"] = draw(st.integers(0, 3))
        found.append(ticket(name, draw(st.sampled_from("ABC")), **fields))
    return found


@st.composite
def travel_periods(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Return up to two rushes, some of them in fact quieter hours."""
    edges = sorted(draw(st.sets(moment, min_size=4, max_size=4)))
    speeds = st.sampled_from([0.5, 0.7, 1.4, 2, 3])
    found = [{"start": a, "end": b, "factor": draw(speeds)} for a, b in (edges[:2], edges[2:])]
    return found[: draw(st.integers(1, 2))]


@st.composite
def days(draw: st.DrawFn, with_rushes: bool = False) -> tuple[Problem, list[int]]:
    start, end = sorted((draw(moment), draw(moment)))
    fields: dict[str, Any] = {"capacity": draw(st.integers(4, 8)), "shift_start": start, "shift_end": end}
    if draw(st.booleans()):
        fields["max_duration_s"] = draw(st.integers(2, 10))
    if draw(st.booleans()):
        fields["max_distance_m"] = draw(st.integers(2, 8))
    if draw(st.booleans()):
        fields["end_location"] = None
    if draw(st.integers(0, 3)) == 0:
        fields["start_location"] = None
    names = draw(tickets())
    # unchecked: a day nobody can serve would be refused before it is planned
    generous = body([agent(**fields)], names)
    if with_rushes:
        generous["travel"] = {**generous["travel"], "rush_hours": draw(travel_periods())}
    day = compile_scenario(_unchecked(generous))
    return day, draw(st.permutations(range(len(names))))


def _unchecked(day: dict[str, Any]) -> Scenario:
    return Scenario.model_validate(day)


def can_be_done(day: Problem, order: list[int]) -> bool:
    """Return whether some choice of hours keeps every word of the model."""
    return _fits(day, order) and any(_holds(day, order, starts) for starts in product(range(HOURS), repeat=len(order)))


def _fits(day: Problem, order: list[int]) -> bool:
    specs = [day.tickets[index] for index in order]
    moments = range(len(specs) + 1)
    loads = [
        sum(s.demand[0] for i, s in enumerate(specs) if (i >= at if s.load == "delivery" else i < at)) for at in moments
    ]
    return max(loads) <= day.agents[0].capacity[0]


def _holds(day: Problem, order: list[int], starts: tuple[int, ...]) -> bool:
    driver, specs = day.agents[0], [day.tickets[index] for index in order]
    where = [driver.start, *(spec.location for spec in specs), driver.end]
    legs = [0 if a is None or b is None else int(day.durations[0][a, b]) for a, b in pairwise(where)]
    setups = [s.setup if i == 0 or s.location != specs[i - 1].location else 0 for i, s in enumerate(specs)]
    drive = _clock(day)
    leave = next((t for t in range(starts[0], -1, -1) if drive(t, legs[0]) + setups[0] <= starts[0]), -1)
    free = [start + spec.service for start, spec in zip(starts, specs, strict=True)]
    reached = all(drive(free[i - 1], legs[i]) + setups[i] <= starts[i] for i in range(1, len(specs)))
    windows = all(not s.windows or any(o <= t <= c for o, c in s.windows) for s, t in zip(specs, starts, strict=True))
    end = drive(free[-1], legs[-1])
    return (
        reached
        and windows
        and leave >= max([driver.shift[0], *(spec.release for spec in specs)])
        and end <= driver.shift[1]
        and (driver.max_duration is None or end - leave <= driver.max_duration)
        and (driver.max_distance is None or sum(legs) <= driver.max_distance)
    )


def _clock(day: Problem) -> Callable[[int, int], int]:
    """Return the arrival after leaving at a moment, found by driving hour by hour."""

    @cache
    def drive(leaving: int, duration: int) -> int:
        done, now = Fraction(0), leaving
        while done < duration:
            done += Fraction(1000, next((r.factor for r in day.travel_periods if r.start <= now < r.end), 1000))
            now += 1
        return now

    return drive


@examples(300)
@given(days())
def test_a_route_is_proved_exactly_when_some_choice_of_hours_keeps_the_definition(
    case: tuple[Problem, list[int]],
) -> None:
    """SPEC S2: no plan is judged otherwise than by the definition; the canonical times lose no feasible route."""
    day, order = case
    plan = build_plan(day, Candidate.of_tickets({0: order}))
    assert (verify(day, plan) == []) == can_be_done(day, order)


@examples(120)
@given(days(with_rushes=True))
def test_in_rushes_too_no_plan_is_checked_otherwise_than_by_the_definition(case: tuple[Problem, list[int]]) -> None:
    """SPEC S1, S2: travel that depends on the hour; no feasible route is lost either, but for what legs are rounded."""
    day, order = case
    (driver,) = day.agents
    plan = build_plan(day, Candidate.of_tickets({0: order}))
    is_proved = verify(day, plan) == []
    if driver.max_duration is None:
        assert is_proved == can_be_done(day, order)
    else:
        shorter = replace(driver, max_duration=driver.max_duration - len(order) - 1)
        assert can_be_done(replace(day, agents=(shorter,)), order) <= is_proved <= can_be_done(day, order)


@examples(120)
@given(days(with_rushes=True))
def test_what_can_be_driven_at_the_slowest_pace_can_be_driven_on_the_day(case: tuple[Problem, list[int]]) -> None:
    """SPEC S1: engines plan with the slowest pace of each shift; that is safe, whatever the hour."""
    day, order = case
    slow = at_worst_case_speeds(day)
    assert slow.travel_periods == ()
    if can_be_done(slow, order):
        assert can_be_done(day, order)


@given(travel_periods(), st.integers(0, 20), st.integers(0, 20), st.integers(0, 20))
def test_whoever_leaves_later_never_arrives_earlier(
    hours: list[dict[str, Any]], leaving: int, later: int, duration: int
) -> None:
    """SPEC S1: first in, first out; and the clock run backwards finds the last departure."""
    day = compile_scenario(_unchecked(body(travel={"decimals": 0, "rush_hours": hours})))
    speeds = TravelSpeeds(day.travel_periods)
    work = duration * speeds.per_unit
    arrival = speeds.arrival(leaving, work)
    assert arrival == _clock(day)(leaving, duration)
    assert arrival <= speeds.arrival(leaving + later, work)
    last = speeds.departure(arrival, work)
    assert last >= leaving
    assert speeds.arrival(last, work) <= arrival
    assert work == 0 or speeds.arrival(last + 1, work) > arrival
