"""The day by the clock of what can be driven: whoever is in time by it is in time on the real one (SPEC S1)."""

from dataclasses import replace
from fractions import Fraction
from random import Random

from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.problem import BreakSpec, Candidate, Feature, Problem, TravelPeriod
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.property_tests.example_counts import example_count
from tests.shared.scenarios.random_problems import random_problem
from workers.engines.heuristics.reinsertion_search import with_unassigned_inserted
from workers.engines.time_dependent.time_rescaling import rescaled_problem

DAYS = example_count(150)
FACTORS = (500, 800, 1200, 1500, 1730, 2500)


def scenario_with_congestion(seed: int) -> Problem:
    """Return a random mixture of features with one to four rushes or quiet hours."""
    draw, moment, travel_periods = Random(seed), 0, []
    for _ in range(draw.randint(1, 4)):
        moment += draw.choice((0, 0, 50, 200))
        travel_periods.append(TravelPeriod(moment, moment := moment + draw.randint(20, 300), draw.choice(FACTORS)))
    problem = random_problem(seed, tickets=draw.randint(1, 8))
    return replace(problem, travel_periods=tuple(travel_periods), features=problem.features | {Feature.RUSH_HOURS})


def test_what_holds_by_the_clock_of_what_can_be_driven_holds_on_the_day() -> None:
    """SPEC S1, S2: whatever the features and the hours; a plan made there needs no mending."""
    visits = 0
    for seed in range(DAYS):
        problem = scenario_with_congestion(seed)
        day = rescaled_problem(problem)
        plan = with_unassigned_inserted(day, Candidate(()), lambda: False)
        if verify(day, build_plan(day, plan)) == []:
            assert verify(problem, build_plan(problem, plan)) == [], seed
            visits += sum(len(route.tickets) for route in plan.routes)
    assert visits > 2 * DAYS


def test_by_that_clock_a_rush_is_short_and_a_service_in_it_too() -> None:
    """SPEC S1: a rush of 250 that counts 100; legs keep their length but for the unit an arrival is rounded by."""
    problem = random_problem(1, tickets=4, features=frozenset({Feature.TIME_WINDOWS}))
    rest = BreakSpec((300, 320), 30)
    agents = tuple(
        replace(agent, shift=(0, 1000), max_duration=500, time_cost=85, breaks=(rest,)) for agent in problem.agents
    )
    windows: list[tuple[tuple[int, int], ...]] = [(), ((100, 200),), ((0, 90), (340, 400)), ((310, 310),)]
    tickets = tuple(
        replace(ticket, windows=open_at, service=20) for ticket, open_at in zip(problem.tickets, windows, strict=True)
    )
    problem = replace(problem, agents=agents, tickets=tickets, travel_periods=(TravelPeriod(100, 350, 2500),))
    day = rescaled_problem(problem)
    assert [ticket.windows for ticket in day.tickets] == [(), ((100, 140),), ((0, 90), (196, 250)), ((184, 184),)]
    assert [ticket.service for ticket in day.tickets] == [20, 8, 20, 8]
    agent = day.agents[0]
    assert (agent.shift, agent.max_duration, agent.time_cost) == ((0, 850), 350, 100)
    assert agent.breaks == (BreakSpec((180, 188), 12),)
    assert set((day.durations[0] - problem.durations[0]).flat) == {0, 1}
    scaled = rescaled_problem(problem, Fraction(1, 3))
    assert (scaled.agents[0].shift, scaled.tickets[1].service) == ((0, 916), 20)
