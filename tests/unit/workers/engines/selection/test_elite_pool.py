"""The pool of good plans: the cheapest of each kind, the best of all first."""

import pytest

from planner_mcp.routing.problem import Candidate
from workers.engines.selection.elite_pool import SIZE, ElitePool, leg_difference, leg_set

COUNT = 40


def day(*swaps: int) -> Candidate:
    """Return one route through all tickets, in which every named one has changed places with its successor."""
    order = list(range(COUNT))
    for at in swaps:
        order[at], order[at + 1] = order[at + 1], order[at]
    return Candidate.of_tickets({0: order})


KINDS = [day(*range(first, COUNT - 1, 6)) for first in range(6)]
"""Plans that have little in common."""


def test_difference_is_the_share_of_legs_not_in_common() -> None:
    """Our choice: plans differ measurably."""
    one, other = leg_set(day()), leg_set(day(7))
    assert len(one) == COUNT + 1
    assert leg_difference(one, one) == 0
    assert leg_difference(one, other) == pytest.approx(3 / (COUNT + 1))
    assert leg_difference(one, leg_set(Candidate.of_tickets({0: [0]}))) > 0.9


def test_of_plans_alike_the_cheaper_stays() -> None:
    """Our choice: a search that improves step by step fills one place of the pool, not all."""
    pool = ElitePool()
    rest = list(range(2, 4 * COUNT))
    first, second = (Candidate.of_tickets({0: [*pair, *rest]}) for pair in ((0, 1), (1, 0)))
    pool.add(first, 100)
    pool.add(second, 90)
    pool.add(first, 95)
    assert [member.candidate for member in pool.members] == [second]


def test_a_full_pool_lets_the_dearest_go() -> None:
    """Our choice: a small pool."""
    pool = ElitePool()
    for cost, plan in zip((6, 5, 4, 3, 2, 1), KINDS, strict=True):
        pool.add(plan, cost)
    assert [member.cost for member in pool.members] == [1, 2, 3, 4, 5]
    assert len(pool.members) == SIZE
    pool.add(KINDS[0], 6)
    assert [member.cost for member in pool.members] == [1, 2, 3, 4, 5]


def test_searches_start_from_the_best_and_from_others_nearly_as_good() -> None:
    """Our choice: lanes start from different plans; a plan too dear to catch up is nobody's start."""
    pool = ElitePool()
    assert pool.starts(2) == [None, None]
    pool.add(KINDS[0], 10_000)
    assert pool.starts(2) == [KINDS[0], KINDS[0]]
    pool.add(KINDS[1], 10_020)
    pool.add(KINDS[2], 11_000)
    assert pool.starts(1) == [KINDS[0]]
    assert pool.starts(3) == [KINDS[0], KINDS[1], KINDS[0]]
