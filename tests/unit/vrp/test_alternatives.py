"""Styles of planning one day, and their plans on the same terms."""

from typing import Any

import pytest

from planner_mcp.vrp.advice.alternatives import styles, weigh
from planner_mcp.vrp.compile.compiler import compile_scenario
from planner_mcp.vrp.day.patch import revise
from planner_mcp.vrp.layout.schedule import lay_out
from planner_mcp.vrp.plan import Plan
from planner_mcp.vrp.problem import Problem
from planner_mcp.vrp.proof.verify import verify
from planner_mcp.vrp.scenario import parse_scenario
from tests.unit.vrp.days import agent, body, candidate, ticket
from workers.engines import tiny
from workers.engines.base import Limits

TICKETS = [
    ticket("a", "A", service_time_s=600),
    ticket("b", "B", soft_close=100, lateness_cost_per_hour=1),
    ticket("c", "C", service_time_s=700),
]
DAY = body([agent("v", cost_per_km=1000, end_location=None), agent("w", cost_per_km=1000)], TICKETS)


def best(day: dict[str, Any]) -> tuple[Problem, Plan]:
    """Return the best plan there is."""
    problem = compile_scenario(parse_scenario(day))
    found = tiny.solve(problem, Limits(float("inf")), lambda _: None, lambda: False).best
    assert found is not None
    return problem, lay_out(problem, found)


def test_only_styles_that_make_a_difference_are_offered() -> None:
    """SPEC T5: no price, no soft window, one agent: nothing to trade off but time."""
    day = body()
    plan = best(day)[1].as_json()
    assert set(styles(day, plan)) == {"quickest", "other_search"}
    assert set(styles(DAY, {**best(DAY)[1].as_json(), "agents_used": 2})) == {
        "fewest_agents",
        "balanced",
        "quickest",
        "punctual",
        "shortest",
        "other_search",
    }


@pytest.mark.parametrize(
    ("style", "column"),
    [
        ("fewest_agents", "agents_used"),
        ("balanced", "longest_s"),
        ("punctual", "late_s"),
        ("shortest", "distance_m"),
    ],
)
def test_a_style_gives_the_best_of_what_it_cares_for(style: str, column: str) -> None:
    """SPEC T5: no other plan of the table has less of it; and every one keeps the day's promises."""
    problem, base = best(DAY)
    patches = styles(DAY, {**base.as_json(), "agents_used": 2})
    plans = {name: best(revise(DAY, patch))[1].as_json() for name, patch in patches.items()}
    rows = dict(zip(plans, weigh(problem, list(plans.values())), strict=True))
    assert all(row.is_valid and row.tickets_served == 3 for row in rows.values())
    assert getattr(rows[style], column) == min(getattr(row, column) for row in rows.values())
    assert rows["other_search"].cost == min(row.cost for row in rows.values())
    assert len({row.cost for row in rows.values()}) > 1


def test_duplicates_and_broken_promises_are_flagged() -> None:
    """SPEC T5: equal routes are no alternative; a plan of another day may not hold on this one."""
    problem, base = best(DAY)
    other = compile_scenario(
        parse_scenario(body(DAY["agents"], [*TICKETS[:2], ticket("c", "C", time_windows=[[0, 5]])]))
    )
    late = lay_out(other, candidate(other, "c", "a")).as_json()
    rows = weigh(other, [late, base.as_json(), late])
    assert [row.duplicate_of for row in rows] == [None, None, 0]
    assert [row.is_valid for row in rows] == [True, False, True]
    assert rows[0].difference == 0
    assert rows[1].difference > 0.5
    assert weigh(problem, [base.as_json()])[0].cost == base.cost
    assert verify(problem, base) == []
