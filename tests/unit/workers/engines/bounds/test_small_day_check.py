"""The check of small days with all rules, against the best of all plans."""

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.plan import PlanStatus
from planner_mcp.routing.problem import Candidate, Feature, GroupKind, GroupSpec, Problem, TravelPeriod
from planner_mcp.routing.verification.optimality_check import OptimalityCertificate, RowPrices
from planner_mcp.routing.verification.small_day_check import proves_small_day
from planner_mcp.routing.verification.small_day_tables import SmallDayTables
from tests.shared.engines.native_search import needs_native
from tests.shared.scenarios.plan_enumeration import cheapest
from tests.shared.scenarios.random_problems import random_problem
from workers.engines.bounds.column_generation import ColumnGeneration
from workers.engines.bounds.day_enumeration import DayEnumeration
from workers.engines.bounds.native_listing import small_day_lister
from workers.engines.bounds.relaxed_networks import relaxed_problem

pytestmark = needs_native
TIMES = frozenset({Feature.TIME_WINDOWS, Feature.TIME_COST, Feature.PICKUPS})
DAYS = 4


def certificate_of(day: Problem) -> OptimalityCertificate:
    """Return one that proves nothing by itself: no prices, and the claim that no route costs less than nothing."""
    prices = RowPrices((0,) * len(day.tickets), (0,) * len(day.groups))
    return OptimalityCertificate(1, prices, (0,) * len(day.agents), np.eye(len(day.tickets), dtype=bool))


def is_proved(day: Problem, cost: int, certificate: OptimalityCertificate | None = None) -> bool:
    lister = small_day_lister(time.monotonic() + 20)
    return proves_small_day(day, certificate or certificate_of(day), cost, lister)


def enumeration_of(day: Problem, target: int) -> DayEnumeration:
    relaxed, ends = relaxed_problem(day), time.monotonic() + 20
    assert relaxed is not None
    generation = ColumnGeneration(relaxed, Candidate(()), 10**6, deadline=ends)
    generation.run()
    assert generation.best is not None
    return DayEnumeration(relaxed, generation.best, target, ends)


def days_with(*features: Feature) -> Iterator[tuple[Problem, int]]:
    """Yield days of three tickets with features and the cost of their best plan, which serves every wanted ticket."""
    found = 0
    for seed in range(400, 600):
        day = random_problem(seed, tickets=3, features=TIMES | frozenset(features))
        day = replace(day, agents=tuple(replace(each, max_reloads=min(1, each.max_reloads)) for each in day.agents))
        best = cheapest(day)
        if build_plan(day, best).status is PlanStatus.FEASIBLE:
            yield day, price(day, best)
            found += 1
        if found == DAYS:
            return


@pytest.mark.parametrize(
    "features",
    [
        (Feature.RELOAD,),
        (Feature.RELOAD, Feature.RELEASE),
        (Feature.RELOAD, Feature.SHIPMENTS),
        (Feature.RELOAD, Feature.BACKHAUL, Feature.SETUP),
        (Feature.BALANCE,),
        (Feature.BALANCE, Feature.SOFT_WINDOWS),
        (Feature.BREAKS,),
        (Feature.BREAKS, Feature.SHIFTS, Feature.OVERTIME),
        (Feature.MAX_DURATION, Feature.SOFT_WINDOWS, Feature.MULTI_WINDOWS),
        (Feature.RELEASE, Feature.SOFT_WINDOWS),
        (Feature.LOCKS, Feature.HETEROGENEOUS),
        (Feature.OPTIONAL, Feature.PREFERENCES, Feature.SKILLS),
        (Feature.MAX_DISTANCE, Feature.MAX_STOPS, Feature.OPEN_ROUTES),
        (Feature.INCOMPATIBLE, Feature.MULTI_CAPACITY, Feature.PROFILES),
    ],
)
def test_the_best_cost_is_proved_and_no_higher_one(features: tuple[Feature, ...]) -> None:
    """SPEC S2: for each rule, without the help of prices; what refutes a claim is refused."""
    days = list(days_with(*features))
    assert len(days) == DAYS
    for day, cost in days:
        assert is_proved(day, cost)
        assert not is_proved(day, cost + 1)
        certificate = certificate_of(day)
        high = RowPrices((10**6,) * len(day.tickets), certificate.prices.groups)
        assert not is_proved(day, cost, replace(certificate, prices=high))


@pytest.mark.parametrize("features", [(), (Feature.RELEASE,), (Feature.SHIPMENTS,), (Feature.BALANCE,)])
def test_a_reload_makes_room_for_the_next_trip(features: tuple[Feature, ...]) -> None:
    """SPEC S2: one agent cannot carry everything at once, and the best plan reloads."""
    found = 0
    for seed in range(400, 700):
        day = random_problem(seed, tickets=3, features=frozenset({Feature.RELOAD, *features}))
        day = replace(day, agents=tuple(replace(each, capacity=(10,)) for each in day.agents[:1]))
        best = cheapest(day)
        if build_plan(day, best).status is not PlanStatus.FEASIBLE or not best.routes[0].reloads:
            continue
        assert is_proved(day, price(day, best)), seed
        assert not is_proved(day, price(day, best) + 1), seed
        enumerated = enumeration_of(day, price(day, best) + 1).prove()
        assert enumerated is not None and enumerated.bound == price(day, best), seed
        if (found := found + 1) == DAYS:
            return
    pytest.fail("too few days need a reload")


def test_groups_of_all_or_none_are_served_whole() -> None:
    """SPEC S2: the best plan leaves out all three, of which it could serve each by itself, or serves them all."""
    for day, _ in days_with(Feature.OPTIONAL):
        grouped = replace(day, groups=(GroupSpec(GroupKind.ALL, (0, 1, 2)),))
        best = cheapest(grouped)
        assert is_proved(grouped, price(grouped, best))
        assert not is_proved(grouped, price(grouped, best) + 1)


def test_a_used_agent_serves_its_least_load() -> None:
    """SPEC S2: with less than that no route is listed."""
    for day, _ in days_with(Feature.OPTIONAL):
        least = sum(ticket.demand[0] for ticket in day.tickets) // 2
        loaded = replace(day, agents=tuple(replace(each, min_load=(least,)) for each in day.agents))
        best = cheapest(loaded)
        if build_plan(loaded, best).status is PlanStatus.FEASIBLE:
            assert is_proved(loaded, price(loaded, best))
            assert not is_proved(loaded, price(loaded, best) + 1)


def test_rush_hours_are_taken_for_the_best_hour() -> None:
    """SPEC S2: so that nothing above the best cost is proved."""
    for day, _ in days_with(Feature.BREAKS):
        rushed = replace(day, travel_periods=(TravelPeriod(0, 300, 2000), TravelPeriod(500, 700, 800)))
        best = cheapest(rushed)
        if build_plan(rushed, best).status is PlanStatus.FEASIBLE:
            assert not is_proved(rushed, price(rushed, best) + 1)


def test_a_listing_that_gives_up_proves_nothing() -> None:
    """SPEC S2: a check that had no time or memory does not agree."""
    day, cost = next(days_with(Feature.RELOAD))

    def give_up(_: SmallDayTables, __: int) -> None:
        return None

    assert not proves_small_day(day, certificate_of(day), cost, give_up)


def test_a_listing_without_time_ends() -> None:
    """SPEC J6: and does not pretend to be whole."""
    day = random_problem(7, tickets=12, features=frozenset({Feature.TIME_COST}))
    day = replace(day, agents=tuple(replace(each, capacity=(10**6,)) for each in day.agents))
    lister = small_day_lister(time.monotonic())
    assert not proves_small_day(day, certificate_of(day), 10**6, lister)


def test_costs_beyond_the_range_of_integers_are_not_proved() -> None:
    """SPEC S2: no sum may overflow."""
    day, cost = next(days_with(Feature.RELOAD))
    assert not is_proved(day, cost, replace(certificate_of(day), factor=2**57))
