"""Matches the breaks taken on a route with the breaks the agent must take.

Owns the matching alone; times are checked by `verification/route_verification.py`. Part of the independent verifier: it
shares no code with evaluation. Where the windows of breaks overlap, a taken break may fit several required ones. Trying
every matching could take 10! steps, so the matching is found by augmenting paths.

Source: Mendelsohn and Dulmage, "Some generalizations of the problem of distinct representatives", 1958. If one matching
covers all of one side, and another covers a subset of the other side, then one matching covers both.
"""

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


def can_pair(
    taken: Sequence[T], asked: Sequence[U], *, fits: Callable[[T, U], bool], is_due: Callable[[U], bool]
) -> bool:
    """Return whether the taken breaks match distinct required ones, and every break that is due is matched.

    Args:
        taken: Breaks on the route.
        asked: Breaks of the agent.
        fits: Whether a taken break satisfies a required one.
        is_due: Whether a required break must be taken on the route.
    """
    pairs = {(left, right) for left, one in enumerate(taken) for right, other in enumerate(asked) if fits(one, other)}
    options_of_taken = [[right for right in range(len(asked)) if (left, right) in pairs] for left in range(len(taken))]
    options_of_due = [
        [left for left in range(len(taken)) if (left, right) in pairs]
        for right, other in enumerate(asked)
        if is_due(other)
    ]
    return _has_one_each(options_of_taken) and _has_one_each(options_of_due)


def _has_one_each(choices: Sequence[Collection[int]]) -> bool:
    """Return whether each element can have one of its choices that no other has; by augmenting paths."""
    owner: dict[int, int] = {}

    def assign(index: int, tried: set[int]) -> bool:
        for choice in choices[index]:
            if choice in tried:
                continue
            tried.add(choice)
            if choice not in owner or assign(owner[choice], tried):
                owner[choice] = index
                return True
        return False

    return all(assign(index, set()) for index in range(len(choices)))
