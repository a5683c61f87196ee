"""The convergence curve in few points."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from planner_mcp.routing.analysis.convergence import ConvergencePoint, convergence_curve

CURVES = st.lists(st.tuples(st.floats(0, 9), st.floats(0, 99), st.integers(0, 3)), max_size=40).map(
    lambda rows: [
        ConvergencePoint(sum(r[0] for r in rows[: n + 1]), row[1], 3 - row[2], row[2] * 1e6)
        for n, row in enumerate(rows)
    ]
)


@given(CURVES, st.integers(2, 12))
def test_a_curve_only_falls_and_keeps_its_ends(points: list[ConvergencePoint], most: int) -> None:
    """SPEC T5, J5: never backwards; the first plan and the best one, told last, always stand."""
    points += points and [replace(min(points, key=lambda each: (each.penalty, each.cost)), elapsed_s=1000.0)]
    found = convergence_curve(points, most=most)
    values = [(point.penalty, point.cost) for point in found]
    assert values == sorted(set(values), reverse=True)
    assert len(found) <= most
    if points:
        assert found[0] == points[0]
        assert values[-1] == min((point.penalty, point.cost) for point in points)


def test_the_curve_of_an_alternative_ends_at_its_plan() -> None:
    """SPEC T5: by the prices of the base plan a plan that is better by its own goal may cost more."""
    points = [ConvergencePoint(at, cost, 1) for at, cost in enumerate((100, 100, 90, 95, 95, 130))]
    assert [point.cost for point in convergence_curve(points)] == [100, 90, 95, 130]
    assert [point.cost for point in convergence_curve(points, most=2)] == [100, 130]


def test_the_steepest_steps_are_kept() -> None:
    """SPEC T5: what the eye would see."""
    points = [
        ConvergencePoint(0, 100, 1),
        ConvergencePoint(1, 99, 1),
        ConvergencePoint(2, 50, 1),
        ConvergencePoint(3, 49, 1),
        ConvergencePoint(9, 48, 1),
    ]
    assert [point.cost for point in convergence_curve(points, most=3)] == [100, 50, 48]
