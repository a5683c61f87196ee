"""How a search came to its plan: the best cost over time, in few points (SPEC T5, J5).

Owns the thinning. A curve may have thousands of improvements; a reader needs the first, the last and the steepest.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConvergencePoint:
    """The best plan at one time."""

    elapsed_s: float
    cost: float
    served: int
    penalty: float = 0.0
    """Of wanted tickets left out: (penalty, cost) only falls, cost alone need not."""


def convergence_curve(points: Iterable[ConvergencePoint], *, most: int = 20) -> list[ConvergencePoint]:
    """Return the improvements among some points, thinned to the steepest; first and last are always kept.

    Args:
        points: In the order of time; repeats of the same plan are passed over.
        most: Points kept, at least 2.
    """
    steps: list[ConvergencePoint] = []
    for point in points:
        if not steps or (point.penalty, point.cost) < (steps[-1].penalty, steps[-1].cost):
            steps.append(point)
    while len(steps) > most:
        del steps[_least_visible(steps)]
    return steps


def _least_visible(steps: Sequence[ConvergencePoint]) -> int:
    """Return the inner point whose leaving changes the picture least: the smallest area between its neighbours."""

    def area(at: int) -> float:
        before, point, after = steps[at - 1 : at + 2]
        return (after.elapsed_s - point.elapsed_s) * ((before.penalty - point.penalty) + (before.cost - point.cost))

    return min(range(1, len(steps) - 1), key=area)
