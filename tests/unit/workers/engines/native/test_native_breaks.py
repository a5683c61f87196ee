"""Breaks in the native engine: before, on and after the way, against a definition that tries every place for one."""

from collections.abc import Iterator
from itertools import permutations
from random import Random
from typing import Any

import pytest

from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.problem import Problem, Route, Stop, StopKind
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.engines.native_search import native_plan, needs_native, searched
from tests.shared.scenarios.scenario_builders import agent, body, problem, ticket
from tests.unit.routing.evaluation.test_departure_optimization import HOURLY, costs

pytestmark = needs_native


def rest(earliest: int, latest: int, duration_s: int) -> dict[str, int]:
    return {"earliest": earliest, "latest": latest, "duration_s": duration_s}


def planned(day: Problem) -> Plan:
    plan = build_plan(day, native_plan(day))
    assert verify(day, plan) == []
    assert plan.tickets_served == plan.tickets_total
    return plan


def test_a_break_that_began_before_the_shift_is_rested_first() -> None:
    """SPEC S1: on duty from 6, a break from 4 to 6 on for 4; it is over at 8, and so is the wait."""
    day = problem([agent(shift_start=6, shift_end=30, breaks=[rest(4, 6, 4)])], [ticket("e", "E")])
    assert planned(day).routes[0].start_s == 8


def test_two_breaks_at_the_same_hours_are_rested_before_leaving() -> None:
    """SPEC S1: nobody can take both on the way; who leaves at 12 has both behind."""
    late = ticket("e", "E", time_windows=[[14, 34]])
    day = problem([agent(shift_end=40, breaks=[rest(3, 11, 6), rest(6, 7, 6)])], [late])
    assert planned(day).routes[0].start_s >= 12


def test_a_break_that_can_wait_lets_another_pass() -> None:
    """SPEC S1: the first to open may wait for the end of the route, the other has to be taken."""
    tickets = [ticket("b", "B", time_windows=[[22, 24]]), ticket("a", "A", time_windows=[[31, 32]])]
    planned(problem([agent(shift_end=34, breaks=[rest(23, 40, 6), rest(25, 28, 4)])], tickets))


def test_a_break_taken_first_does_not_make_another_be_missed() -> None:
    """SPEC S1: home at 22 one break need not be taken; the other has to be, and then it is 24."""
    tickets = [ticket("e", "E", service_time_s=4, time_windows=[[14, 14]])]
    planned(problem([agent(shift_start=10, shift_end=27, breaks=[rest(11, 22, 3), rest(12, 21, 2)])], tickets))


def test_no_break_is_put_off_into_a_service() -> None:
    """SPEC S1: it has to begin at 16, when the service of the only ticket would not be over."""
    tickets = [ticket("a", "A", service_time_s=3, time_windows=[[15, 20]])]
    planned(problem([agent(shift_end=21, breaks=[rest(16, 16, 1)])], tickets))


def test_waiting_makes_up_for_part_of_a_break() -> None:
    """SPEC S1: a break of 4 in front of a window that opens 3 later costs 1, on the way home it would cost 4."""
    tickets = [ticket("e", "E", time_windows=[[20, 30]])]
    planned(problem([agent(shift_start=13, shift_end=26, breaks=[rest(17, 23, 4)])], tickets))


def test_a_break_is_not_paid_where_it_can_be_rested_at_home() -> None:
    """SPEC S1: it fits into the wait in front of a ticket; who leaves later needs no break and no wait."""
    driver = agent(cost_per_hour=HOURLY, shift_end=40, breaks=[rest(10, 35, 2)])
    plan = planned(problem([driver], [ticket("e", "E", time_windows=[[29, 30]])]))
    assert plan.duration_s == 8


def test_who_stays_at_home_may_have_any_hours() -> None:
    """SPEC S1: the way from start to end is longer than the shift of one agent; another does the work."""
    idle = agent("idle", start_location="D", end_location="E", shift_end=2)
    planned(problem([idle, agent("v")], [ticket("e", "E")]))


def random_drive(seed: int) -> Problem:
    """Return a day of one agent with a break and up to three tickets; half of the days pay hours."""
    draw = Random(seed)

    def window() -> list[int]:
        opens = draw.randint(0, 25)
        return [opens, opens + draw.randint(0, 15)]

    def ticket_of(name: str) -> dict[str, Any]:
        windows = {"time_windows": [window()]} if draw.random() < 0.5 else {}
        return ticket(name, draw.choice("ABCE"), service_time_s=draw.randint(0, 4), **windows)

    hours = {"cost_per_hour": HOURLY * draw.randint(1, 3)} if draw.random() < 0.5 else {}
    begins = draw.randint(0, 8)
    driver = agent(
        shift_start=begins,
        shift_end=begins + draw.randint(15, 40),
        breaks=[rest(*window(), draw.randint(1, 6))],
        **hours,
    )
    tickets = [ticket_of(name) for name in "abc"[: draw.randint(1, 3)]]
    return compile_scenario(Scenario.model_validate(body([driver], tickets)))


def routes(day: Problem) -> Iterator[Route]:
    """Yield every route that serves all tickets, with the break anywhere or nowhere on it."""
    for order in permutations(range(len(day.tickets))):
        stops = [Stop(StopKind.TICKET, index) for index in order]
        yield Route(0, tuple(stops))
        for at in range(len(stops) + 1 if day.agents[0].breaks else 0):  # one before the shift is left out
            yield Route(0, (*stops[:at], Stop(StopKind.BREAK, 0), *stops[at:]))


@pytest.mark.slow
def test_breaks_cost_as_little_as_they_can() -> None:
    """SPEC S2: small days with breaks are planned at the least price there is, and whole where that is possible."""
    tried = 0
    for seed in range(150):
        day = random_drive(seed)
        least = min((cost for route in routes(day) for cost in costs(day, route)), default=None)
        if least is None:
            continue
        best = searched(day)
        assert best is not None, f"seed {seed}"
        assert verify(day, build_plan(day, best)) == [], f"seed {seed}"
        assert price(day, best) == least, f"seed {seed}"
        tried += 1
    assert tried > 50
