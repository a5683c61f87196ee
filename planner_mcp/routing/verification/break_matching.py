"""The proof of the breaks of a route: each one taken stands for one asked for, none stands for two.

Owns the pairing alone; times are `proof/route.py`'s. Part of the independent proof: it shares nothing with what it
judges. Where the windows of breaks overlap, a break taken may fit several asked for; trying every pairing could take
10! steps, so pairs are found by augmenting paths.

Source: Mendelsohn and Dulmage, "Some generalizations of the problem of distinct representatives", 1958. Where all of
one side can be paired, and some of the other side can, one pairing holds all of both.
"""

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


def can_pair(
    taken: Sequence[T], asked: Sequence[U], *, fits: Callable[[T, U], bool], is_due: Callable[[U], bool]
) -> bool:
    """Return whether every break taken is one asked for, and every one that is due is taken.

    Args:
        taken: On the route.
        asked: Of the agent.
        fits: Whether one taken may stand for one asked for.
        is_due: Whether one asked for must be taken on the route.
    """
    pairs = {(left, right) for left, one in enumerate(taken) for right, other in enumerate(asked) if fits(one, other)}
    stands_for = [[right for right in range(len(asked)) if (left, right) in pairs] for left in range(len(taken))]
    stood_for = [
        [left for left in range(len(taken)) if (left, right) in pairs]
        for right, other in enumerate(asked)
        if is_due(other)
    ]
    return _has_one_each(stands_for) and _has_one_each(stood_for)


def _has_one_each(choices: Sequence[Collection[int]]) -> bool:
    """Return whether each can have one of its choices that nobody else has; by augmenting paths."""
    owner: dict[int, int] = {}

    def settle(who: int, tried: set[int]) -> bool:
        for choice in choices[who]:
            if choice in tried:
                continue
            tried.add(choice)
            if choice not in owner or settle(owner[choice], tried):
                owner[choice] = who
                return True
        return False

    return all(settle(who, set()) for who in range(len(choices)))
