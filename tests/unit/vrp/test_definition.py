"""The verifier and the timing against a definition so plain that it tries every possible hour."""

from itertools import pairwise, product
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from planner_mcp.vrp.compile import compile_scenario
from planner_mcp.vrp.model import Scenario
from planner_mcp.vrp.problem import Candidate, Problem
from planner_mcp.vrp.schedule import lay_out
from planner_mcp.vrp.verify import verify

from .days import agent, body, ticket

HOURS = 14
"""Times 0 … 13; every window and shift of the days below lies within."""

small = st.integers(0, 4)
moment = st.integers(0, HOURS - 1)


@st.composite
def tickets(draw: st.DrawFn) -> list[dict[str, Any]]:
    found = []
    for name in "abc"[: draw(st.integers(1, 3))]:
        opens, closes = sorted((draw(moment), draw(moment)))
        fields = {
            "demand": draw(small),
            "service_time_s": draw(st.integers(0, 2)),
            "setup_time_s": draw(st.integers(0, 1)),
        }
        fields |= {"kind": draw(st.sampled_from(["delivery", "pickup"]))}
        if draw(st.booleans()):
            fields["time_windows"] = [[opens, closes]]
        if draw(st.integers(0, 4)) == 0:
            fields["release_time"] = draw(st.integers(0, 3))
        found.append(ticket(name, draw(st.sampled_from("ABC")), **fields))
    return found


@st.composite
def days(draw: st.DrawFn) -> tuple[Problem, list[int]]:
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
    # unchecked: a day nobody can serve would be refused at the door
    generous = body([agent(**fields)], names)
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
    leave = starts[0] - setups[0] - legs[0]
    free = [start + spec.service for start, spec in zip(starts, specs, strict=True)]
    reached = all(free[i - 1] + legs[i] + setups[i] <= starts[i] for i in range(1, len(specs)))
    windows = all(not s.windows or any(o <= t <= c for o, c in s.windows) for s, t in zip(specs, starts, strict=True))
    end = free[-1] + legs[-1]
    return (
        reached
        and windows
        and leave >= max([driver.shift[0], *(spec.release for spec in specs)])
        and end <= driver.shift[1]
        and (driver.max_duration is None or end - leave <= driver.max_duration)
        and (driver.max_distance is None or sum(legs) <= driver.max_distance)
    )


@settings(max_examples=300, deadline=None)
@given(days())
def test_a_route_is_proved_exactly_when_some_choice_of_hours_keeps_the_definition(
    case: tuple[Problem, list[int]],
) -> None:
    """SPEC S2: no plan is judged otherwise than by the definition; the canonical times lose no feasible route."""
    day, order = case
    plan = lay_out(day, Candidate.of_tickets({0: order}))
    assert (verify(day, plan) == []) == can_be_done(day, order)
