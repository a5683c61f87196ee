"""How `auto` spends its time: rounds that fill it, and a best plan that goes from one to the next."""

import math
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest

from planner_mcp.routing.evaluation.plan_builder import price
from planner_mcp.routing.problem import Candidate, Feature, Problem
from tests.shared.engines.scripted_engine import ScriptedEngine
from tests.shared.scenarios.random_problems import random_problem
from tests.unit.workers.engines.heuristics.test_enumeration import crossing
from workers.engines.engine_interface import Engine, OnImprovement, SearchLimits, ShouldStop
from workers.engines.heuristics import enumeration
from workers.engines.selection import engine_registry, parallel_search, portfolio
from workers.engines.selection.portfolio import Portfolio
from workers.engines.selection.time_allocation import (
    EVEN_SHARE,
    FINISHER,
    FINISHER_FEATURES,
    RECOMBINATION_LONGEST_S,
    RECOMBINATION_SHARE,
    SEAT_LEAD_S,
    STARTER,
    STARTER_FEATURES,
    STARTER_LONG_SHARE,
    STARTER_SHARE,
    SearchRounds,
    member_rounds,
    plan_rounds,
    recombination_s,
    tickets_per_load,
)


def names(problem: Problem, cores: int, capable: list[Engine]) -> list[tuple[float, list[str]]]:
    return [(until, [engine.name for engine in engines]) for until, engines in plan_rounds(problem, cores, capable)]


ABLE: list[Engine] = [ScriptedEngine(STARTER, None), ScriptedEngine(FINISHER, None), ScriptedEngine("ortools", None)]
SMALL, LARGE = (random_problem(1, tickets=n, features=frozenset({Feature.TIME_WINDOWS})) for n in (100, 900))


@pytest.mark.parametrize("cores", [1, 2, 3, 5])
@pytest.mark.parametrize("capable", [ABLE, ABLE[:1], ABLE[1:], ABLE[2:], [ABLE[0], ABLE[2]]])
def test_rounds_fill_the_time_and_the_cores(cores: int, capable: list[Engine]) -> None:
    """SPEC S2: whatever is installed, every core has an engine until the end."""
    rounds = plan_rounds(SMALL, cores, capable)
    assert [len(engines) for _, engines in rounds] == [cores] * len(rounds)
    ends = [until for until, _ in rounds]
    assert ends == sorted(ends) and ends[-1] == 1.0


@pytest.mark.parametrize("day", [SMALL, LARGE])
@pytest.mark.parametrize("cores", [1, 2])
def test_members_of_a_team_do_what_the_cores_of_one_worker_would(day: Problem, cores: int) -> None:
    """SPEC O8, S2: every engine of so many cores has its place; a seat has its plan ready when the owner goes on."""
    span_s = 30.0
    owner, *seats = (member_rounds(day, cores, ABLE, number=number, span_s=span_s) for number in (1, 2, 3))
    assert owner == plan_rounds(day, cores, ABLE)
    for (until, engines), *others in zip(plan_rounds(day, 3 * cores, ABLE), *seats, strict=True):
        for at, (ends, of_seat) in enumerate(others, start=1):
            assert of_seat == (engines[at * cores : (at + 1) * cores] or engines[:1])
            assert ends == pytest.approx(1.0 if until == 1.0 else until - SEAT_LEAD_S / span_s)
    short = member_rounds(day, cores, ABLE, number=2, span_s=0.0)
    assert 0.0 <= short[0][0] <= short[-1][0] == 1.0


def test_shares_follow_kind_and_size() -> None:
    """ADR 13: the finisher gets more where the starter does not settle or lacks moves."""
    assert names(SMALL, 1, ABLE) == [(STARTER_SHARE, [STARTER]), (1.0, [FINISHER])]
    for feature in STARTER_FEATURES:
        day = replace(LARGE, features=LARGE.features | {feature})
        assert names(day, 1, ABLE) == [(STARTER_LONG_SHARE, [STARTER]), (1.0, [FINISHER])]
    roomy = replace(LARGE, agents=tuple(replace(agent, capacity=(100_000,)) for agent in LARGE.agents))
    narrow = replace(LARGE, agents=tuple(replace(agent, capacity=(1,)) for agent in LARGE.agents))
    assert names(roomy, 1, ABLE) == [(EVEN_SHARE, [STARTER]), (1.0, [FINISHER])]
    assert names(narrow, 1, ABLE) == [(STARTER_LONG_SHARE, [STARTER]), (1.0, [FINISHER])]
    untimed = replace(narrow, features=frozenset[Feature]())
    assert names(untimed, 1, ABLE) == [(STARTER_SHARE, [STARTER]), (1.0, [FINISHER])]
    for feature in FINISHER_FEATURES:
        day = replace(SMALL, features=frozenset({feature}))
        assert names(day, 1, ABLE)[0] == (EVEN_SHARE, [STARTER])
    assert names(SMALL, 2, ABLE)[0] == (STARTER_SHARE, [STARTER, FINISHER])
    many = replace(untimed, agents=tuple(replace(agent, capacity=(50,)) for agent in 3 * untimed.agents))
    assert names(many, 2, ABLE) == [(STARTER_SHARE, [STARTER]), (1.0, [FINISHER, STARTER])]  # on both cores
    assert names(many, 2, ABLE[:1]) == [(1.0, [STARTER])]
    few = replace(many, agents=many.agents[:20])
    assert names(few, 2, ABLE[:1])[0] == (STARTER_SHARE, [STARTER, STARTER])  # most tickets stay out
    balanced = replace(many, features=frozenset({Feature.BALANCE}))
    assert names(balanced, 2, ABLE[:1]) == [(STARTER_SHARE, [STARTER, STARTER]), (1.0, [STARTER, STARTER])]
    assert names(roomy, 2, ABLE) == [(EVEN_SHARE, [STARTER, STARTER]), (1.0, [FINISHER, STARTER])]


def test_one_plan_is_parted_where_it_has_enough_tickets_for_each_core() -> None:
    """ADR 13: many short routes of few tickets are none, nor is a part for each of three cores below 250 tickets.

    Below 600 tickets only a day that has nothing but capacities to observe is parted.
    """
    agents = tuple(replace(agent, capacity=(50,)) for agent in LARGE.agents)
    loads = replace(LARGE, agents=agents, features=frozenset[Feature]())
    fleet = math.ceil(550 / tickets_per_load(loads))
    middling = replace(loads, agents=(50 * loads.agents)[:fleet])
    assert names(middling, 2, ABLE[:1]) == [(1.0, [STARTER])]
    assert len(names(middling, 3, ABLE[:1])[0][1]) == 3
    assert len(names(replace(middling, features=LARGE.features), 2, ABLE[:1])[0][1]) == 2
    single = replace(loads, agents=(50 * tuple(replace(agent, capacity=(5,)) for agent in loads.agents))[:400])
    assert 400 * tickets_per_load(single) < 500
    assert len(names(single, 2, ABLE[:1])[0][1]) == 2


def test_a_dimension_that_nobody_needs_fills_no_vehicle() -> None:
    """SPEC S1: not that of a day without any demand either."""
    tickets, agents = SMALL.tickets, SMALL.agents
    light = replace(SMALL, tickets=tuple(replace(ticket, demand=(0,)) for ticket in tickets))
    assert tickets_per_load(light) == math.inf
    assert names(light, 2, ABLE) == names(SMALL, 2, ABLE)
    wider = replace(
        SMALL,
        dimensions=("d0", "d1"),
        tickets=tuple(replace(ticket, demand=(*ticket.demand, 0)) for ticket in tickets),
        agents=tuple(replace(agent, capacity=(*agent.capacity, 1)) for agent in agents),
    )
    assert tickets_per_load(wider) == tickets_per_load(SMALL)


def test_each_engine_is_stopped_when_its_share_of_the_time_is_over() -> None:
    """SPEC S3, ADR 13: the starter leaves the finisher its part; each leaves recombination its seconds."""
    starter, finisher = ScriptedEngine(STARTER, Candidate(())), ScriptedEngine(FINISHER, None)
    began = time.monotonic()
    deadline = began + 1000
    Portfolio([starter, finisher]).solve(SMALL, SearchLimits(deadline), lambda _: None, lambda: False)
    assert starter.deadlines == [pytest.approx(began + STARTER_SHARE * 1000, abs=30)]
    assert finisher.deadlines == [pytest.approx(deadline - RECOMBINATION_LONGEST_S)]


def test_recombination_has_its_share_where_it_gains() -> None:
    """SPEC S2, ADR 50: a share from two seconds on, with a maximum; none for many tickets, long routes and reloads."""
    assert recombination_s(SMALL, 1.9) == 0
    assert recombination_s(SMALL, 10) == pytest.approx(10 * RECOMBINATION_SHARE)
    assert recombination_s(SMALL, 600) == RECOMBINATION_LONGEST_S
    assert recombination_s(LARGE, 10) == 0
    assert recombination_s(replace(SMALL, features=frozenset({Feature.RELOAD})), 10) == 0
    roomy = tuple(replace(agent, capacity=(10**6,)) for agent in SMALL.agents)
    assert recombination_s(replace(SMALL, agents=roomy), 10) == 0


def test_no_seed_is_used_by_two_cores_or_in_two_rounds_or_by_a_solve_with_the_next_seed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SPEC S3: two searches of one seed would be one search, and a plan by another seed no other plan."""
    monkeypatch.setattr(portfolio.parallel_search, "run", in_turn)
    starter, finisher = ScriptedEngine(STARTER, Candidate(())), ScriptedEngine(FINISHER, None)
    for seed in (7, 8):
        limits = SearchLimits(time.monotonic() + 1, seed, 2)
        Portfolio([starter, finisher]).solve(SMALL, limits, lambda _: None, lambda: False)
    seeds = [*starter.seeds, *finisher.seeds]
    assert len(set(seeds)) == len(seeds) == 8
    assert starter.seeds[0] == 7  # the first is the one that was asked for


def test_what_the_enumeration_found_before_it_gave_up_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S3: more time never returns a worse plan, whatever is found after it."""
    monkeypatch.setattr(enumeration, "PROJECTION_SHARE", 0.0)
    monkeypatch.setattr(enumeration, "REMAINING_TIME_RATIO", math.inf)  # hopeless at the first plan
    engine = ScriptedEngine("ortools", Candidate.of_tickets({0: [0]}))
    outcome = Portfolio([engine]).solve(crossing(), SearchLimits(time.monotonic() + 9), lambda _: None, lambda: False)
    assert outcome.best is not None
    assert outcome.best.found_by == (enumeration.NAME,)
    assert len(outcome.best.routes[0].tickets) == 6
    assert engine.starts == [outcome.best]


def test_each_round_starts_from_the_best_plan_so_far() -> None:
    """SPEC S3: more time never returns a worse plan; no seed is used twice."""
    good = Candidate.of_tickets({0: [0, 1, 2]})
    poor = Candidate.of_tickets({0: [2]})
    problem = random_problem(2, tickets=30, features=frozenset())
    assert price(problem, good) < price(problem, poor)
    starter, finisher = ScriptedEngine(STARTER, good), ScriptedEngine(FINISHER, poor)
    portfolio = Portfolio([starter, finisher])
    outcome = portfolio.solve(problem, SearchLimits(time.monotonic() + 1, 7), lambda _: None, lambda: False, poor)
    assert starter.starts == [poor]
    assert [start and start.routes for start in finisher.starts] == [good.routes]
    assert outcome.best is not None and outcome.best.routes == good.routes
    assert starter.seeds == [7] and 7 not in finisher.seeds


def test_searches_of_a_round_start_from_different_good_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our choice: what one lane found is not lost because another's is a little cheaper."""
    one, other = Candidate.of_tickets({0: [0, 1, 2, 3]}), Candidate.of_tickets({0: [3, 1, 0, 2]})
    day = random_problem(2, tickets=600, features=frozenset())
    problem = replace(day, agents=tuple(replace(agent, capacity=(1000,)) for agent in day.agents))
    starter, second, finisher = (
        ScriptedEngine(STARTER, one),
        ScriptedEngine(STARTER, other),
        ScriptedEngine(FINISHER, None),
    )
    rounds: SearchRounds = [(0.5, (starter, second)), (1.0, (finisher, second))]
    monkeypatch.setattr(portfolio, "member_rounds", lambda *_, **__: rounds)
    monkeypatch.setattr(portfolio.parallel_search, "run", in_turn)
    Portfolio([starter]).solve(problem, SearchLimits(time.monotonic() + 1, cores=2), lambda _: None, lambda: False)
    best, next_best = sorted((one, other), key=lambda plan: price(problem, plan))
    assert [start and start.routes for start in finisher.starts] == [best.routes]
    assert [start and start.routes for start in second.starts] == [None, next_best.routes]


def in_turn(
    searches: Sequence[parallel_search.SearchFunction],
    deadline: float,
    on_improvement: OnImprovement,
    should_stop: ShouldStop,
    *,
    needs_plan: bool,
) -> bool:
    """Run lanes one after the other in this process, where their engines can be looked at."""
    for search in searches:
        search(on_improvement)
    return False


@pytest.mark.parametrize("cores", [1, 2])
def test_a_plan_to_start_from_is_never_lost(cores: int) -> None:
    """SPEC S3: with no time to improve it, a given plan is what comes back."""
    problem = random_problem(4, tickets=200, features=frozenset({Feature.TIME_WINDOWS}))
    engine = engine_registry.choose(problem)
    first = engine.solve(problem, SearchLimits(time.monotonic() + 0.2), lambda _: None, lambda: False).best
    again = engine.solve(
        problem, SearchLimits(time.monotonic() + 0.1, 3, cores), lambda _: None, lambda: False, first
    ).best
    assert first is not None and again is not None
    assert price(problem, again) <= price(problem, first)
