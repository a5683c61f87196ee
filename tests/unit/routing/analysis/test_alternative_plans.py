"""Styles of planning one day, and their plans on the same terms."""

from dataclasses import replace
from typing import Any

import pytest

from planner_mcp.routing.analysis.alternative_plans import styles, trade_offs
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.problem import Problem
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from planner_mcp.routing.scenario.scenario_patch import revise
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.scenarios.scenario_builders import agent, body, candidate, compiled, plane, ticket
from workers.engines.engine_interface import SearchLimits
from workers.engines.heuristics import enumeration

TICKETS = [
    ticket("a", "A", service_time_s=600),
    ticket("b", "B", soft_close=100, lateness_cost_per_hour=1),
    ticket("c", "C", service_time_s=700),
]
DAY = body([agent("v", cost_per_km=1000, end_location=None), agent("w", cost_per_km=1000)], TICKETS)


def best(day: dict[str, Any]) -> tuple[Problem, Plan]:
    """Return the best plan there is."""
    problem = compiled(day)
    found = enumeration.solve(problem, SearchLimits(float("inf")), lambda _: None, lambda: False).best
    assert found is not None
    return problem, build_plan(problem, found)


def test_only_styles_that_make_a_difference_are_offered() -> None:
    """SPEC T5: no price, no soft window, one agent: nothing to trade off but time."""
    day = body()
    plan = best(day)[1]
    assert set(styles(parse_scenario(day), plan)) == {"quickest", "other_search"}
    assert set(styles(parse_scenario(DAY), replace(best(DAY)[1], agents_used=2))) == {
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
    patches = styles(parse_scenario(DAY), replace(base, agents_used=2))
    plans = {name: best(revise(DAY, patch))[1] for name, patch in patches.items()}
    rows = dict(zip(plans, trade_offs(problem, list(plans.values())), strict=True))
    assert all(row.is_valid and row.tickets_served == 3 for row in rows.values())
    assert getattr(rows[style], column) == min(getattr(row, column) for row in rows.values())
    assert rows["other_search"].cost == min(row.cost for row in rows.values())
    assert len({row.cost for row in rows.values()}) > 1


PRICED = body(
    [agent("v", cost_per_km=1), agent("w", cost_per_km=1, fixed_cost=1)],
    [
        ticket("optional", "B", penalty=50, soft_close=1, lateness_cost_per_hour=1),
        ticket("at_home", "C"),
        ticket("at_work", "B", service_time_s=3600),
        ticket("not_worth_it", "C", penalty=1, service_time_s=7200),
    ],
    locations=plane({"D": (0, 0), "B": (10_000, 0), "C": (-9000, 0)}),
    groups=[{"kind": "one_of", "tickets": ["at_home", "at_work"], "penalty": 40}],
    options={"balance_cost_per_hour": 1},
)
"""A ticket and a group that are worth their way, and a ticket that is not worth its hours."""
STYLES = ["fewest_agents", "balanced", "quickest", "punctual", "shortest"]


@pytest.mark.parametrize("style", STYLES)
def test_a_style_changes_how_tickets_are_served_and_not_whether(style: str) -> None:
    """SPEC T5: what a priced ticket or group is worth was weighed by the prices of the day, not by those of a style."""
    base = best(PRICED)[1]
    assert [entry.ticket_id for entry in base.unassigned if entry.ticket_id.startswith("n")] == ["not_worth_it"]
    other = best(revise(PRICED, styles(parse_scenario(PRICED), replace(base, agents_used=2))[style]))[1]
    served = {visit.ticket_id for route in other.routes for visit in route.visits}
    assert served - {"at_home", "at_work"} == {"optional"}
    assert len(served) == base.tickets_served == 2


@pytest.mark.parametrize("style", STYLES)
def test_a_style_keeps_what_the_day_says_besides(style: str) -> None:
    """SPEC T5: every price of the day still counts beside what the style cares for."""
    day = body(
        [agent("v", cost_per_km=2, cost_per_hour=3, fixed_cost=4, overtime_cost_per_hour=5), agent("w", cost_per_km=0)],
        [ticket("a", soft_close=9, lateness_cost_per_hour=6), ticket("b", preferred_agent="v", switch_cost=7)],
        options={"balance_cost_per_hour": 8},
    )
    other = revise(day, styles(parse_scenario(day), replace(best(day)[1], agents_used=2, cost=100))[style])
    for name in ("agents", "tickets"):
        for old, new in zip(day[name], other[name], strict=True):
            assert all(new[field] >= value for field, value in old.items() if isinstance(value, int))
    assert other["options"]["balance_cost_per_hour"] >= 8


def test_a_rate_of_nothing_is_a_rate() -> None:
    """SPEC T5: where driving is said to be free, a style that cares for time does not make it dear."""
    day = body([agent("v", cost_per_km=0, fixed_cost=9)])
    patch = styles(parse_scenario(day), best(day)[1])["quickest"]
    assert "cost_per_km" not in patch["agents"]["v"]


def test_duplicates_and_broken_promises_are_flagged() -> None:
    """SPEC T5: equal routes are no alternative; a plan of another day may not hold on this one."""
    problem, base = best(DAY)
    other = compiled(body(DAY["agents"], [*TICKETS[:2], ticket("c", "C", time_windows=[[0, 5]])]))
    late = build_plan(other, candidate(other, "c", "a"))
    rows = trade_offs(other, [late, base, late])
    assert [row.duplicate_of for row in rows] == [None, None, 0]
    assert [row.is_valid for row in rows] == [True, False, True]
    assert rows[0].difference == 0
    assert rows[1].difference > 0.5
    assert trade_offs(problem, [base])[0].cost == base.cost
    assert verify(problem, base) == []
