"""The native engine: its plans are proved on days of every kind, it stops when told, it repeats itself."""

import math
import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from random import Random

import pytest

from planner_mcp.errors import EngineError
from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.problem import Candidate, Feature, Problem
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.engines.native_search import native_plan, needs_native, searched
from tests.shared.processes.stopwatch import Stopwatch
from tests.shared.scenarios.random_problems import random_problem
from tests.shared.scenarios.scenario_builders import compiled, plane, problem
from tests.shared.scenarios.seeded_fleet import fleet, fleet_body
from workers.engines.engine_interface import SearchLimits, StopReason
from workers.engines.native import build, native_arrays, sisr_engine
from workers.engines.native.sisr_engine import SisrEngine

REPOSITORY = Path(__file__).parents[5]

MIXED = frozenset(
    {
        Feature.TIME_WINDOWS,
        Feature.SHIFTS,
        Feature.HETEROGENEOUS,
        Feature.MULTI_DEPOT,
        Feature.OPTIONAL,
        Feature.PICKUPS,
    }
)

_HOURS = frozenset({Feature.MAX_DURATION, Feature.TIME_COST})
_TRIPS = frozenset({Feature.RELOAD, Feature.RELEASE})
IN_CONSTANT_TIME = [
    _HOURS,
    _HOURS | {Feature.TIME_WINDOWS, Feature.SETUP},
    _HOURS | {Feature.MULTI_DEPOT, Feature.PICKUPS},
    frozenset({Feature.RELOAD}),
    frozenset({Feature.RELEASE}),
    _TRIPS | {Feature.TIME_WINDOWS},
    _TRIPS | _HOURS | {Feature.SETUP, Feature.MULTI_CAPACITY},
]

WEIGHED = [
    frozenset({limit, *windows})
    for limit in (Feature.TIME_COST, Feature.MAX_DURATION)
    for windows in ({Feature.SOFT_WINDOWS}, {Feature.MULTI_WINDOWS}, {Feature.SOFT_WINDOWS, Feature.MULTI_WINDOWS})
]

pytestmark = needs_native


@pytest.mark.parametrize("block", [0, 1, *(pytest.param(block, marks=pytest.mark.slow) for block in (2, 3))])
def test_every_plan_of_a_random_problem_is_verified(block: int) -> None:
    """SPEC S2: each plan passes the independent verifier, whatever combination of features the problem has."""
    proved = 0
    for seed in range(100 * block, 100 * (block + 1)):
        problem = random_problem(seed)
        if (best := searched(problem)) is not None:
            assert verify(problem, build_plan(problem, best)) == [], f"seed {seed}"
            proved += 1
    assert proved > 80


@pytest.mark.parametrize("feature", list(Feature))
def test_each_feature_alone_is_respected(feature: Feature) -> None:
    """SPEC S1: every feature the engine declares, by itself."""
    for seed in range(12):
        problem = random_problem(seed, tickets=12, features=frozenset({feature}))
        best = searched(problem, seed=seed)
        assert best is not None, f"seed {seed}"
        assert verify(problem, build_plan(problem, best)) == [], f"seed {seed}"


def test_the_price_inside_is_the_price_outside() -> None:
    """SPEC S2: what the search minimises is what the plan will cost."""
    assert sum(states_true_costs(random_problem(seed), seed) for seed in range(150)) > 120


@pytest.mark.parametrize("features", WEIGHED, ids=lambda features: "+".join(sorted(features)))
def test_hours_are_weighed_as_the_plan_weighs_them(features: frozenset[Feature]) -> None:
    """SPEC S2: where waiting costs, the search leaves later for another window, or is late, as the plan will."""
    days = [random_problem(seed, tickets=15, features=features | {Feature.TIME_WINDOWS}) for seed in range(25)]
    assert all(states_true_costs(day, seed) for seed, day in enumerate(days))


@pytest.mark.parametrize("features", IN_CONSTANT_TIME, ids=lambda features: "+".join(sorted(features)))
def test_prices_computed_without_a_walk_are_those_of_a_walk(features: frozenset[Feature]) -> None:
    """SPEC S2: the same where hours, trips and releases are priced in constant time."""
    days = [random_problem(seed, tickets=25, features=features) for seed in range(25)]
    assert all(states_true_costs(day, seed) for seed, day in enumerate(days))


def states_true_costs(problem: Problem, seed: int) -> bool:
    """Return whether a plan was found; fail where it costs something else than was believed, or does not hold."""
    limits = SearchLimits(time.monotonic() + 30, seed)
    run = sisr_engine._Run(problem, limits, 100, None, drops_short_routes=True)
    best = run.follow(lambda _: None, lambda: False).best
    if best is None:
        return False
    believed, cost = int(run._incumbent_buffer[sisr_engine.native_arrays.COST]), price(problem, best)
    # longest routes are priced when all are known, and each takes the hours that cost least by itself
    assert believed == cost or (problem.span_cost and believed > cost), f"seed {seed}"
    assert verify(problem, build_plan(problem, best)) == [], f"seed {seed}"
    return True


def test_one_seed_gives_one_plan() -> None:
    """SPEC S3: a seed repeats a run of the same number of iterations; another seed is another run."""
    problem = random_problem(7, tickets=60, features=frozenset({Feature.TIME_WINDOWS}))
    assert searched(problem, seed=3) == searched(problem, seed=3)


def test_a_search_may_be_a_part_of_a_longer_cooling() -> None:
    """SPEC O8: what begins hot ends dearer than the whole, and goes on from there to as good a plan."""
    problem = fleet(200)

    def part(begins: float, ends: float, start: Candidate | None = None) -> Candidate:
        limits = SearchLimits(time.monotonic() + 30, 1, cooling=(begins, ends))
        best = SisrEngine(max_iterations=6000).solve(problem, limits, lambda _: None, lambda: False, start).best
        assert best is not None
        return best

    whole, hot = part(0.0, 1.0), part(0.0, 0.3)
    assert price(problem, whole) < price(problem, hot)
    assert price(problem, part(0.3, 1.0, hot)) < 1.01 * price(problem, whole)


@pytest.mark.parametrize("cores", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_parts_searched_side_by_side_make_one_proved_plan(cores: int) -> None:
    """SPEC S2, S3: several cores on one plan; its price is that of the whole, and a seed repeats it."""
    in_parts = 0
    for seed in range(6):
        problem = random_problem(seed, tickets=540 * cores // 2, features=MIXED if seed % 2 else frozenset())
        run = sisr_engine._Run(problem, SearchLimits(time.monotonic() + 30, seed, cores), 600, None)
        best = run.follow(lambda _: None, lambda: False).best
        if best is None:
            continue
        assert verify(problem, build_plan(problem, best)) == [], f"seed {seed}"
        assert int(run._incumbent_buffer[sisr_engine.native_arrays.COST]) == price(problem, best), f"seed {seed}"
        assert searched(problem, 600, seed=seed, cores=cores) == best, f"seed {seed}"
        in_parts += searched(problem, 600, seed=seed) != best
    assert in_parts >= 2


def test_a_day_is_planned_as_well_by_several_cores() -> None:
    """SPEC S2: parts are cut anew so that no border stays; twice the iterations are not worse by more than luck."""
    problem = random_problem(5, tickets=600, features=frozenset())
    alone, together = (searched(problem, 8000, seed=1, cores=cores) for cores in (1, 2))
    assert alone is not None and together is not None
    assert price(problem, together) <= 1.02 * price(problem, alone)


def test_improvements_only_get_cheaper() -> None:
    """SPEC S3: anytime, and the last one handed over is the best."""
    problem = random_problem(11, tickets=200, features=frozenset({Feature.TIME_WINDOWS}))
    seen: list[Candidate] = []
    limits = SearchLimits(time.monotonic() + 0.3, 1)
    outcome = SisrEngine().solve(problem, limits, seen.append, lambda: False)
    costs = [price(problem, candidate) for candidate in seen]
    assert all(later < earlier for earlier, later in pairwise(costs))
    assert seen[-1] == outcome.best
    assert outcome.reason is StopReason.TIME_LIMIT
    assert outcome.iterations > 0


def test_a_warm_start_is_never_lost() -> None:
    """SPEC S3: more time never returns a worse plan than the one it began with."""
    for seed in range(60):
        problem = random_problem(seed, tickets=15, features=frozenset({Feature.TIME_WINDOWS, Feature.SHIPMENTS}))
        first = searched(problem, 300)
        again = searched(problem, 1, seed=9, start=first)
        assert first is not None and again is not None
        assert price(problem, again) <= price(problem, first)


@pytest.mark.parametrize("tickets", [1000, pytest.param(3000, marks=pytest.mark.slow)])
def test_a_stop_is_obeyed_at_once_in_every_phase(tickets: int) -> None:
    """Our choice: cancel takes effect within a second at n = 1000, model building included."""
    problem = random_problem(3, tickets=tickets, features=frozenset({Feature.TIME_WINDOWS}))
    for delay_s in (0.0, 0.02, 0.3):
        stop = threading.Event()
        asked: list[Stopwatch] = []

        def ask(stop: threading.Event = stop, asked: list[Stopwatch] = asked) -> None:
            asked.append(Stopwatch())
            stop.set()

        timer = threading.Timer(delay_s, ask)
        timer.start()
        outcome = SisrEngine().solve(problem, SearchLimits(time.monotonic() + 30), lambda _: None, stop.is_set)
        assert outcome.reason is StopReason.STOPPED
        assert asked[0].spent_s < 0.8
        timer.join()


def test_a_stop_is_obeyed_where_one_insertion_takes_seconds() -> None:
    """SPEC T4: cancel takes effect within a second, also where one vehicle has all shipments of a day."""
    features = frozenset({Feature.SHIPMENTS, Feature.BREAKS, Feature.TIME_COST})
    crowd = random_problem(3, tickets=1000, features=features)
    van = replace(crowd.agents[0], capacity=(10**6,), shift=(0, 10**6), distance_cost=0)
    pickups = {number: ticket.pickup for number, ticket in enumerate(crowd.tickets) if ticket.pickup is not None}
    alone = {*range(1000)} - pickups.keys() - {*pickups.values()}
    start = Candidate.of_tickets({0: [*chain.from_iterable((lift, drop) for drop, lift in pickups.items()), *alone]})
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    watch, limits = Stopwatch(), SearchLimits(time.monotonic() + 30)
    outcome = SisrEngine().solve(replace(crowd, agents=(van,)), limits, lambda _: None, stop.is_set, start)
    assert outcome.reason is StopReason.STOPPED
    assert watch.spent_s < 1.3


def test_a_first_plan_of_one_long_route_is_whole_soon_after_its_time() -> None:
    """SPEC S3: where one insertion takes long, what is left when the time is up goes to the end of the route."""
    features = frozenset({Feature.SHIPMENTS, Feature.BREAKS, Feature.TIME_COST})
    crowd = random_problem(3, tickets=600, features=features)
    van = replace(crowd.agents[0], capacity=(10**6,), shift=(0, 10**6))
    began = time.process_time()
    limits = SearchLimits(time.monotonic() + 0.1)
    best = SisrEngine().solve(replace(crowd, agents=(van,)), limits, lambda _: None, lambda: False).best
    assert best is not None and len(best.tickets) == 600
    assert time.process_time() - began < 3


def test_the_deadline_is_kept_and_a_plan_is_there() -> None:
    """Our choice: an incumbent within half a second at n = 1000; no solve overruns its time."""
    problem = random_problem(5, tickets=1000, features=frozenset())
    deadline, watch = time.monotonic() + 0.5, Stopwatch()
    outcome = SisrEngine().solve(problem, SearchLimits(deadline), lambda _: None, lambda: False)
    assert outcome.best is not None
    assert watch.spent_s < 1.0


@pytest.mark.parametrize("seed", range(3))
def test_no_plan_is_made_of_travel_that_was_not_read(seed: int) -> None:
    """SPEC S2: a search cancelled before the matrices are read has no plan, rather than one with legs of 0."""
    problem = random_problem(seed, tickets=100, features=frozenset({Feature.TIME_WINDOWS}))
    run = sisr_engine._Run(problem, SearchLimits(time.monotonic()), -1, None)
    run._incumbent_buffer[native_arrays.CANCEL] = 1
    outcome = run.follow(lambda _: None, lambda: False)
    assert outcome.best is None
    assert outcome.reason is StopReason.STOPPED


@pytest.mark.parametrize("seed", range(3))
def test_time_that_is_over_still_gives_a_first_plan(seed: int) -> None:
    """Our choice: a machine too busy to read the matrices in time costs no plan."""
    problem = random_problem(seed, tickets=100, features=frozenset({Feature.TIME_WINDOWS}))
    outcome = SisrEngine().solve(problem, SearchLimits(time.monotonic() - 1), lambda _: None, lambda: False)
    assert outcome.best is not None
    assert outcome.best.tickets
    assert outcome.reason is StopReason.TIME_LIMIT
    assert not verify(problem, build_plan(problem, outcome.best))


def test_one_ticket_is_soon_exhausted() -> None:
    """Our choice: a search with nothing left to try ends before its time."""
    problem = random_problem(1, tickets=1, features=frozenset())
    outcome = SisrEngine().solve(problem, SearchLimits(time.monotonic() + 30), lambda _: None, lambda: False)
    assert outcome.reason is StopReason.EXHAUSTED


def test_without_the_library_the_engine_says_what_is_lacking(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Our choice: without a compiler the product works and says what it lacks."""
    monkeypatch.setattr(sisr_engine, "LIBRARY", tmp_path / "absent.so")
    sisr_engine._library.cache_clear()
    try:
        assert not SisrEngine().is_available()
        assert SisrEngine().versions() == {"sisr": ""}
        with pytest.raises(EngineError, match="native library is not built"):
            searched(random_problem(1))
    finally:
        sisr_engine._library.cache_clear()


FUZZ = """
import sys, time
from pathlib import Path
from tests.shared.scenarios.random_problems import random_problem
from workers.engines.native import sisr_engine
from workers.engines.bounds.plan_prover import PlanProver
from workers.engines.engine_interface import SearchLimits
sisr_engine.LIBRARY = Path(sys.argv[1])
for seed in range(int(sys.argv[2])):
    is_large = seed % 20 == 0
    engine = sisr_engine.SisrEngine(max_iterations=100)
    problem = random_problem(seed, tickets=600 if is_large else None)
    limits = SearchLimits(time.monotonic() + 60, seed, 2 if is_large else 1)
    best = engine.solve(problem, limits, lambda _: None, lambda: False).best
    engine.solve(problem, limits, lambda _: None, lambda: False, best)
    if not is_large and best is not None:
        ends, ignore = time.monotonic() + 2, lambda _: None
        PlanProver(problem, best, deadline=ends, on_proof=ignore, on_improvement=ignore).run()
"""


@pytest.mark.long
@pytest.mark.timeout(900)
def test_sanitizers_find_nothing(tmp_path: Path) -> None:
    """Our choice: the library runs clean under address and undefined-behaviour sanitizers on random days."""
    flags = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-D_GLIBCXX_ASSERTIONS")
    try:
        library = build.build(tmp_path / "asan.so", flags)
    except build.BuildError as error:
        pytest.skip(str(error))
    # the sanitizer finds what throws exceptions only where the library of C++ is loaded with it
    runtime = [
        subprocess.run(
            [str(build.system_compiler()), f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in ("libasan.so", "libstdc++.so")
    ]
    if not all(Path(each).is_absolute() for each in runtime):
        pytest.skip("this compiler brings no preloadable sanitizer runtime")
    done = subprocess.run(
        [sys.executable, "-c", FUZZ, str(library), "600"],
        env={**os.environ, "LD_PRELOAD": " ".join(runtime), "ASAN_OPTIONS": "detect_leaks=0"},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_search_threads_have_no_data_race(tmp_path: Path) -> None:
    """Our choice: search threads, readers of the incumbent and a canceller have no data race."""
    flags, program = ("-g", "-O1", "-fsanitize=thread"), tmp_path / "shared_incumbent_race"
    try:
        library = build.build(tmp_path / "tsan.so", flags)
    except build.BuildError as error:
        pytest.skip(str(error))
    source = Path(__file__).with_name("shared_incumbent_race.cpp")
    common = ("-std=c++20", "-pthread", *flags, "-I", str(build.FOLDER), str(source), str(library))
    subprocess.run([str(build.system_compiler()), *common, "-o", str(program)], check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    if "unexpected memory mapping" in done.stderr:
        pytest.skip("this kernel lays memory out as the sanitizer does not know it")
    assert done.returncode == 0, done.stderr[-3000:]


def test_legs_of_a_thousand_kilometres_cost_what_they_cost() -> None:
    """SPEC S2: on an arc a thousand and more kilometres around the depot one route is the cheapest."""
    arc = [(1.2e6 * math.cos(turn / 40), 1.2e6 * math.sin(turn / 40)) for turn in range(12)]
    places = plane({"D": (0, 0), **{f"P{n}": point for n, point in enumerate(arc)}})
    agents = [{"id": f"v{n}", "capacity": 100} for n in range(12)]
    tickets = [{"id": f"t{n}", "location": f"P{n}", "demand": 5} for n in range(12)]
    assert len(native_plan(problem(agents, tickets, locations=places, travel={})).routes) == 1


@pytest.mark.parametrize("driver", [{}, {"max_distance_km": 15_000}])
def test_what_is_planned_from_coast_to_coast_costs_what_was_believed(driver: dict[str, float]) -> None:
    """SPEC S2: whether in the plane or by a table with three decimals, no leg counts less than it is long."""
    random = Random(7)
    points = [(0.0, 0.0), *((random.uniform(0, 4.4e6), random.uniform(-1.3e6, 1.3e6)) for _ in range(20))]
    names = [f"P{n}" for n in range(len(points))]
    table = [[round(1.2345678 * math.dist(one, other), 3) for other in points] for one in points]
    agents = [{"id": f"v{n}", "capacity": 60, **driver} for n in range(6)]
    tickets = [{"id": f"t{n}", "location": name, "demand": 12} for n, name in enumerate(names[1:])]
    for travel in ({"distances": table, "matrix_locations": names}, {}):
        places = [{"id": name} for name in names] if travel else plane(dict(zip(names, points, strict=True)))
        assert states_true_costs(problem(agents, tickets, locations=places, depot="P0", travel=travel), 1)


def test_a_day_whose_penalties_are_as_large_as_can_be_has_a_plan() -> None:
    """SPEC S3: far too few vehicles for tickets that are all wanted most."""
    body = fleet_body(1000)
    prices = {"cost_per_km": 1.2345, "cost_per_hour": 23.77}
    body["agents"] = [{**each, **prices} for each in body["agents"][:20]]
    body["tickets"] = [{**each, "priority": 9} for each in body["tickets"]]
    problem = compiled(body)
    assert sum(ticket.penalty for ticket in problem.tickets) > 2**60
    best = searched(problem)
    assert best is not None
    assert verify(problem, build_plan(problem, best)) == []
