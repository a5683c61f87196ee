"""The convergence curve of a search: best cost over time, in few points (SPEC T5, J5).

Owns the simplification. A search may have thousands of improvements; the curve keeps the first, the last and the
largest.
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
    """Penalty of wanted tickets left out: (penalty, cost) only falls, cost alone need not."""


def convergence_curve(points: Iterable[ConvergencePoint], *, most: int = 20) -> list[ConvergencePoint]:
    """Return the improvements among some points, reduced to the largest; the first and the last are always kept.

    Costs of an alternative follow from other prices than its search lowers: where the last plan costs more than one
    before, every other plan is a step.

    Args:
        points: In the order of time; of a search that falls to its last plan those that do not improve are dropped.
        most: Points kept, at least 2.
    """
    all_points = list(points)
    is_falling = bool(all_points) and _value(all_points[-1]) <= min(map(_value, all_points))
    steps: list[ConvergencePoint] = []
    for point in all_points:
        is_step = not steps or (_value(point) < _value(steps[-1]) if is_falling else _value(point) != _value(steps[-1]))
        if is_step:
            steps.append(point)
    while len(steps) > most:
        del steps[_least_visible(steps)]
    return steps


def _value(point: ConvergencePoint) -> tuple[float, float]:
    return point.penalty, point.cost


def _least_visible(steps: Sequence[ConvergencePoint]) -> int:
    """Return the inner point whose removal changes the curve least: the smallest area between its neighbours."""

    def area(at: int) -> float:
        before, point, after = steps[at - 1 : at + 2]
        step = abs(before.penalty - point.penalty) + abs(before.cost - point.cost)
        return (after.elapsed_s - point.elapsed_s) * step

    return min(range(1, len(steps) - 1), key=area)
