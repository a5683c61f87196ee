"""Which break of a route is which: judged as by trying every order, without trying them."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations, product

from hypothesis import example, given
from hypothesis import strategies as st

from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.verification.break_matching import can_pair
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.scenarios.scenario_builders import agent, candidate, problem, ticket

Table = list[list[bool]]
"""Whether each taken (row) may stand for each asked for (column)."""


def by_every_order(table: Table, due: Sequence[bool]) -> bool:
    """Return what the definition says: some order of those asked for, each in its place, leaves none that is due."""
    return any(
        all(row[column] for row, column in zip(table, chosen, strict=True))
        and not any(is_due for column, is_due in enumerate(due) if column not in chosen)
        for chosen in permutations(range(len(due)), len(table))
    )


@st.composite
def tables(draw: st.DrawFn) -> tuple[Table, list[bool]]:
    """Draw up to five taken and up to five asked for."""
    asked = draw(st.integers(0, 5))
    rows = st.lists(st.booleans(), min_size=asked, max_size=asked)
    return draw(st.lists(rows, max_size=5)), draw(rows)


@given(tables())
@example(([[True, True], [True, False]], [False, False]))
@example(([[True, True, False]], [False, True, True]))
@example(([[True, False]], [False, True]))
def test_breaks_are_paired_as_by_trying_every_order(drawn: tuple[Table, list[bool]]) -> None:
    """SPEC S2: none stands for two, and none that must be taken is left out."""
    table, due = drawn
    found = can_pair(range(len(table)), range(len(due)), fits=lambda a, b: table[a][b], is_due=lambda b: due[b])
    assert found is by_every_order(table, due)


def test_ten_breaks_alike_are_compared_a_hundred_times_not_in_millions_of_orders() -> None:
    """SPEC S2: nine could stand for any of ten, the last for none; the proof of a plan takes no longer for that."""
    asked: list[tuple[int, int]] = []

    def fits(taken: int, rest: int) -> bool:
        asked.append((taken, rest))
        return taken < 9

    assert not can_pair(range(10), range(10), fits=fits, is_due=lambda _: True)
    assert sorted(asked) == list(product(range(10), repeat=2))


def test_a_break_within_the_hours_of_two_leaves_to_the_other_what_only_the_other_can_have() -> None:
    """SPEC S1, S2: the first rest on the route may stand for the second one asked for; hours tell, not the order."""
    narrow, wide = ({"earliest": 1, "latest": latest, "duration_s": 2} for latest in (3, 90))
    before = problem([agent(breaks=[narrow, wide], shift_start=1)], [ticket("a", "A", service_time_s=5)])
    plan = build_plan(before, candidate(before, "break", "a", "break"))
    turned = replace(before, agents=(replace(before.agents[0], breaks=before.agents[0].breaks[::-1]),))
    assert verify(before, plan) == verify(turned, plan) == []
