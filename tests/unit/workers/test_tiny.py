"""Days that are enumerated."""

import time

import pytest

from planner_mcp.vrp.layout.schedule import price
from planner_mcp.vrp.problem import Candidate, Feature
from tests.contract.day import Day
from tests.contract.days import DAYS
from workers.engines import tiny
from workers.engines.base import Limits, StopReason

ENUMERATED = [day for day in DAYS if day.feature not in (Feature.BREAKS, Feature.RELOAD)]


@pytest.mark.parametrize("day", ENUMERATED, ids=str)
def test_enumeration_finds_the_best_plan_of_every_feature(day: Day) -> None:
    """The days of the engine contract are priced by hand; trying everything must come to the same."""
    problem = day.problem
    assert tiny.is_tiny(problem)
    found: list[Candidate] = []
    outcome = tiny.solve(problem, Limits(time.monotonic() + 10), found.append, lambda: False)
    assert outcome.reason is StopReason.EXHAUSTED
    assert outcome.best == found[0]
    assert price(problem, found[0]) == pytest.approx(day.goal(problem), abs=0.01 * problem.cost_scale)


@pytest.mark.parametrize("day", [day for day in DAYS if day not in ENUMERATED], ids=str)
def test_days_with_stops_that_are_no_tickets_are_left_to_the_engines(day: Day) -> None:
    """Breaks and reloads are not enumerated."""
    assert not tiny.is_tiny(day.problem)


def test_enumeration_stops_when_asked() -> None:
    """Engine contract."""
    outcome = tiny.solve(ENUMERATED[0].problem, Limits(time.monotonic() + 10), lambda _: None, lambda: True)
    assert outcome.reason is StopReason.STOPPED
