"""Unit tests of the subset-row cuts."""

import numpy as np
import pytest

from workers.engines.bounds.subset_row_cuts import SubsetRowCut, cut_of, masks_of, violated_triples

A, B, C, D, E = range(5)


@pytest.mark.parametrize(
    ("route", "memory", "count"),
    [
        ([A, B], {A, B, C}, -1),
        ([A, D, B], {A, B, C}, 0),
        ([A, D, B], {A, B, C, D}, -1),
        ([A, B, C], {A, B, C}, -1),
        ([A, D, B, C], {A, B, C}, -1),
        ([D, E], {A, B, C, D}, 0),
        ([A, B, A, C], {A, B, C}, -2),
    ],
)
def test_a_route_counts_each_pair_of_visits_that_is_remembered(route: list[int], memory: set[int], count: int) -> None:
    """SPEC S2: the same from the start of a route and from its end."""
    cut = SubsetRowCut((A, B, C), frozenset(memory))
    assert cut.entries(0, route) == cut.entries(0, route[::-1]) == count


def test_half_of_each_of_three_routes_is_one_pair_too_many() -> None:
    """SPEC S2: three tickets by twos; the memory is what lies between them, so that each route counts."""
    routes = [(A, B), (B, D, C), (C, E, D, A), (E,)]
    serves = np.zeros((len(routes), 5))
    for number, route in enumerate(routes):
        serves[number, list(route)] = 1
    amounts = np.array([0.5, 0.5, 0.5, 1.0])
    triples = violated_triples(serves, amounts)
    assert (A, B, C) in triples
    assert (A, B, C) not in violated_triples(serves, amounts, known=frozenset({(A, B, C)}))
    assert violated_triples(serves, np.array([1.0, 0.0, 1.0, 0.0])) == []
    cut = cut_of((A, B, C), routes)
    assert cut.memory == {A, B, C, D, E}
    assert [cut.entries(0, route) for route in routes] == [-1, -1, -1, 0]


def test_the_memory_is_the_shorter_way_between_two_of_three_visits() -> None:
    """SPEC S2: what a cut need not remember distinguishes no partial routes."""
    assert cut_of((A, B, C), [(A, D, E, B, C), (D, E)]).memory == {A, B, C}
    assert cut_of((A, B, C), [(A, B)], frozenset({A, B, C, D})).memory == {A, B, C, D}


def test_cuts_are_bits_of_tickets_and_memories() -> None:
    """SPEC S2: the layout that the pricing reads."""
    masks = masks_of(
        [SubsetRowCut((A, B, C), frozenset({A, B, C})), SubsetRowCut((A, C, D), frozenset({A, B, C, D}))], 5
    )
    assert masks.tolist() == [[3, 3], [1, 3], [3, 3], [2, 2], [0, 0]]
