"""Every engine keeps every promise it makes, judged by `vrp.proof.verify` (SPEC S1, S2, S3)."""

import time
from dataclasses import replace
from typing import Final

import pytest

from planner_mcp.errors import UnsupportedFeatureError
from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.problem import Candidate, Feature, Problem
from planner_mcp.routing.verification.plan_verification import verify
from planner_mcp.server.tools.solves import solve_vrp
from tests.shared.processes.stopwatch import Stopwatch
from tests.shared.scenarios.rule_case import TOUR, RuleCase, abc, agent
from tests.shared.scenarios.rule_cases import RULE_CASES
from tests.shared.scenarios.scenario_builders import compiled
from tests.shared.scenarios.seeded_fleet import fleet, verified_solution
from workers.engines.engine_interface import Engine, SearchLimits, SearchOutcome, StopReason
from workers.engines.selection import engine_registry

ENGINES = [engine for engine in engine_registry.engines() if engine.is_available()]
GRANTED_S: Final = (0.1, 0.6, 6.0)
"""What an engine takes for a day of three tickets, and what a busy machine grants it; the best plan ends its search,
but for that of OR-Tools, which has no way out before its deadline."""
ENOUGH: Final = 20
"""Looks at `should_stop` after which their rhythm is judged."""
REPEATED: Final = 6
"""Plans of a run that are compared with those of its repetition: by then a search at another pace is elsewhere."""

CASES = [(engine, day) for engine in ENGINES for day in RULE_CASES if not engine.missing(day.problem)]
every_engine = pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)


def test_every_feature_an_engine_claims_is_tried() -> None:
    """Our choice: no feature is claimed without a day on which ignoring it shows: see `test_rule_scenarios.py`."""
    for engine in ENGINES:
        assert {day.feature for tested, day in CASES if tested is engine} == {*engine.features, None}


def test_pyvrp_and_ortools_are_here() -> None:
    """SPEC S2: OR-Tools runs in the workers; others stand behind the same interface."""
    assert {"pyvrp", "ortools"} <= {engine.name for engine in ENGINES}


@pytest.mark.parametrize(("engine", "day"), CASES, ids=[f"{engine.name}-{day}" for engine, day in CASES])
def test_engine_respects_the_feature_it_claims(engine: Engine, day: RuleCase) -> None:
    """SPEC S1: the best plan of a day on which ignoring the feature would give another price."""
    _assert_best(engine, day)


@pytest.mark.parametrize("day", RULE_CASES, ids=str)
def test_auto_plans_every_day(day: RuleCase) -> None:
    """SPEC S2: `auto` picks an engine that respects the day; together the engines know the whole model."""
    _assert_best(engine_registry.choose(day.problem), day)


def _assert_best(engine: Engine, day: RuleCase) -> None:
    """Have an engine find the best plan of a day, each further time with more time to spare."""
    problem = day.problem
    best: list[int] = []
    goal = day.goal(problem)
    enough = goal + problem.cost_scale // 100

    def note(candidate: Candidate) -> None:
        best.append(price(problem, candidate))

    def is_found() -> bool:
        return bool(best) and min(best) <= enough

    for seconds in GRANTED_S:
        outcome = engine.solve(problem, SearchLimits(time.monotonic() + seconds), note, is_found)
        if price(problem, outcome.best or Candidate(())) <= enough:
            break

    plan = _plan(problem, outcome)
    assert plan.tickets_served == day.served
    assert price(problem, outcome.best or Candidate(())) / problem.cost_scale == pytest.approx(
        goal / problem.cost_scale, abs=0.01
    )


@every_engine
def test_improvements_are_verified_plans_that_get_cheaper(engine: Engine) -> None:
    """SPEC S3: more time never returns a worse plan; the last word is the best."""
    problem = fleet(60)
    prices: list[int] = []

    outcome = engine.solve(
        problem, SearchLimits(time.monotonic() + 0.5), verified_solution(problem, prices), lambda: len(prices) > 2
    )

    assert len(prices) > 1
    assert outcome.best is not None
    assert price(problem, outcome.best) == min(prices)


@every_engine
@pytest.mark.parametrize("seconds", [0.3, pytest.param(1.0, marks=pytest.mark.slow)])
def test_engine_ends_at_its_deadline(engine: Engine, seconds: float) -> None:
    """Engine contract: an engine ends by itself at the deadline, with what it has."""
    problem = fleet(200)
    began, watch = time.monotonic(), Stopwatch()
    outcome = engine.solve(problem, SearchLimits(began + seconds), lambda _: None, lambda: False)
    assert watch.elapsed_s > seconds - 0.1
    assert watch.spent_s < seconds + 0.5
    assert outcome.reason is StopReason.TIME_LIMIT
    if outcome.best is not None or engine.name != "ortools":  # what it has may be nothing: it builds its model first
        _plan(problem, outcome)


@every_engine
def test_engine_stops_soon_after_it_is_asked(engine: Engine) -> None:
    """Engine contract: `should_stop` is honoured; OR-Tools improves no more but has no way out before its deadline."""
    problem = fleet(200)
    began, watch = time.monotonic(), Stopwatch()
    outcome = engine.solve(problem, SearchLimits(began + 0.8), lambda _: None, lambda: time.monotonic() > began + 0.3)
    assert outcome.reason is StopReason.STOPPED
    if engine.name != "ortools":
        assert watch.spent_s < 0.7
    _plan(problem, outcome)


@every_engine
def test_stop_is_looked_for_often(engine: Engine) -> None:
    """Engine contract: every 50 ms once it searches, and never silent for half a second; OR-Tools with a plan."""
    problem = fleet(200)
    for seconds in (0.8, 3.0, 12.0, 24.0):  # on a machine that is held up OR-Tools may have no plan in a short one
        if len(gaps := _gaps(engine, problem, seconds)) >= ENOUGH:
            break

    assert len(gaps) >= ENOUGH
    gaps.sort()
    assert gaps[-1] < 0.5
    assert gaps[len(gaps) // 2] < 0.05


def _gaps(engine: Engine, problem: Problem, seconds: float) -> list[float]:
    """Return the times between looks at `should_stop`: of half a second at least, and until there are enough."""
    gaps: list[float] = []
    began = time.monotonic()
    watch, is_counted = Stopwatch(), engine.name != "ortools"

    def note(_: Candidate) -> None:
        nonlocal watch, is_counted
        if not is_counted:
            watch, is_counted = Stopwatch(), True

    def should_stop() -> bool:
        nonlocal watch
        if is_counted:
            gaps.append(watch.spent_s)
        watch = Stopwatch()
        return len(gaps) >= ENOUGH and time.monotonic() > began + 0.5

    engine.solve(problem, SearchLimits(began + seconds), note, should_stop)
    return gaps


@every_engine
def test_search_goes_on_from_a_plan(engine: Engine) -> None:
    """SPEC J6: a re-run starts from the last incumbent and never ends worse."""
    problem = fleet(100)
    first = next(filter(None, (_best_within(engine, problem, seconds) for seconds in (0.15, 4.0, 32.0))))
    prices: list[int] = []
    outcome = engine.solve(
        problem,
        SearchLimits(time.monotonic() + 0.15),
        lambda candidate: prices.append(price(problem, candidate)),
        lambda: False,
        warm_start=first,
    )
    assert outcome.best is not None
    assert price(problem, outcome.best) <= price(problem, first)
    _plan(problem, outcome)


def _best_within(engine: Engine, problem: Problem, seconds: float) -> Candidate | None:
    return engine.solve(problem, SearchLimits(time.monotonic() + seconds), lambda _: None, lambda: False).best


@every_engine
def test_day_that_cannot_be_served_whole_is_served_in_part(engine: Engine) -> None:
    """SPEC S2: an infeasible day is a result, not an error."""
    body = {**RULE_CASES[0].body, "agents": [agent(capacity=2)], "tickets": abc()}
    problem = compiled(body)
    served: list[int] = []
    outcome = engine.solve(
        problem,
        SearchLimits(time.monotonic() + 0.4),
        lambda candidate: served.append(len(candidate.tickets)),
        lambda: 2 in served,
    )
    plan = _plan(problem, outcome)
    assert plan.status == "partial"
    assert plan.tickets_served == 2


@every_engine
@pytest.mark.parametrize("agents", [None, 7], ids=["served whole", "served in part"])
def test_seed_repeats_a_run(engine: Engine, agents: int | None) -> None:
    """SPEC S3, T6: a seed repeats a run, whatever time was lost before, with each engine that the tool names."""
    said = str(solve_vrp.TOOL.input_schema["properties"]["seed"]["description"])
    if engine.name not in said.removeprefix("repeats a run of ").split(" or "):
        pytest.skip("the tool does not say that a seed repeats a run of this engine")
    problem = fleet(60) if agents is None else replace(fleet(60), agents=fleet(60).agents[:agents])
    first, second = (_first_prices(engine, problem, left_s) for left_s in (60.0, 20.0))
    assert len(first) == REPEATED
    assert first == second


def _first_prices(engine: Engine, problem: Problem, left_s: float) -> list[int]:
    """Return the prices of the first plans of a search at the pace of five seconds, whatever time is left for it."""
    prices: list[int] = []
    limits = SearchLimits(time.monotonic() + left_s, seed=7, asked_s=5.0)

    def has_enough() -> bool:
        return len(prices) == REPEATED

    engine.solve(problem, limits, lambda candidate: prices.append(price(problem, candidate)), has_enough)
    return prices


def test_engine_is_named_with_what_it_lacks() -> None:
    """SPEC S2: an engine that cannot plan a day says which feature it lacks."""
    day = next(day for day in RULE_CASES if day.feature is Feature.LOCKS)
    problem = day.problem
    with pytest.raises(UnsupportedFeatureError, match="'pyvrp' does not support locks"):
        engine_registry.choose(problem, "pyvrp")


def test_unknown_engine_is_refused_by_name() -> None:
    """SPEC T7: a name nobody knows is answered with the names that are."""
    problem = compiled({**RULE_CASES[0].body, "tickets": abc(), "agents": [agent()]})
    with pytest.raises(UnsupportedFeatureError, match="installed are auto"):
        engine_registry.choose(problem, "magic")


def test_tiny_day_ends_at_once_with_the_best_plan() -> None:
    """SPEC T1: the smallest call completes without waiting out its solve time; nothing says optimal."""
    problem = compiled({**RULE_CASES[0].body, "tickets": abc(), "agents": [agent()]})
    watch = Stopwatch()
    outcome = engine_registry.choose(problem).solve(
        problem, SearchLimits(time.monotonic() + 30), lambda _: None, lambda: False
    )
    assert watch.spent_s < 0.5
    assert outcome.reason is StopReason.EXHAUSTED
    assert _plan(problem, outcome).cost == TOUR


def _plan(problem: Problem, outcome: SearchOutcome) -> Plan:
    assert outcome.best is not None
    plan = build_plan(problem, outcome.best)
    assert verify(problem, plan) == []
    return plan
