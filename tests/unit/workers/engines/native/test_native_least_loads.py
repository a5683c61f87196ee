"""Least loads in the native engine: a route serves enough or is not driven, whatever else the day has."""

import time
from dataclasses import replace

import pytest

from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.problem import Candidate, Feature, Problem
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.engines.native_search import native_plan, needs_native
from tests.shared.scenarios.plan_enumeration import cheapest
from tests.shared.scenarios.random_problems import random_problem
from tests.shared.scenarios.seeded_fleet import fleet
from workers.engines.engine_interface import SearchLimits
from workers.engines.native import native_arrays
from workers.engines.native.sisr_engine import SisrEngine
from workers.engines.selection import engine_registry

pytestmark = needs_native

DAYS = (
    (),
    (Feature.HETEROGENEOUS, Feature.MULTI_CAPACITY),
    (Feature.SHIPMENTS, Feature.PICKUPS),
    (Feature.TIME_WINDOWS, Feature.RELEASE),
    (Feature.TIME_COST, Feature.SKILLS),
    (Feature.GROUPS, Feature.BALANCE),
)


def loaded(problem: Problem, *least: int) -> Problem:
    """Return a day whose agents serve at least so much, or nothing; several amounts belong to the agents in turn."""
    agents = tuple(
        replace(agent, min_load=(least[number % len(least)],) * len(agent.capacity))
        for number, agent in enumerate(problem.agents)
    )
    return replace(problem, agents=agents, features=problem.features | {Feature.MIN_LOAD})


@pytest.mark.parametrize("features", DAYS, ids="+".join)
def test_small_days_with_least_loads_are_planned_as_cheaply_as_can_be(features: tuple[Feature, ...]) -> None:
    """SPEC S1, S2: no plan of all that the verifier accepts costs less."""
    for seed in range(6):
        day = random_problem(seed, tickets=4, features=frozenset({Feature.MIN_LOAD, *features}))
        day = replace(day, agents=day.agents[:2])
        assert price(day, native_plan(day, 500)) == price(day, cheapest(day)), f"seed {seed}"


def test_routes_are_filled_rather_than_given_up() -> None:
    """SPEC S1, S2: with releases, which this engine alone knows beside least loads, nobody is left out."""
    base = fleet(30)
    tickets = tuple(replace(ticket, release=40 * (number % 3)) for number, ticket in enumerate(base.tickets))
    day = loaded(replace(base, tickets=tickets, features=base.features | {Feature.RELEASE}), 70, 95)
    best = native_plan(day, 20_000)
    assert verify(day, build_plan(day, best)) == []
    assert len(best.tickets) == 30


def test_a_day_on_which_no_route_reaches_its_least_load_has_a_plan_without_routes() -> None:
    """SPEC S1, S2: it leaves all tickets out; without a plan the job would fail."""
    assert native_plan(loaded(fleet(30), 10**6), 100) == Candidate(())


@pytest.mark.parametrize("seed", [150, 198])
def test_a_group_is_served_as_a_whole_where_one_of_its_routes_cannot_be_filled(seed: int) -> None:
    """SPEC S1, S2: the rest of the day is planned; plans without the routes that serve too little split the group."""
    day = random_problem(seed, tickets=10, features=frozenset({Feature.MIN_LOAD, Feature.GROUPS}))
    assert verify(day, build_plan(day, native_plan(day, 200))) == []


@pytest.mark.parametrize("left_s", [0, 30])
def test_a_second_search_has_time_left(left_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S1, S2: short routes are filled, then given up, unless the time is over once there is a plan."""
    given_up: list[bool] = []
    arrays = native_arrays.Arrays

    def noted(problem: Problem, *, drops_short_routes: bool) -> native_arrays.Arrays:
        given_up.append(drops_short_routes)
        return arrays(problem, drops_short_routes=drops_short_routes)

    monkeypatch.setattr(native_arrays, "Arrays", noted)
    limits = SearchLimits(time.monotonic() + left_s)
    SisrEngine(max_iterations=10).solve(loaded(fleet(20), 30), limits, lambda _: None, lambda: False)
    assert given_up == [False, True][: 1 + (left_s > 0)]


def test_least_loads_do_not_keep_auto_from_its_strongest_engine() -> None:
    """SPEC S1, S2: the native engine takes part, and what it alone knows is no reason to refuse the day."""
    problem = loaded(fleet(20), 30)
    found: list[Candidate] = []
    engine = engine_registry.choose(problem)
    outcome = engine.solve(problem, SearchLimits(time.monotonic() + 0.3), found.append, lambda: False)
    assert outcome.best is not None and outcome.best.found_by == ("sisr",)
    assert all(verify(problem, build_plan(problem, each)) == [] for each in found)
    assert engine_registry.choose(replace(problem, features=problem.features | {Feature.RELOAD})).name == "auto"


def test_a_route_with_locked_visits_is_filled() -> None:
    """SPEC S1, S2: it cannot be given up, so what fills it comes first, whatever it costs."""
    day = random_problem(7, tickets=4, features=frozenset({Feature.LOCKS}))
    day = loaded(replace(day, agents=(replace(day.agents[0], locked=(0,)),)), 9)
    assert price(day, native_plan(day, 100)) == price(day, cheapest(day))
