"""The check of proofs against every order of the tickets, above all on days with shipments."""

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest

from planner_mcp.routing.evaluation.plan_builder import build_plan, operating_cost
from planner_mcp.routing.problem import Candidate, Feature, Problem
from planner_mcp.routing.verification.optimality_check import (
    AgentTables,
    OptimalityCertificate,
    ProofNode,
    RouteLister,
    RowPrices,
    SubsetCut,
    proves,
)
from planner_mcp.routing.verification.plan_verification import verify
from planner_mcp.routing.verification.proof_rows import kinds_of
from tests.shared.engines.native_search import needs_native
from tests.shared.scenarios.random_problems import WANTED, random_problem
from tests.shared.scenarios.scenario_builders import by_table, compiled, ticket
from workers.engines.bounds.native_listing import route_lister

pytestmark = needs_native
Costs = dict[frozenset[int], int]
"""Of each set of tickets the least cost of a route that serves just these."""
KEPT = (
    *(Feature.MULTI_CAPACITY, Feature.TIME_WINDOWS, Feature.SETUP, Feature.HETEROGENEOUS, Feature.TIME_COST),
    *(Feature.MULTI_DEPOT, Feature.OPEN_ROUTES, Feature.SHIFTS, Feature.OVERTIME, Feature.MAX_DISTANCE),
    *(Feature.MAX_DURATION, Feature.MAX_STOPS, Feature.SKILLS, Feature.PICKUPS, Feature.OPTIONAL),
    *(Feature.PREFERENCES, Feature.PROFILES),
)
"""Features that the listing keeps without exception."""
RELAXED = (
    *(Feature.MULTI_WINDOWS, Feature.SOFT_WINDOWS, Feature.RELEASE, Feature.INCOMPATIBLE, Feature.LOCKS),
    Feature.MIN_LOAD,
)
"""Features of which it ignores a part, so that a route may cost less there."""


def shipment_day(seed: int, tickets: int, *, is_exact: bool) -> Problem:
    """Return a day with shipments and a few other features."""
    dice = np.random.default_rng(seed)
    drawn = [each for each in (KEPT if is_exact else KEPT + RELAXED) if dice.random() < 0.3]
    return random_problem(seed, tickets=tickets, features=frozenset({Feature.SHIPMENTS, *drawn}))


def orders(day: Problem) -> Iterator[tuple[int, ...]]:
    """Yield every order of tickets that has both halves of each of its shipments, the pickup first."""
    numbers = range(len(day.tickets))
    for served in (set(each) for size in numbers for each in combinations(numbers, size + 1)):
        if all(day.partner_of.get(each, each) in served for each in served):
            halves = [(day.tickets[each].pickup, each) for each in served if day.tickets[each].pickup is not None]
            for order in permutations(served):
                if all(order.index(pickup) < order.index(delivery) for pickup, delivery in halves):
                    yield order


def least_costs(day: Problem, agent: int) -> Costs:
    """Return what an agent's routes cost at least, by the evaluation and the verifier."""
    found: Costs = {}
    held = {each for number, spec in enumerate(day.agents) if number != agent for each in spec.locked}
    day = replace(day, agents=tuple(s if n == agent else replace(s, locked=()) for n, s in enumerate(day.agents)))
    for order in orders(day):
        if not held.isdisjoint(order):
            continue
        plan = Candidate.of_tickets({agent: list(order)})
        cost, served = operating_cost(day, plan), frozenset(order)
        if cost < found.get(served, WANTED) and not verify(day, build_plan(day, plan)):
            found[served] = cost
    return found


def best_cost(day: Problem, routes: list[Costs]) -> int:
    """Return the cost of the best plan, with `WANTED` or more where it leaves a wanted ticket out."""
    best: Costs = {frozenset(): 0}
    for spec, own in zip(day.agents, routes, strict=True):
        longer = {} if spec.locked else dict(best)
        for served, cost in own.items():
            for before, spent in best.items():
                if not before & served:
                    longer[before | served] = min(spent + cost, longer.get(before | served, 2 * WANTED))
        best = longer
    penalties = [each.penalty for each in day.tickets]
    totals = (cost + sum(penalties) - sum(penalties[each] for each in served) for served, cost in best.items())
    return min(totals, default=WANTED)


def certificate_of(day: Problem, dice: np.random.Generator) -> OptimalityCertificate:
    """Return one of arbitrary prices and memory, and the claim that no reduced cost is below 0."""
    count = len(day.tickets)
    prices = RowPrices(tuple(dice.integers(0, 120, count).tolist()), ())
    memory = np.eye(count, dtype=bool) | (dice.random((count, count)) < 0.4)
    return OptimalityCertificate(1, prices, (0,) * len(day.agents), memory)


def lister() -> RouteLister:
    return route_lister(time.monotonic() + 20)


def tables_of(day: Problem, certificate: OptimalityCertificate) -> list[AgentTables]:
    """Return the tables of each kind of agents."""
    found: list[AgentTables] = []

    def keep(tables: AgentTables, _: int) -> list[tuple[int, int, tuple[int, ...]]]:
        found.append(tables)
        return []

    proves(day, certificate, 0, keep)
    return found


def check_listing(seed: int, tickets: int, *, is_exact: bool) -> int:
    """Assert that routes below a limit are listed at most at their cost; return how many."""
    day, dice = shipment_day(seed, tickets, is_exact=is_exact), np.random.default_rng(seed)
    certificate, count = certificate_of(day, dice), 0
    for kind, tables in zip(kinds_of(day), tables_of(day, certificate), strict=True):
        reduced = {
            served: cost - sum(certificate.prices.tickets[each] for each in served)
            for served, cost in least_costs(day, kind.agents[0]).items()
        }
        limit = int(np.quantile(list(reduced.values()), dice.random())) + 1 if reduced else 50
        routes = lister()(tables, limit)
        assert routes is not None, seed
        listed = {frozenset(served): cost for cost, _, served in routes}
        below = {served: cost for served, cost in reduced.items() if cost < limit}
        assert all(listed.get(served, limit) <= cost for served, cost in below.items()), seed
        assert not is_exact or listed == below, seed
        assert all(day.partner_of.get(each, each) in served for served in listed for each in served), seed
        count += len(below)
    return count


def check_proofs(seed: int, tickets: int, *, is_exact: bool) -> bool:
    """Assert that nothing above the best plan is proved, and a true bound is; return whether there is a best plan."""
    day, dice = shipment_day(seed, tickets, is_exact=is_exact), np.random.default_rng(seed)
    routes = [least_costs(day, number) for number in range(len(day.agents))]
    if (best := best_cost(day, routes)) >= WANTED:
        return False
    certificate = certificate_of(day, dice)
    prices = certificate.prices.tickets
    least = tuple(
        min([0, *(cost - sum(prices[each] for each in served) for served, cost in own.items())]) for own in routes
    )
    honest = replace(certificate, least=least)
    worth = [min(price, spec.penalty) for price, spec in zip(prices, day.tickets, strict=True)]
    kinds = list(kinds_of(day))
    bound = sum(worth) + sum(len(kind.agents) * min(least[each] for each in kind.agents) for kind in kinds)
    assert bound <= best, seed
    if is_exact:
        assert proves(day, honest, bound, lister()), seed
        higher = tuple(min(0, each + 1) for each in least)
        assert higher == least or not proves(day, replace(honest, least=higher), bound, lister()), seed
    cut = SubsetCut(tuple(dice.permutation(tickets)[:3].tolist()), int(dice.integers(40)))
    lower = replace(honest, least=tuple(each - int(dice.integers(30)) for each in least))
    guess = replace(honest, least=tuple(dice.integers(-99, 1, len(least)).tolist()))
    for each in (honest, lower, guess):
        for tree in (None, ProofNode(each.prices, (cut,))):
            assert not proves(day, replace(each, tree=tree), best + 1, lister()), seed
            assert not proves(day, replace(each, tree=tree, cuts=(cut,)), best + 1, lister()), seed
    return True


def check_many(first_seed: int, count: int, most: int) -> None:
    """Check days of five tickets to a most."""
    listed = proved = 0
    for seed in range(first_seed, first_seed + count):
        tickets, is_exact = 5 + seed % (most - 4), seed % 5 > 1
        listed += check_listing(seed, tickets, is_exact=is_exact)
        proved += check_proofs(seed, tickets, is_exact=is_exact)
    assert listed > 0 and proved > 0
    print(f"seeds from {first_seed}: {listed} routes listed, {proved} of {count} days with a plan")  # noqa: T201 — a run names its seeds


@pytest.mark.parametrize("is_exact", [True, False])
def test_every_route_below_a_limit_is_listed_with_whole_shipments(is_exact: bool) -> None:
    """SPEC S2: against every order; where all rules are kept, nothing else is listed, and no cost is too low."""
    listed = [check_listing(seed, 5, is_exact=is_exact) for seed in range(10)]
    assert sum(map(bool, listed)) > 4


@pytest.mark.parametrize("is_exact", [True, False])
def test_nothing_above_the_best_plan_of_a_day_with_shipments_is_proved(is_exact: bool) -> None:
    """SPEC S2: whatever the prices and claims are; true ones prove the bound that they make."""
    assert sum(check_proofs(seed, 5, is_exact=is_exact) for seed in range(100, 110)) > 2


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_many_days_with_shipments_are_listed_and_proved_as_they_are() -> None:
    """SPEC S2: as above, with up to seven tickets."""
    check_many(1000, 60, 7)


def exact(day: Problem, *prices: int) -> OptimalityCertificate:
    """Return a certificate of these prices, and of no tree."""
    return OptimalityCertificate(1, RowPrices(prices, ()), (0,), np.eye(len(day.tickets), dtype=bool))


def cost_of(day: Problem, *served: int) -> int:
    return least_costs(day, 0)[frozenset(served)]


def test_a_day_that_costs_more_because_a_pickup_comes_first_is_proved() -> None:
    """SPEC S2: the other way round the route would cost a fifth."""
    table = [[0.0, 5, 1], [1, 0, 5], [5, 1, 0]]
    day = compiled(by_table(table, [ticket("p", kind="pickup"), ticket("q", "B", pickup="p")]))
    cost = cost_of(day, 0, 1)
    assert proves(day, exact(day, cost, 0), cost, lister())
    assert proves(day, exact(day, 0, cost), cost, lister())
    assert not proves(day, exact(day, cost, 1), cost + 1, lister())


def test_a_day_that_costs_more_because_goods_take_room_is_proved() -> None:
    """SPEC S2: with room for both shipments at once, the same certificate proves nothing."""
    table = [[0.0, 1, 10], [1, 0, 10], [10, 10, 0]]
    halves = [
        *(ticket("p", kind="pickup"), ticket("q", "B", pickup="p")),
        *(ticket("r", kind="pickup"), ticket("s", "B", pickup="r")),
    ]
    narrow, wide = (compiled(by_table(table, halves, capacity=room)) for room in (1, 2))
    both, one = cost_of(narrow, 0, 1, 2, 3), cost_of(narrow, 2, 3)
    certificate = exact(narrow, both - one, 0, one, 0)
    assert cost_of(wide, 0, 1, 2, 3) < both
    assert proves(narrow, certificate, both, lister())
    assert not proves(narrow, exact(narrow, both - one, 0, one, 1), both + 1, lister())
    assert not proves(wide, certificate, both, lister())


def test_goods_that_are_on_board_already_are_delivered_by_their_agent() -> None:
    """SPEC S2, SPEC T5: the pickup that was made stays a ticket of the day, and the cost with it is proved."""
    table = [[0.0, 5, 1], [1, 0, 5], [5, 1, 0]]
    day = compiled(by_table(table, [ticket("p", kind="pickup"), ticket("q", "B", pickup="p"), ticket("a")]))
    reached = int(day.durations[0][day.agents[0].start, day.tickets[0].location])
    made = replace(day.tickets[0], windows=((reached, reached),), agents=frozenset({0}))
    day = replace(day, agents=(replace(day.agents[0], locked=(0,)),), tickets=(made, *day.tickets[1:]))
    cost = cost_of(day, 0, 1, 2)
    assert proves(day, exact(day, cost, 0, 0), cost, lister())
    assert not proves(day, exact(day, cost, 0, 1), cost + 1, lister())


def test_a_route_is_listed_though_going_in_circles_is_cheaper_on_the_way() -> None:
    """SPEC S2: x, y, x costs less than z, x, but with y it has more stops than there are tickets."""
    table = [[0.0, 100, 200, 30], [0, 0, 1, 500], [0, 1, 0, 500], [0, 11, 500, 0]]
    names = (("x", "A", 1), ("y", "B", 1), ("z", "C", 6))
    day = compiled(by_table(table, [ticket(name, place, demand=load) for name, place, load in names]))
    unit = cost_of(day, 0, 1, 2) // 42
    certificate = exact(day, 31 * unit, 31 * unit, 0)
    routes = lister()(tables_of(day, certificate)[0], 10 * unit)
    assert routes == [(-20 * unit, -20 * unit, (0, 1, 2))]
