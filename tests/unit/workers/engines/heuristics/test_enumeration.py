"""Days that are enumerated."""

import time
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import pytest

from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.problem import Candidate, Feature, Problem
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.scenarios.plan_enumeration import cheapest
from tests.shared.scenarios.rule_case import RuleCase, agent, ticket
from tests.shared.scenarios.rule_cases import RULE_CASES
from tests.shared.scenarios.scenario_builders import body, compiled, plane
from workers.engines.engine_interface import SearchLimits, StopReason
from workers.engines.heuristics import enumeration

PLACES = {"D": (0, 0), "A": (10, 0), "B": (0, 10), "C": (10, 10), "E": (20, 0), "F": (20, 10), "G": (30, 5)}


def crossing(**changes: Any) -> Problem:
    """Return a day of six tickets for one agent, in an order that crosses itself."""
    tickets = [ticket(place) for place in PLACES if place != "D"]
    return compiled(body([agent(capacity=6, **changes)], tickets, locations=plane(PLACES), travel={}))


@dataclass
class Clock:
    """Time that goes on by a tick whenever it is read."""

    tick: float = 1.0
    now: float = 0.0

    def monotonic(self) -> float:
        self.now += self.tick
        return self.now


ENUMERATED = [day for day in RULE_CASES if day.feature not in (Feature.BREAKS, Feature.RELOAD)]


@pytest.mark.parametrize("day", ENUMERATED, ids=str)
def test_enumeration_finds_the_best_plan_of_every_feature(day: RuleCase) -> None:
    """SPEC S1: the days of the engine contract are priced by hand; trying everything must come to the same."""
    problem = day.problem
    assert enumeration.is_enumerable(problem)
    found: list[Candidate] = []
    outcome = enumeration.solve(problem, SearchLimits(time.monotonic() + 10), found.append, lambda: False)
    assert outcome.reason is StopReason.EXHAUSTED
    assert outcome.best == found[-1]
    assert price(problem, found[-1]) == pytest.approx(day.goal(problem), abs=0.01 * problem.cost_scale)


@pytest.mark.parametrize(("one", "other"), list(product((1, 2, 3), repeat=2)))
def test_any_of_three_agents_may_stay_at_home(one: int, other: int) -> None:
    """SPEC S2: where each ticket is open to one agent, and each agent has room for one, nothing is missed."""
    body = {
        **RULE_CASES[0].body,
        "agents": [agent(n, capacity=1) for n in (1, 2, 3)],
        "tickets": [ticket("A", agents=[f"agent-{one}"]), ticket("C", agents=[f"agent-{other}"])],
    }
    problem = compiled(body)
    best = enumeration.solve(problem, SearchLimits(float("inf")), lambda _: None, lambda: False).best
    assert best is not None
    assert price(problem, best) == price(problem, cheapest(problem))
    assert build_plan(problem, best).tickets_served == (1 if one == other else 2)


@pytest.mark.parametrize(("tickets", "agents"), list(product(range(5), range(1, 5))))
def test_plans_are_counted_before_they_are_tried(tickets: int, agents: int) -> None:
    """SPEC S3: whether there is time for all of them rests on their number."""
    assert enumeration._plan_count(tickets, agents) == len(list(enumeration._candidates(list(range(tickets)), agents)))


def test_a_day_of_six_tickets_is_tiny_for_one_agent_and_not_for_four() -> None:
    """SPEC S3: what cannot be tried in a second is left to a search."""
    day = crossing()
    assert enumeration.is_enumerable(day)
    assert not enumeration.is_enumerable(replace(day, agents=4 * day.agents))


@pytest.mark.parametrize("day", [day for day in RULE_CASES if day not in ENUMERATED], ids=str)
def test_days_with_stops_that_are_no_tickets_are_left_to_the_engines(day: RuleCase) -> None:
    """Our choice: breaks and reloads are not enumerated."""
    assert not enumeration.is_enumerable(day.problem)


def test_what_ends_at_once_is_handed_over_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our choice: the smallest jobs publish one plan."""
    monkeypatch.setattr(enumeration, "REPORT_AFTER_S", 60.0)
    found: list[Candidate] = []
    outcome = enumeration.solve(crossing(), SearchLimits(float("inf")), found.append, lambda: False)
    assert found == [outcome.best]


def test_each_better_plan_is_handed_over_where_trying_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC T4, S3: the best plan so far can be read, kept and finished with before everything has been tried."""
    monkeypatch.setattr(enumeration, "REPORT_AFTER_S", 0.0)
    problem = crossing()
    found: list[Candidate] = []
    outcome = enumeration.solve(problem, SearchLimits(float("inf")), found.append, lambda: False)
    prices = [price(problem, candidate) for candidate in found]
    assert len(prices) > 1
    assert prices == sorted(set(prices), reverse=True)
    assert outcome.best == found[-1]


def test_a_day_on_which_the_fullest_plans_fail_is_begun_by_insertion(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S3: there is something to read before the many plans have been tried of which none holds."""
    monkeypatch.setattr(enumeration, "REPORT_AFTER_S", 0.0)
    problem = crossing(max_tickets=2)
    found: list[Candidate] = []

    def is_enough() -> bool:
        return bool(found)

    outcome = enumeration.solve(problem, SearchLimits(float("inf")), found.append, is_enough)
    assert outcome.iterations == 1
    assert outcome.best == found[0]
    assert len(found[0].routes[0].tickets) == 2
    assert verify(problem, build_plan(problem, found[0])) == []


def test_what_cannot_be_tried_in_the_time_is_given_up_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S3: a search that comes after has most of the time; whoever ends in time is never cut short."""
    clock = Clock()
    monkeypatch.setattr(enumeration, "time", clock)
    problem = crossing(max_tickets=2)
    slow = SearchLimits(clock.now + 1000 * clock.tick)
    outcome = enumeration.solve(problem, slow, lambda _: None, lambda: False)
    assert enumeration.is_incomplete(outcome, slow)
    assert clock.now < clock.tick * 200
    clock.tick, clock.now = 1e-6, 0.0
    quick = SearchLimits(1.0)
    assert enumeration.solve(problem, quick, lambda _: None, lambda: False).reason is StopReason.EXHAUSTED


def test_enumeration_stops_when_asked() -> None:
    """Engine contract."""
    outcome = enumeration.solve(
        ENUMERATED[0].problem, SearchLimits(time.monotonic() + 10), lambda _: None, lambda: True
    )
    assert outcome.reason is StopReason.STOPPED
