"""What `auto` does with its time and its cores (SPEC S2, S3)."""

import os
import signal
import sys
import time
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from planner_mcp.errors import EngineCrashedError
from planner_mcp.routing.evaluation import timing_cache
from planner_mcp.routing.evaluation.plan_builder import price
from planner_mcp.routing.evaluation.route_schedule import RouteSchedule, schedule_route
from planner_mcp.routing.plan import ProofRecord
from planner_mcp.routing.problem import Candidate, Problem, Route
from tests.shared.engines.native_search import needs_native
from tests.shared.engines.scripted_engine import ScriptedEngine
from tests.shared.processes.stopwatch import Stopwatch
from tests.shared.scenarios.plan_enumeration import cheapest
from tests.shared.scenarios.scenario_builders import compiled
from tests.shared.scenarios.seeded_fleet import fleet, fleet_body, verified_solution
from workers.engines.bounds.plan_prover import PlanProver
from workers.engines.bounds.proof_engine import ProofEngine
from workers.engines.engine_interface import SearchLimits, SearchOutcome, ShouldStop, StopReason
from workers.engines.heuristics import enumeration
from workers.engines.native.sisr_engine import SisrEngine
from workers.engines.selection import engine_registry, parallel_search
from workers.engines.selection.portfolio import Portfolio
from workers.solver_processes.verified_incumbent import Incumbent, PlanOrigin

ONE, TWO = Candidate.of_tickets({0: [1, 2]}), Candidate.of_tickets({0: [1], 3: [2]})


@pytest.mark.parametrize("cores", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_portfolio_hands_over_ever_cheaper_verified_plans(cores: int) -> None:
    """SPEC S3, with engines in turn and side by side."""
    problem = fleet(60)
    prices: list[int] = []

    watch, deadline = Stopwatch(), time.monotonic() + 0.8
    outcome = engine_registry.choose(problem).solve(
        problem, SearchLimits(deadline, cores=cores), verified_solution(problem, prices), lambda: False
    )
    assert watch.elapsed_s > 0.6
    assert watch.spent_s < 1.5
    assert all(later < earlier for earlier, later in pairwise(prices))
    assert outcome.best is not None
    assert price(problem, outcome.best) == prices[-1]
    assert set(outcome.best.found_by) <= {engine.name for engine in engine_registry.engines()}
    assert outcome.best.found_by


def test_portfolio_side_by_side_stops_soon_after_it_is_asked() -> None:
    """Engine contract."""
    problem = fleet(60)
    began, watch = time.monotonic(), Stopwatch()
    engine = engine_registry.choose(problem)
    outcome = engine.solve(
        problem, SearchLimits(began + 10, cores=2), lambda _: None, lambda: time.monotonic() > began + 0.3
    )
    assert outcome.reason is StopReason.STOPPED
    assert watch.spent_s < 0.8


def test_candidate_travels_whole() -> None:
    """Our choice: between processes candidates are plain JSON."""
    found = replace(TWO, found_by=("sisr", "pyvrp"))
    assert parallel_search.decode(parallel_search.encode(found)) == found
    assert parallel_search.decode(parallel_search.encode(found)).found_by == found.found_by


def test_what_is_proved_travels_whole() -> None:
    """Our choice: as candidates do."""
    proof = ProofRecord(12.5, is_optimal=True, columns=3, seconds=0.25, relaxed=("breaks",))
    assert parallel_search.decode(parallel_search.encode(proof)) == proof


@needs_native
@pytest.mark.parametrize("cores", [1, 2])
def test_a_small_day_ends_as_soon_as_its_plan_is_proved(cores: int) -> None:
    """SPEC S2, S3: the bound meets the cost of the best plan, and the rest of the time is not used."""
    problem, proofs = fleet(12), list[ProofRecord]()
    limits = SearchLimits(time.monotonic() + 120, cores=cores, on_proof=proofs.append)
    outcome = engine_registry.choose(problem).solve(problem, limits, lambda _: None, lambda: False)
    assert time.monotonic() < limits.deadline
    assert outcome.best is not None and outcome.reason is StopReason.EXHAUSTED
    assert proofs[-1].is_optimal
    assert {"sisr"} <= set(outcome.best.found_by) <= {"sisr", "prove"}
    assert round(proofs[-1].lower_bound * problem.cost_scale) == price(problem, outcome.best)


@needs_native
def test_a_small_day_that_nobody_wants_proved_is_searched_for_its_whole_time() -> None:
    """SPEC S3: as in alternatives at prices of their own, where a bound would say nothing."""
    deadline = time.monotonic() + 1
    engine_registry.choose(fleet(12)).solve(fleet(12), SearchLimits(deadline), lambda _: None, lambda: False)
    assert time.monotonic() > deadline - 0.2


@needs_native
def test_a_plan_without_all_wanted_tickets_is_not_proved() -> None:
    """SPEC S2: a bound holds for plans that serve all of them."""
    body = fleet_body(12)
    problem, proofs = compiled({**body, "agents": body["agents"][:1]}), list[ProofRecord]()
    limits = SearchLimits(time.monotonic() + 1, on_proof=proofs.append)
    outcome = engine_registry.choose(problem).solve(problem, limits, lambda _: None, lambda: False)
    assert outcome.best is not None and len(outcome.best.tickets) < 12
    assert proofs == []


@needs_native
def test_a_day_that_starts_from_a_plan_without_new_tickets_is_proved() -> None:
    """SPEC S2, T4: as every re-solve with a new ticket does."""
    problem, proofs = fleet(12), list[ProofRecord]()
    limits = SearchLimits(time.monotonic() + 120, on_proof=proofs.append)
    start = Candidate.of_tickets({0: [3]})
    outcome = engine_registry.choose(problem).solve(problem, limits, lambda _: None, lambda: False, start)
    assert time.monotonic() < limits.deadline
    assert outcome.best is not None and len(outcome.best.tickets) == 12
    assert proofs[-1].is_optimal


@needs_native
def test_a_bound_of_a_day_without_rush_hours_is_not_given_for_one_with_them() -> None:
    """SPEC S2: where travel takes longer at some hours, searches solve other days in its place."""
    travel = {"rush_hours": [{"start": 0, "end": 500, "factor": 2}]}
    problem, proofs = compiled({**fleet_body(12), "travel": travel}), list[ProofRecord]()
    assert problem.travel_periods
    limits = SearchLimits(time.monotonic() + 1, on_proof=proofs.append)
    engine_registry.choose(problem).solve(problem, limits, lambda _: None, lambda: False)
    assert proofs == []


@needs_native
@pytest.mark.parametrize("cores", [1, 2])
def test_a_proof_that_fails_costs_the_solve_nothing(cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S3: nor when it is ended from outside, for its memory."""
    monkeypatch.setattr(ProofEngine, "solve", Dying("prove", None).solve)
    problem, proofs = fleet(12), list[ProofRecord]()
    limits = SearchLimits(time.monotonic() + 1, cores=cores, on_proof=proofs.append)
    outcome = engine_registry.choose(problem).solve(problem, limits, lambda _: None, lambda: False)
    assert outcome.best is not None and len(outcome.best.tickets) == 12
    assert proofs == []


@needs_native
def test_a_plan_that_the_verifier_rejects_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S2: it may cost less than the best plan, and the search would end with what is left."""
    rejected = ScriptedEngine("sisr", Candidate.of_tickets({0: list(range(12))}))
    monkeypatch.setattr(SisrEngine, "solve", rejected.solve)
    proofs = list[ProofRecord]()
    limits = SearchLimits(time.monotonic() + 1, on_proof=proofs.append)
    ProofEngine().solve(fleet(12), limits, lambda _: None, lambda: False)
    assert proofs == []


@needs_native
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory")
@pytest.mark.parametrize("proof_mb", [None, 40])
def test_a_proof_that_takes_too_much_memory_ends_alone(
    proof_mb: int | None, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """SPEC S3, J6: the memory of a solve is that of all its processes, so that a large one would end the whole."""

    def run(prover: PlanProver, _should_stop: ShouldStop) -> None:
        bytearray(256 << 20)
        prover._on_proof(ProofRecord(1.0))

    monkeypatch.setattr(PlanProver, "run", run)
    proofs = list[ProofRecord]()
    limits = SearchLimits(time.monotonic() + 2, on_proof=proofs.append, proof_mb=proof_mb)
    outcome = Portfolio([ScriptedEngine("a", Candidate(()))]).solve(fleet(12), limits, lambda _: None, lambda: False)
    assert outcome.best is not None
    assert proofs == ([] if proof_mb else [ProofRecord(1.0)])
    assert "Traceback" not in capfd.readouterr().err


@needs_native
def test_time_for_a_proof_goes_into_a_search_where_wanted_tickets_are_left_out() -> None:
    """SPEC S3: no core is idle on a day that has no proof."""
    body = fleet_body(12)
    problem, deadline = compiled({**body, "agents": body["agents"][:1]}), time.monotonic() + 0.5
    limits = SearchLimits(deadline, on_proof=lambda _: None)
    outcome = ProofEngine().solve(problem, limits, lambda _: None, lambda: False)
    assert outcome.best is not None and outcome.iterations > 0
    assert time.monotonic() > deadline - 0.1


def test_lane_that_dies_costs_the_others_nothing() -> None:
    """Our choice: a crash of one engine is not a crash of the solve."""

    def die(report: parallel_search.OnFinding) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    found: list[Candidate] = []
    assert not parallel_search.run([die, lambda report: report(ONE)], time.monotonic() + 5, found.append, lambda: False)
    assert found == [ONE]
    with pytest.raises(EngineCrashedError):
        parallel_search.run([die, die], time.monotonic() + 5, found.append, lambda: False)


def test_lane_that_ignores_the_deadline_is_ended() -> None:
    """SPEC J6: no solve waits for an engine that forgets the time."""
    began, watch = time.monotonic(), Stopwatch()

    def sleep(report: parallel_search.OnFinding) -> None:
        report(ONE)
        time.sleep(60)

    found: list[Candidate] = []
    parallel_search.run([sleep], began + 0.2, found.append, lambda: False)
    assert found == [ONE]
    assert watch.spent_s < 1.5


def test_search_without_any_plan_is_waited_for() -> None:
    """Our choice: a machine too busy to find a plan in time still gives one."""
    deadline = time.monotonic()

    def search(report: parallel_search.OnFinding) -> None:
        time.sleep(max(0.0, deadline + 2 * parallel_search.OVERTIME_S - time.monotonic()))
        report(ONE)
        time.sleep(60)

    found: list[Candidate] = []
    parallel_search.run([search], deadline, found.append, lambda: False, needs_plan=True)
    assert found == [ONE]


@pytest.mark.parametrize("cores", [1, 2])
def test_day_whose_time_is_over_before_the_search_is_planned(cores: int) -> None:
    """Our choice: a first plan serves every ticket that it can, however late the search begins."""
    problem = fleet(200)
    limits = SearchLimits(time.monotonic() - 1, cores=cores)
    outcome = engine_registry.choose(problem).solve(problem, limits, lambda _: None, lambda: False)
    assert outcome.best is not None
    assert len(outcome.best.tickets) == 200


def test_an_improvement_sent_while_the_deadline_passes_is_kept() -> None:
    """SPEC S3: judging one plan past the end of the time does not lose the better one sent meanwhile."""
    (heard, hear), (both_sent, signal_sent) = os.pipe(), os.pipe()
    deadline = time.monotonic() + 0.2

    def search(report: parallel_search.OnFinding) -> None:
        report(ONE)
        os.read(heard, 1)
        report(TWO)
        os.write(signal_sent, b"!")
        time.sleep(60)

    found: list[Candidate] = []

    def judge(candidate: Candidate) -> None:
        found.append(candidate)
        if candidate == ONE:
            os.write(hear, b"!")
            os.read(both_sent, 1)
            time.sleep(max(0.0, deadline + parallel_search.OVERTIME_S - time.monotonic()))

    parallel_search.run([search], deadline, judge, lambda: False)
    for end in (heard, hear, both_sent, signal_sent):
        os.close(end)
    assert found == [ONE, TWO]


@pytest.mark.parametrize("is_liar_first", [True, False])
def test_plan_the_verifier_refuses_hides_none_that_holds(is_liar_first: bool) -> None:
    """SPEC S2: what one engine gets wrong is neither the answer nor what another starts from."""
    problem = fleet(60)
    lie, truth = Candidate.of_tickets({0: list(range(60))}), Candidate.of_tickets({0: [0]})
    assert price(problem, lie) < price(problem, truth)
    said = [lie, truth] if is_liar_first else [truth, lie]
    engines = [ScriptedEngine(name, candidate) for name, candidate in zip(("sisr", "pyvrp"), said, strict=True)]
    heard: list[Candidate] = []
    outcome = Portfolio(engines).solve(problem, SearchLimits(time.monotonic() + 5), heard.append, lambda: False)
    assert outcome.best == truth
    assert truth in heard
    assert engines[1].starts == [None if is_liar_first else truth]


def test_a_plan_is_timed_once_however_many_verify_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S3: where hours are paid, timing a large plan for each of them would outlast the time of the solve."""
    problem, timed = fleet(60), list[Route]()

    def time_noted(day: Problem, route: Route, *span: Any) -> RouteSchedule:
        timed.append(route)
        return schedule_route(day, route, *span)

    monkeypatch.setattr(timing_cache, "schedule_route", time_noted)
    incumbent = Incumbent(problem, PlanOrigin("auto", 1, {}, ""), lambda *_: None)
    limits = SearchLimits(time.monotonic() + 5)
    outcome = Portfolio([ScriptedEngine("sisr", TWO)]).solve(problem, limits, incumbent.offer, lambda: False)
    assert incumbent.settle(outcome.best).tickets_served == 2
    assert timed == list(TWO.routes)


@pytest.mark.parametrize("cores", [1, 2])
def test_an_engine_that_fails_costs_no_plan_that_stands(cores: int) -> None:
    """SPEC S3: what the finisher has no memory for, the starter's plan does not need."""
    problem, plan = fleet(60), Candidate.of_tickets({0: [0]})
    engines = [ScriptedEngine("sisr", plan), Failing("pyvrp", None)]
    outcome = Portfolio(engines).solve(
        problem, SearchLimits(time.monotonic() + 5, cores=cores), lambda _: None, lambda: False
    )
    assert outcome.best is not None and outcome.best.routes == plan.routes


@pytest.mark.parametrize("last", ["fails", "dies"])
def test_a_last_round_that_fails_on_every_core_costs_no_plan_that_stands(last: str) -> None:
    """SPEC S3: nor when its processes are ended from outside, for their memory."""
    problem, plan = fleet(60), Candidate.of_tickets({0: [0]})
    capable = [Failing("sisr", None) if last == "fails" else Dying("sisr", None)]
    outcome = Portfolio(capable).solve(
        problem, SearchLimits(time.monotonic() + 5, cores=2), lambda _: None, lambda: False, warm_start=plan
    )
    assert outcome.best == plan


def test_an_engine_that_fails_without_a_plan_fails_the_solve() -> None:
    """Our choice: where nothing was found the reason is told."""
    engines = [Failing("sisr", None), ScriptedEngine("pyvrp", None)]
    with pytest.raises(MemoryError):
        Portfolio(engines).solve(fleet(60), SearchLimits(time.monotonic() + 5), lambda _: None, lambda: False)


def test_a_tiny_day_that_is_given_up_is_searched_from_what_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S3: where there is no time to try everything, the engines have what is left of it."""
    monkeypatch.setattr(enumeration, "PROJECTION_SHARE", 0.0)
    monkeypatch.setattr(enumeration, "REMAINING_TIME_RATIO", 1e9)
    problem = fleet(5)
    best = price(problem, cheapest(problem))
    prices: list[int] = []

    def note(candidate: Candidate) -> None:
        prices.append(price(problem, candidate))

    deadline = time.monotonic() + 5
    outcome = engine_registry.choose(problem).solve(problem, SearchLimits(deadline), note, lambda: best in prices)
    assert outcome.best is not None
    assert price(problem, outcome.best) == min(prices) == best
    assert set(outcome.best.found_by) - {enumeration.NAME}


class Failing(ScriptedEngine):
    """An engine that runs out of memory."""

    def solve(self, *_: Any, **__: Any) -> SearchOutcome:
        raise MemoryError


class Dying(ScriptedEngine):
    """An engine whose process is ended, where it has one of its own."""

    _parent = os.getpid()

    def solve(self, *_: Any, **__: Any) -> SearchOutcome:
        assert os.getpid() != self._parent
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError
