"""Which times are kept, and for how long."""

import gc
from weakref import ref

import pytest

from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation import timing_cache
from planner_mcp.routing.evaluation.departure_optimization import SpanPrice
from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.evaluation.route_schedule import RouteSchedule, schedule_route
from planner_mcp.routing.evaluation.timing_cache import CANDIDATES, cached_schedule
from planner_mcp.routing.problem import Candidate, Problem, Route
from tests.shared.scenarios.scenario_builders import agent, route, scenario, ticket


class Clock:
    """Times routes, and notes which."""

    def __init__(self) -> None:
        self.asked: list[Route] = []

    def __call__(self, problem: Problem, asked: Route, span: SpanPrice) -> RouteSchedule:
        self.asked.append(asked)
        return schedule_route(problem, asked, span)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(timing_cache, "schedule_route", clock)
    return clock


def test_what_was_priced_is_laid_out_without_timing_it_anew(clock: Clock) -> None:
    """SPEC S3: nor is what the next candidate shares with it; judging a plan must not outlast the time of a solve."""
    day = compile_scenario(scenario([agent("v", cost_per_hour=1), agent("w", cost_per_hour=1)]))
    one, other = Candidate.of_tickets({0: [0], 1: [1]}), Candidate.of_tickets({0: [0]})
    price(day, one)
    build_plan(day, one)
    price(day, other)
    price(day, Candidate.of_tickets({0: [0], 1: [1]}))
    assert clock.asked == list(one.routes)


def test_times_are_those_of_one_day_and_one_price_of_being_the_longest(clock: Clock) -> None:
    """SPEC S1: the same stops on another day, or where the longest route costs more, are timed for themselves."""
    late = {"soft_close": 2, "lateness_cost_per_hour": 1}
    orders = [ticket("a", "A", **late), ticket("b", "A", time_windows=[[20, 20]])]
    day = compile_scenario(scenario([agent()], orders, options={"balance_cost_per_hour": 100}))
    other = compile_scenario(scenario([agent(shift_start=5)], orders))
    drive = route(day, "a", "b")
    schedules = [
        cached_schedule(day, drive),
        cached_schedule(day, drive, SpanPrice(day.span_cost)),
        cached_schedule(other, drive),
    ]
    assert len({schedule.start for schedule in schedules}) == 3
    assert [cached_schedule(day, drive), cached_schedule(day, drive, SpanPrice(day.span_cost))] == schedules[:2]
    assert len(clock.asked) == 3


def test_times_nobody_asks_for_are_let_go(clock: Clock) -> None:
    """Our choice: a search asks for more routes than there is memory for; what is asked for again stays."""
    day = compile_scenario(scenario(tickets=[ticket(str(n)) for n in range(9 * CANDIDATES)]))
    for number in range(len(day.tickets)):
        cached_schedule(day, route(day, str(number)))
        cached_schedule(day, route(day, "0"))
    assert len(clock.asked) == len(day.tickets)
    cached_schedule(day, route(day, "1"))
    assert len(clock.asked) == len(day.tickets) + 1


def test_times_go_with_their_day() -> None:
    """Our choice: the tables of a large day are hundreds of megabytes."""
    day = compile_scenario(scenario())
    cached_schedule(day, route(day, "a"))
    known = ref(day)
    del day
    gc.collect()
    assert known() is None
