"""The bound of column generation and the proof of plans, against the best of all plans."""

import time
import tracemalloc
from dataclasses import replace
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from ortools.linear_solver import pywraplp

from benchmarks.bounds import generated
from planner_mcp.errors import EngineError
from planner_mcp.routing.analysis.cost_bound import least_cost
from planner_mcp.routing.evaluation.plan_builder import build_plan, price, route_cost
from planner_mcp.routing.evaluation.timing_cache import cached_schedule
from planner_mcp.routing.plan import ProofRecord
from planner_mcp.routing.problem import Candidate, Feature, LoadKind, Problem, StopKind
from planner_mcp.routing.verification.optimality_check import (
    AgentSplit,
    CountSplit,
    LoadCut,
    OptimalityCertificate,
    PairSplit,
    ProofNode,
    RowPrices,
    ServiceSplit,
    SubsetCut,
    proves,
)
from planner_mcp.routing.verification.plan_verification import verify
from planner_mcp.routing.verification.small_day_check import proves_small_day
from tests.shared.engines.native_search import native_plan, needs_native
from tests.shared.scenarios.proof_days import ProofDay, proof_days
from tests.shared.scenarios.random_problems import random_problem
from tests.shared.scenarios.scenario_builders import agent, problem, ticket
from workers.engines.bounds import gap_closing, plan_prover
from workers.engines.bounds.capacity_cuts import CutFinder
from workers.engines.bounds.column_generation import ColumnGeneration, DualBound, lagrangian_bound
from workers.engines.bounds.column_master import ColumnMaster, MasterColumn
from workers.engines.bounds.native_listing import route_lister, small_day_lister
from workers.engines.bounds.native_pricing import CutPrices, RoutePricer, dual_of_tickets
from workers.engines.bounds.plan_prover import PlanProver
from workers.engines.bounds.relaxed_networks import EXCLUDED, RelaxedProblem, relaxed_problem
from workers.engines.bounds.subset_row_cuts import MAX_SUBSETS, SubsetRowCut, masks_of

pytestmark = needs_native
PLAIN = frozenset({Feature.TIME_WINDOWS, Feature.MULTI_CAPACITY, Feature.HETEROGENEOUS, Feature.MULTI_DEPOT})


def prover_of(day: Problem, plan: Candidate, found: list[Candidate], seconds: float) -> PlanProver:
    ends = time.monotonic() + seconds
    return PlanProver(day, plan, deadline=ends, on_proof=lambda _: None, on_improvement=found.append)


def proof_of(day: Problem, plan: Candidate, seconds: float = 20) -> tuple[ProofRecord | None, list[Candidate]]:
    found: list[Candidate] = []
    return prover_of(day, plan, found, seconds).run(), found


def dearer(day: Problem, plan: Candidate) -> Candidate:
    """Return a plan whose routes serve the same tickets in the order of their numbers."""
    return Candidate.of_tickets({route.agent: sorted(route.tickets) for route in plan.routes})


def no_cuts(tickets: int) -> CutPrices:
    """Return the prices of no cuts."""
    discount, subsets = np.zeros((tickets + 1, tickets + 1), dtype=np.int64), np.zeros((tickets, 2), dtype=np.uint64)
    return CutPrices(discount, subsets, np.zeros(MAX_SUBSETS, dtype=np.int64))


def wide_day() -> Problem:
    """Return a large day whose routes hardly anything limits."""
    day = random_problem(5, tickets=150, features=frozenset({Feature.HETEROGENEOUS}))
    return replace(day, agents=tuple(replace(each, capacity=(10**6,)) for each in day.agents))


def random_tree(dice: np.random.Generator, day: Problem, depth: int) -> ProofNode:
    """Return a tree of arbitrary prices, cuts and splits, which may close nodes by luck, but never all of them."""
    tickets, agents = len(day.tickets), len(day.agents)
    prices = RowPrices(
        tuple(dice.integers(-50, 150, tickets).tolist()), tuple(dice.integers(0, 99, len(day.groups)).tolist())
    )
    some = tuple(dice.permutation(tickets)[:3].tolist())
    splits = [
        CountSplit(int(dice.integers(agents)), int(dice.integers(agents))),
        AgentSplit(some[0], int(dice.integers(agents))),
        ServiceSplit(some[0]),
        *([PairSplit((some[0], some[1]))] if tickets > 1 else []),
        None,
    ]
    split = splits[int(dice.integers(len(splits)))]
    parts = tuple(random_tree(dice, day, depth - 1) for _ in range(1 if split is None else 2) if depth)
    return ProofNode(prices, (SubsetCut(some, int(dice.integers(50))),), split, parts, random_load_cuts(dice, day))


def random_load_cuts(dice: np.random.Generator, day: Problem) -> tuple[LoadCut, ...]:
    """Return load cuts of arbitrary prices, of tickets that every plan serves."""
    grouped = {number for group in day.groups for number in group.tickets}
    wanted = [n for n, each in enumerate(day.tickets) if n not in grouped and each.penalty and not each.is_priced]
    return tuple(
        LoadCut(
            tuple(dice.permutation(wanted)[: int(dice.integers(1, len(wanted) + 1))].tolist()),
            load,
            int(dice.integers(len(day.dimensions))),
            int(dice.integers(1, 30)),
            int(dice.integers(-5, 30)),
        )
        for load in (LoadKind if wanted else ())
    )


def random_subsets(dice: np.random.Generator, tickets: int) -> list[SubsetRowCut]:
    """Return subset-row cuts of arbitrary tickets and memories."""
    cuts = []
    for _ in range(int(dice.integers(0, 6)) if tickets >= 3 else 0):
        first, second, third = sorted(dice.permutation(tickets)[:3].tolist())
        others = np.flatnonzero(dice.random(tickets) < 0.5).tolist()
        cuts.append(SubsetRowCut((first, second, third), frozenset({first, second, third, *others})))
    return cuts


def random_subset_cuts(dice: np.random.Generator, tickets: int) -> tuple[SubsetCut, ...]:
    """Return the same for the check, of arbitrary prices and numbers of tickets."""
    cuts = []
    for cut in random_subsets(dice, tickets):
        some = tuple(dice.permutation(tickets)[: int(dice.integers(1, 6))].tolist())
        memory = None if dice.random() < 0.3 else tuple(sorted(cut.memory))
        cuts.append(SubsetCut(some, int(dice.integers(-5, 60)), memory))
    return tuple(cuts)


def check(day: ProofDay) -> tuple[bool, bool]:
    """Assert that neither the bound of the day nor that of arbitrary dual values is above its best plan.

    Return whether the bound is its cost, and whether the check agreed.
    """
    text = f"seed {day.seed}: {sorted(day.problem.features)}"
    found: list[Candidate] = []
    prover = prover_of(day.problem, day.best, found, seconds=6)
    proof = prover.run()
    assert proof is not None, text
    assert proof.lower_bound <= day.cost, text
    for plan in found:
        assert price(day.problem, plan) >= day.cost or verify(day.problem, build_plan(day.problem, plan)), text
    assert proof.lower_bound == day.cost or proof.relaxed or found, text
    relaxed = relaxed_problem(day.problem)
    assert relaxed is not None
    dice = np.random.default_rng(day.seed)
    duals = dice.integers(-50, 300, len(relaxed.rows)) * relaxed.factor
    memory, least = np.eye(len(day.problem.tickets), dtype=bool), []
    for network in relaxed.networks:
        pricer = RoutePricer(network)
        cost = network.switch_cost - dual_of_tickets(relaxed.rows_of, duals)
        pricing = pricer.price(
            cost,
            no_cuts(len(day.problem.tickets)),
            memory,
            memory,
            seconds=9,
            max_labels=200_000,
            max_routes=5,
            is_heuristic=False,
        )
        is_complete, lowest, _ = pricing
        assert is_complete, text
        least.append(lowest)
    assert lagrangian_bound(relaxed, duals, least) <= day.cost * relaxed.factor, text
    tickets = [0] * len(day.problem.tickets)
    groups = [0] * len(day.problem.groups)
    for row, dual in zip(relaxed.rows, dice.integers(-9, 99, len(relaxed.rows)).tolist(), strict=True):
        if len(row.tickets) == 1:
            tickets[row.tickets[0]] = dual
    claims = tuple(dice.integers(-200, 1, len(day.problem.agents)).tolist())
    check_cuts(day, text)
    tree = random_tree(dice, day.problem, depth=3)
    certificate = OptimalityCertificate(1, RowPrices(tuple(tickets), tuple(groups)), claims, memory, tree)
    lister = route_lister(time.monotonic() + 9)
    loads, cuts = random_load_cuts(dice, day.problem), random_subset_cuts(dice, len(day.problem.tickets))
    with_loads = replace(certificate, loads=loads)
    for certified in (certificate, with_loads, replace(with_loads, cuts=cuts)):
        assert not proves(day.problem, certified, day.cost + 1, lister), text
    small = small_day_lister(time.monotonic() + 9)
    for each in (certificate, replace(certificate, least=(0,) * len(claims)), prover.certificate):
        assert each is None or not proves_small_day(day.problem, each, day.cost + 1, small), text
    return proof.lower_bound == day.cost, proof.is_optimal


def check_cuts(day: ProofDay, text: str) -> None:
    """Assert that the best plan meets arbitrary cuts, and that the bound with them stays below it."""
    relaxed = relaxed_problem(day.problem)
    assert relaxed is not None
    dice, finder = np.random.default_rng(day.seed), CutFinder(relaxed)
    routes = [(relaxed.network_of[route.agent], route.tickets) for route in day.best.routes]
    generation = ColumnGeneration(relaxed, day.best, 2 * day.cost + 1, deadline=time.monotonic() + 6)
    wanted = [row.tickets[0] for row in relaxed.rows if row.penalty is None and len(row.tickets) == 1]
    for form in finder.forms if wanted else ():
        tickets = dice.permutation(wanted)[: int(dice.integers(1, len(wanted) + 1))]
        cut = form.cut(tickets.tolist())
        assert sum(cut.entries(*route) for route in routes) >= cut.least, text
        generation.add_cuts([cut])
    for subset in random_subsets(dice, len(day.problem.tickets)):
        assert sum(subset.entries(*route) for route in routes) >= subset.least, text
        generation.add_cuts([subset])
    generation.run()
    assert generation.best is None or generation.best.value <= day.cost * relaxed.factor, text


def check_days(first_seed: int, count: int) -> None:
    found = [check(day) for day in proof_days(first_seed, count)]
    closed, proved = (sum(part) for part in zip(*found, strict=True))
    assert proved >= 0.99 * count
    print(f"seeds from {first_seed}: {closed} of {count} days closed, {proved} checked")  # noqa: T201 — a run names its seeds


def test_no_bound_is_above_the_best_of_all_plans() -> None:
    """SPEC S2, SPEC T5: on random days of all features; 99 in 100 best plans are proved."""
    check_days(1, 12)


def test_a_plan_that_ends_with_a_reload_is_among_those_that_were_tried() -> None:
    """SPEC S1: a trip may have no ticket; on this day the way to the end is cheaper over the reload."""
    day = next(proof_days(200_036, 1))
    assert day.best.routes[0].stops[-1].kind is StopKind.RELOAD
    check(day)


def test_a_plan_without_the_first_break_is_among_those_that_were_tried() -> None:
    """SPEC S1: an agent that starts after its first break takes only the second, and this plan is proved."""
    day = next(proof_days(20_557, 1))
    assert [stop.index for stop in day.best.routes[0].stops if stop.kind is StopKind.BREAK] == [1]
    assert check(day) == (True, True)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_no_bound_is_above_the_best_of_all_plans_on_many_days() -> None:
    """SPEC S2, SPEC T5: as above, on 300 days."""
    check_days(1000, 300)


@pytest.mark.chaos
@pytest.mark.timeout(7200)
def test_no_bound_is_above_the_best_of_all_plans_on_ten_thousand_days() -> None:
    """SPEC S2, SPEC T5: as above, on 10,000 days."""
    check_days(100_000, 10_000)


def test_a_plan_of_capacities_and_windows_is_proved_or_replaced_by_a_proved_one() -> None:
    """SPEC S2: from a worse plan the proof finds the best one; another proof confirms it."""
    day = random_problem(7, tickets=9, features=PLAIN)
    best = native_plan(day, 2000)
    proof, found = proof_of(day, best)
    assert proof is not None and proof.relaxed == ()
    plan = found[-1] if found else best
    assert verify(day, build_plan(day, plan)) == []
    assert proof.lower_bound == price(day, plan)
    again, better = proof_of(day, plan)
    assert again is not None and again.is_optimal and better == []


def test_a_dearer_plan_takes_the_place_of_none() -> None:
    """SPEC S2: where travel takes longer at some hours, routes are chosen as if every hour were the best one."""
    day = random_problem(11, tickets=12, features=frozenset({Feature.HETEROGENEOUS, Feature.MULTI_CAPACITY}))
    best, found = native_plan(day, 20_000), list[Candidate]()
    prover, relaxed, poor = prover_of(day, best, found, 1), relaxed_problem(day), dearer(day, best)
    assert relaxed is not None and price(day, poor) > price(day, best) and not verify(day, build_plan(day, poor))
    prover._found = poor
    prover._report(relaxed)
    assert (prover.incumbent, found) == (best, [])


def test_a_gap_is_closed_by_splits_that_the_check_follows() -> None:
    """SPEC S2: twelve tickets of three vehicles; without the tree, or below the claims, nothing is proved."""
    day = random_problem(11, tickets=12, features=frozenset({Feature.HETEROGENEOUS, Feature.MULTI_CAPACITY}))
    best = native_plan(day, 20_000)
    prover = PlanProver(
        day, best, deadline=time.monotonic() + 20, on_proof=lambda _: None, on_improvement=lambda _: None
    )
    proof = prover.run()
    assert proof is not None and proof.is_optimal
    certificate, cost = prover.certificate, price(day, best)
    assert certificate is not None and certificate.tree is not None
    lister = route_lister(time.monotonic() + 20)
    assert proves(day, certificate, cost, lister)
    assert not proves(day, certificate, cost + 1, lister)
    assert not proves(day, replace(certificate, tree=None), cost, lister)
    high = tuple(claim + 50 * certificate.factor for claim in certificate.least)
    assert not proves(day, replace(certificate, least=high, tree=None), cost, lister)


def test_a_gap_with_too_many_routes_is_closed_after_a_cheaper_plan_is_chosen_among_some(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SPEC S2: a plan far above the best leaves more routes than are listed at once."""
    day = random_problem(11, tickets=14, features=frozenset({Feature.HETEROGENEOUS, Feature.MULTI_CAPACITY}))
    best = native_plan(day, 20_000)
    poor = dearer(day, best)
    listed: list[tuple[float, bool]] = []
    enumerated = gap_closing.enumerated

    def watched(*given: Any, share: float) -> list[MasterColumn] | None:
        found = enumerated(*given, share=share)
        listed.append((share, found is not None))
        return found

    def without_cuts(*given: Any, **named: Any) -> ColumnGeneration:
        return ColumnGeneration(*given, **named | {"has_cuts": False})

    monkeypatch.setattr(plan_prover, "SEARCH_SHARE", 0.0)
    monkeypatch.setattr(plan_prover, "ColumnGeneration", without_cuts)
    monkeypatch.setattr(gap_closing, "enumerated", watched)
    monkeypatch.setattr(gap_closing, "MAX_ROUTES", 150)
    proof, found = proof_of(day, poor)
    assert listed[0] == (1.0, False)
    assert listed[-1] == (1.0, True)
    assert proof is not None and proof.is_optimal
    assert price(day, found[-1]) == price(day, best)


def least_of_all_routes(day: Problem, prices: list[int]) -> int:
    """Return the least cost of a route of the first agent, less the prices of its tickets; at most 0."""
    least = 0
    for size in range(1, len(day.tickets) + 1):
        for tickets in permutations(range(len(day.tickets)), size):
            plan = Candidate.of_tickets({0: list(tickets)})
            if verify(day, build_plan(day, plan)) == []:
                cost = route_cost(day, plan.routes[0], cached_schedule(day, plan.routes[0]))
                least = min(least, cost - sum(prices[ticket] for ticket in tickets))
    return least


def test_the_least_reduced_cost_is_that_of_all_routes_that_keep_shipments_together() -> None:
    """SPEC S2, SPEC S1: the second half follows the first on the same route, and the load is on board between them."""
    features, negative, paired = frozenset({Feature.SHIPMENTS, Feature.TIME_WINDOWS, Feature.MULTI_CAPACITY}), 0, 0
    for seed in range(12):
        day = random_problem(seed, tickets=5, features=features)
        relaxed = relaxed_problem(day)
        assert relaxed is not None and relaxed.relaxed == () and len(relaxed.networks) == 1
        network, dice = relaxed.networks[0], np.random.default_rng(seed)
        prices = dice.integers(0, int(network.cost[network.cost < EXCLUDED].max()) // relaxed.factor + 2, 5)
        memory, cuts = np.ones((5, 5), dtype=bool), no_cuts(5)
        pricer = RoutePricer(network)
        node_cost = network.switch_cost - relaxed.factor * prices
        is_complete, least, routes = pricer.price(
            node_cost, cuts, memory, memory, seconds=9, max_labels=200_000, max_routes=50, is_heuristic=False
        )
        assert is_complete
        assert least == relaxed.factor * least_of_all_routes(day, prices.tolist())
        listed = pricer.enumerate(
            node_cost, cuts, memory, network.fixed_cost + 1, seconds=9, max_labels=200_000, max_routes=500
        )
        assert listed is not None
        for route in (*routes, *listed):
            assert all(day.partner_of.get(each, each) in route.tickets for each in route.tickets)
        negative += least < 0
        paired += any(day.partner_of.get(each) for route in routes for each in route.tickets)
    assert negative > 6 and paired > 3


def test_days_without_shipments_have_no_table_of_shortest_times() -> None:
    """SPEC S2: it takes the cube of the tickets for each type of agents, and is read for halves of shipments alone."""
    for features in (frozenset({Feature.TIME_WINDOWS}), frozenset({Feature.TIME_WINDOWS, Feature.SHIPMENTS})):
        relaxed = relaxed_problem(random_problem(0, tickets=5, features=features))
        assert relaxed is not None
        assert [each.shortest is not each.time for each in relaxed.networks] == [Feature.SHIPMENTS in features]


def test_hundreds_of_kinds_of_agents_share_the_room_for_routes() -> None:
    """SPEC S2: a fleet of which no two vehicles are alike is bounded within the memory of a solve."""
    relaxed = relaxed_problem(random_problem(5, tickets=4, features=frozenset()))
    assert relaxed is not None
    tracemalloc.start()
    pricers = [RoutePricer(network) for network in relaxed.networks * 10]
    memory, _most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(pricers) >= 10 and memory < 1_000_000


@pytest.mark.slow
def test_shipments_that_leave_too_many_partial_routes_are_priced_by_halves() -> None:
    """SPEC S2: the bound is still one, and says that it leaves shipments out."""
    day = generated("shipments", 1, 16)
    day = replace(day, tickets=tuple(replace(each, windows=()) for each in day.tickets))
    relaxed = relaxed_problem(day)
    assert relaxed is not None and relaxed.relaxed == ()
    best = native_plan(day, 5000)
    bounds = []
    for labels in (600_000, 20_000):
        generation = ColumnGeneration(
            relaxed,
            best,
            price(day, best),
            deadline=time.monotonic() + 30,
            max_labels=labels,
        )
        generation.run(refines=False)
        assert generation.best is not None
        bounds.append((generation.relaxed.relaxed, generation.best.value))
    (whole, high), (halves, low) = bounds
    assert (whole, halves) == ((), (Feature.SHIPMENTS,))
    assert low < high <= price(day, best) * relaxed.factor


def test_routes_of_halves_are_no_plan_of_a_day_with_shipments(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S2: where only the last pricings before the listing are too large, a choice of what is listed is no plan."""
    day = generated("shipments", 1, 14)
    day = replace(day, tickets=tuple(replace(each, windows=()) for each in day.tickets))
    best = native_plan(day, 2000)
    left_out: list[tuple[str, ...]] = []
    enumerated = gap_closing.enumerated

    def watched(relaxed: RelaxedProblem, *given: Any, share: float) -> list[MasterColumn] | None:
        left_out.append(relaxed.relaxed)
        return enumerated(relaxed, *given, share=share)

    class LateRelaxation(ColumnGeneration):
        def central(self, deadline: float) -> DualBound:
            self._relax_shipments()
            return super().central(deadline)

    monkeypatch.setattr(plan_prover, "SEARCH_SHARE", 0.0)
    monkeypatch.setattr(plan_prover, "ColumnGeneration", LateRelaxation)
    monkeypatch.setattr(gap_closing, "enumerated", watched)
    _, found = proof_of(day, dearer(day, best))
    assert set(left_out) == {(Feature.SHIPMENTS,)}
    assert all(verify(day, build_plan(day, plan)) == [] for plan in found)


def test_a_linear_program_without_a_solution_in_time_has_none_of_the_one_before() -> None:
    """SPEC S2: cuts are looked for in what was solved last, its routes and their amounts together."""
    day = random_problem(5, tickets=100, features=frozenset())
    relaxed = relaxed_problem(day)
    assert relaxed is not None
    master = ColumnMaster(relaxed, 10**9)
    dice = np.random.default_rng(1)
    for size in (2, 3):
        for _ in range(2000):
            tickets = tuple(dice.choice(100, size, replace=False).tolist())
            master.add(MasterColumn(0, tickets, int(dice.integers(1, 10**6))))
        if size == 2:
            assert master.solve(20) is not None
            assert len(master.used()) == len(master.amounts()) > 0
    assert master.solve(0) is None
    assert master.used() == [] and master.amounts() == []


def test_fast_pricing_keeps_a_dearer_way_that_leaves_more_room() -> None:
    """SPEC S2: a proof ends in time where few routes are left to the slow pricing."""
    loads = {"A": 8, "B": 2, "C": 1, "E": 7}
    window = ["2025-07-15T00:00:00Z", "2025-07-15T23:00:00Z"]
    orders = [ticket(name, name, demand=load, time_windows=[window]) for name, load in loads.items()]
    relaxed = relaxed_problem(problem([agent()], orders))
    assert relaxed is not None
    network = relaxed.networks[0]
    arcs = np.full_like(network.cost, EXCLUDED)
    for origin, target in ((4, 0), (4, 1), (0, 2), (1, 2), (2, 3), (3, 4)):  # D-A, D-B, A-C, B-C, C-E, E-D
        arcs[origin, target] = 0
    pricer = RoutePricer(replace(network, cost=arcs))
    memory, cuts = np.eye(4, dtype=bool), no_cuts(4)
    _, least, routes = pricer.price(
        np.array([-10, -5, 0, -100]),
        cuts,
        memory,
        memory,
        seconds=9,
        max_labels=99,
        max_routes=5,
        is_heuristic=True,
    )
    assert (least, routes[0].tickets) == (-105, (1, 2, 3))


def test_a_pricing_ends_by_its_time_limit() -> None:
    """SPEC J4: it builds no first plan, for which a search takes 10 s of CPU more."""
    relaxed = relaxed_problem(wide_day())
    assert relaxed is not None
    network, count, began = relaxed.networks[0], 150, time.monotonic()
    pricer, memory = RoutePricer(network), np.ones((count, count), dtype=bool)
    prices, cuts = np.full(count, 10 * network.fixed_cost + 10**6), no_cuts(count)
    is_complete, _, _ = pricer.price(
        -prices, cuts, memory, memory, seconds=0.05, max_labels=10**6, max_routes=5, is_heuristic=False
    )
    routes = pricer.enumerate(-prices, cuts, memory, 0, seconds=0.05, max_labels=10**6, max_routes=5)
    assert not is_complete and routes is None
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    "features",
    [
        PLAIN - {Feature.TIME_WINDOWS},
        frozenset({Feature.MAX_STOPS}),
        frozenset({Feature.MAX_DISTANCE, Feature.OPEN_ROUTES}),
    ],
)
def test_pricing_from_both_ends_finds_the_least_reduced_cost_of_pricing_from_one(features: frozenset[Feature]) -> None:
    """SPEC S2: halves of routes that meet are the routes themselves."""
    lowest = []
    for seed in range(12):
        dice = np.random.default_rng(seed)
        relaxed = relaxed_problem(random_problem(seed, tickets=9, features=features))
        assert relaxed is not None
        for network in relaxed.networks:
            legs = network.cost[network.cost < EXCLUDED]
            prices = dice.integers(0, 2 * int(np.median(legs)) + 1, 9) + network.fixed_cost // 4
            memory = np.eye(9, dtype=bool) | (dice.random((9, 9)) < 0.4)
            discount = dice.integers(0, 1 + int(np.median(legs)) // 4, (10, 10))
            subsets = random_subsets(dice, 9)
            dear = dice.integers(0, 1 + int(np.median(legs)), 64)
            cuts = CutPrices(discount, masks_of(subsets, 9), dear)
            timed = network.field.copy()
            timed[-1] = 1  # times of which nothing is late: the same routes, priced from one end
            found = [
                RoutePricer(each).price(
                    -prices,
                    cuts,
                    memory,
                    memory,
                    seconds=9,
                    max_labels=200_000,
                    max_routes=50,
                    is_heuristic=False,
                )
                for each in (network, replace(network, field=timed))
            ]
            (is_complete, least, routes), (_, expected, _) = found
            assert is_complete
            assert least == expected
            for route in routes:
                arcs, stops = network.cost - discount, [9, *route.tickets, 9]
                cost = network.fixed_cost + sum(int(arcs[arc]) for arc in pairwise(stops))
                cost -= sum(cut.entries(0, route.tickets) * int(dear[n]) for n, cut in enumerate(subsets))
                assert route.cost == cost - sum(int(prices[each]) for each in route.tickets) < 0
                assert (network.delivery[list(route.tickets)].sum(axis=0) <= network.capacity).all()
            lowest.append(least)
    assert sum(each < 0 for each in lowest) > len(lowest) // 2


def test_a_linear_program_that_fails_by_its_last_basis_is_solved_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S2: a solver that gives up once neither ends the proof nor changes what it finds."""
    relaxed = relaxed_problem(random_problem(5, tickets=20, features=frozenset()))
    assert relaxed is not None
    master = ColumnMaster(relaxed, 10**9)
    for ticket_number in range(20):
        master.add(MasterColumn(0, (ticket_number,), 1000 + ticket_number))
    before = master.solve(20)
    statuses, solve = [pywraplp.Solver.ABNORMAL], pywraplp.Solver.Solve
    monkeypatch.setattr(pywraplp.Solver, "Solve", lambda solver: statuses.pop() if statuses else solve(solver))
    after = master.solve(20)
    assert before is not None and after is not None and not statuses
    assert after[0] == pytest.approx(before[0])
    assert len(master.used()) == len(master.amounts()) > 0


def test_a_linear_program_with_dual_values_that_are_no_numbers_has_no_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S2: as integers they would be prices that nobody found."""
    relaxed = relaxed_problem(random_problem(5, tickets=3, features=frozenset()))
    assert relaxed is not None
    master = ColumnMaster(relaxed, 10**9)
    assert master.solve(20) is not None
    monkeypatch.setattr(pywraplp.Constraint, "dual_value", lambda _: float("nan"))
    assert master.solve(20) is None


def test_capacity_cuts_raise_the_bound_and_not_above_a_plan() -> None:
    """Our choice: the linear program would serve the day by fewer routes than its load needs."""
    day = random_problem(8, tickets=12, features=frozenset({Feature.HETEROGENEOUS, Feature.MULTI_CAPACITY}))
    best, relaxed = native_plan(day, 20_000), relaxed_problem(day)
    assert relaxed is not None
    cost = price(day, best)
    generation = ColumnGeneration(relaxed, best, cost, deadline=time.monotonic() + 20)
    generation.run()
    assert generation.best is not None
    assert generation.best.cuts and generation.best.value <= cost * relaxed.factor
    without = ColumnGeneration(relaxed, best, cost, deadline=time.monotonic() + 20, has_cuts=False)
    without.run()
    assert without.best is not None and without.best.value < generation.best.value


def test_fewer_routes_are_within_the_gap_by_the_middle_of_the_best_dual_values() -> None:
    """SPEC S2: what is listed and checked is so little that a proof ends in time; the bound is about the same."""
    day = generated("capacity", 0, 14)
    best, relaxed = native_plan(day, 20_000), relaxed_problem(day)
    assert relaxed is not None
    cost, ends = price(day, best), time.monotonic() + 20
    generation = ColumnGeneration(relaxed, best, cost, deadline=ends, has_cuts=False)
    generation.run()
    assert generation.best is not None
    central = generation.central(ends)
    gap = cost * relaxed.factor - generation.best.value
    assert generation.best.value - gap / 100 <= central.value < cost * relaxed.factor
    numbers = []
    for bound in (generation.best, central):
        routes = gap_closing.enumerated(relaxed, generation.pricers, bound, cost, ends)
        assert routes is not None
        numbers.append(len(routes))
    assert 0 < numbers[1] < numbers[0] // 2


def proved_optimal(day: Problem) -> tuple[OptimalityCertificate, int]:
    """Return the certificate of a day's best plan, and its cost."""
    best = native_plan(day, 20_000)
    prover = prover_of(day, best, [], 20)
    proof = prover.run()
    assert proof is not None and proof.is_optimal and prover.certificate is not None
    return prover.certificate, price(day, best)


@pytest.mark.slow
def test_capacity_cuts_of_a_mixed_fleet_are_part_of_the_proof_that_is_checked() -> None:
    """SPEC S2: large vehicles count for more; without the cuts, or with dearer ones, nothing is proved."""
    day = generated("mixed", 11, 14)
    certificate, cost = proved_optimal(day)
    assert len({cut.unit for cut in certificate.loads}) > 1
    lister = route_lister(time.monotonic() + 20)
    assert proves(day, certificate, cost, lister)
    assert not proves(day, certificate, cost + 1, lister)
    assert not proves(day, replace(certificate, loads=()), cost, lister)
    dearer_cuts = tuple(replace(cut, price=2 * cut.price) for cut in certificate.loads)
    assert not proves(day, replace(certificate, loads=dearer_cuts), cost + 1, lister)


def test_a_gap_that_few_routes_fit_is_closed_without_subset_row_cuts() -> None:
    """SPEC S2: where the first linear program leaves few routes, the choice among them is the proof."""
    certificate, _ = proved_optimal(generated("wide", 7, 20))
    assert certificate.tree is not None
    assert certificate.cuts == ()


def test_subset_row_cuts_are_part_of_the_proof_that_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S2: without the cuts, or with dearer ones, nothing more is proved; a longer memory does no harm."""
    monkeypatch.setattr(plan_prover, "EARLY_CLOSE_SHARE", 0.0)
    day = generated("wide", 7, 20)
    certificate, cost = proved_optimal(day)
    cuts, lister = certificate.cuts, route_lister(time.monotonic() + 20)
    assert cuts
    assert proves(day, certificate, cost, lister)
    assert not proves(day, certificate, cost + 1, lister)
    assert not proves(day, replace(certificate, cuts=()), cost, lister)
    dearer_cuts = tuple(replace(cut, price=2 * cut.price) for cut in cuts)
    assert not proves(day, replace(certificate, cuts=dearer_cuts), cost + 1, lister)
    assert proves(day, replace(certificate, cuts=tuple(replace(cut, memory=None) for cut in cuts)), cost, lister)
    assert not proves(day, replace(certificate, cuts=cuts * 10), cost, lister)  # more than are checked


def test_no_vehicle_counts_for_more_than_a_hundred_in_a_capacity_cut() -> None:
    """SPEC S2: among vehicles a thousand times as large as others, linear programs stay precise and counts small."""
    fleet = [agent("small", capacity=40), agent("large", capacity=40_000)]
    relaxed = relaxed_problem(problem(fleet, [ticket(name, "A", demand=9_000) for name in "abcd"]))
    assert relaxed is not None
    cuts = [form.cut([0, 1, 2, 3]) for form in CutFinder(relaxed).forms]
    assert {cut.unit for cut in cuts} == {10_000, 13_334, 20_000, 40_000}
    assert all(max(cut.weights) <= cut.least <= 100 for cut in cuts)


def test_a_load_cut_of_tickets_that_a_plan_may_leave_out_proves_nothing() -> None:
    """SPEC S2: the check knows by itself what every plan serves, and which loads and units there are."""
    day = problem([agent("v")], [ticket("a", "A", penalty=5), ticket("b", "B")])
    prices, memory = RowPrices((0, 0), ()), np.eye(2, dtype=bool)
    lister = route_lister(time.monotonic() + 20)

    def is_proved(cut: LoadCut) -> bool:
        return proves(day, OptimalityCertificate(1, prices, (0,), memory, loads=(cut,)), 0, lister)

    valid = LoadCut((1,), LoadKind.DELIVERY, 0, 1, 0)
    assert is_proved(valid)
    for change in ({"tickets": (0, 1)}, {"dimension": 7}, {"unit": 0}):
        assert not is_proved(replace(valid, **change))


def test_the_bound_of_a_plan_that_is_not_the_best_stays_below_the_best() -> None:
    """SPEC T5: three tickets on three routes, where one route serves them all."""
    day = problem([agent(name, fixed_cost=5) for name in "vwx"], [ticket(name, "C") for name in "abc"])
    apart = Candidate.of_tickets({0: [0], 1: [1], 2: [2]})
    proof, found = proof_of(day, apart)
    assert proof is not None
    assert proof.is_optimal
    assert [price(day, plan) / day.cost_scale for plan in found] == [proof.lower_bound]


@pytest.mark.parametrize(
    ("features", "left_out"),
    [
        ("balance breaks time_windows", "balance breaks"),
        ("locks min_load rush_hours", "locks min_load rush_hours"),
        ("release time_windows", ""),
        ("release soft_windows", "release"),
        ("multi_windows release", "release"),
        ("release reload", "release reload"),
        ("backhaul pickups", ""),
        ("backhaul reload", "backhaul reload"),
        ("multi_windows soft_windows", ""),
        ("multi_windows soft_windows time_cost", "multi_windows soft_windows"),
        ("max_duration multi_windows", "multi_windows"),
        ("incompatible multi_capacity", "incompatible"),
    ],
)
def test_what_the_bound_leaves_out_is_named(features: str, left_out: str) -> None:
    """Our choice: the answer says which features were relaxed; some are in days with certain others alone."""
    day = random_problem(3, tickets=8, features=frozenset(map(Feature, features.split())))
    relaxed = relaxed_problem(day)
    assert relaxed is not None
    assert " ".join(relaxed.relaxed) == left_out


def test_a_pricing_that_takes_too_much_memory_is_repeated_with_smaller_sets() -> None:
    """Our choice: memory is bounded; the bound becomes weaker, not wrong."""
    day = random_problem(7, tickets=9, features=PLAIN)
    relaxed = relaxed_problem(day)
    assert relaxed is not None
    found = []
    for max_labels in (60, 100_000):
        ends = time.monotonic() + 20
        generation = ColumnGeneration(relaxed, Candidate(()), 10**6, deadline=ends, max_labels=max_labels)
        generation.run()
        found.append(0 if generation.best is None else generation.best.value)
    assert found[0] <= found[1]


def test_a_day_whose_pricing_is_never_completed_has_the_quick_bound() -> None:
    """SPEC T5: the proof starts from the bound that the day has anyway."""
    day = wide_day()
    quick = least_cost(day)
    proof, _ = proof_of(day, Candidate(()), seconds=0.01)
    assert quick is not None and proof is not None
    assert proof.lower_bound * day.cost_scale >= quick > 0


def test_a_proof_ends_by_its_deadline() -> None:
    """SPEC J6: also while routes of a large day are priced."""
    began = time.monotonic()
    proof_of(wide_day(), Candidate(()), seconds=0.2)
    assert time.monotonic() - began < 5


def test_a_proof_can_be_broken_off_at_any_moment() -> None:
    """SPEC T4: whoever waits for it is asked while routes of a large day are priced, and may end the process."""

    class Stopped(Exception):  # noqa: N818 — in place of the end of the process
        pass

    def stop() -> None:
        if time.monotonic() > began + 0.2:
            raise Stopped

    began = time.monotonic()
    with pytest.raises(Stopped):
        prover_of(wide_day(), Candidate(()), [], 3).run(stop)
    assert time.monotonic() - began < 2


def test_the_room_of_many_trips_is_no_larger_than_numbers_are() -> None:
    """SPEC S2: an agent of any capacity that may reload at will is bounded like others."""
    driver = agent(capacity=1e9, reload_locations=["D"], max_reloads=100_000)
    day = problem([driver], [ticket("a", demand=0.123456), ticket("b", "B")])
    relaxed = relaxed_problem(day)
    assert relaxed is not None
    assert relaxed.networks[0].capacity.tolist() == [2 * day.agents[0].capacity[0]]


def test_a_day_that_is_too_large_is_refused() -> None:
    """SPEC T7: with the reason."""
    with pytest.raises(EngineError, match="more than 256 tickets"):
        proof_of(random_problem(1, tickets=257), Candidate(()))
