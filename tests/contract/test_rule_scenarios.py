"""The days of the engine contract tell what they claim: tried out plan by plan, not taken on trust (SPEC S1, S2)."""

import pytest

from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.problem import Feature, Problem
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.scenarios.plan_enumeration import cheapest
from tests.shared.scenarios.rule_case import RuleCase
from tests.shared.scenarios.rule_cases import RULE_CASES

every_day = pytest.mark.parametrize("day", RULE_CASES, ids=str)


def best(problem: Problem) -> Plan:
    """Return the cheapest plan there is, proved."""
    plan = build_plan(problem, cheapest(problem))
    assert verify(problem, plan) == []
    return plan


def test_every_feature_has_a_day() -> None:
    """SPEC S1: no feature can be claimed without a day on which ignoring it shows."""
    assert {day.feature for day in RULE_CASES} == {*Feature, None}
    assert len({str(day) for day in RULE_CASES}) == len(RULE_CASES)
    assert all(day.feature is None or day.feature in day.problem.features for day in RULE_CASES)


@every_day
def test_no_plan_is_better_than_the_one_that_is_asked_for(day: RuleCase) -> None:
    """SPEC S1: of all plans, the cheapest that is proved has the price and the tickets that the day says."""
    problem = day.problem
    plan = best(problem)
    assert plan.cost == pytest.approx(day.cost, abs=0.01)
    assert day.goal(problem) / problem.cost_scale == pytest.approx(plan.cost + plan.penalty, abs=0.01)
    assert tuple(sorted(entry.ticket_id for entry in plan.unassigned)) == day.left


@every_day
def test_ignoring_the_rule_gives_a_cheaper_plan_or_serves_more_and_the_proof_refuses_it(day: RuleCase) -> None:
    """SPEC S1, S2: a plan of the right price proves the rule; where the rule is a freedom, the other way round."""
    kept, loose = best(day.problem), best(day.ignored)
    assert loose.cost == pytest.approx(day.loose, abs=0.01)
    if day.is_freedom:
        assert (kept.penalty, kept.cost) < (loose.penalty, loose.cost)
        found = verify(day.ignored, kept)
    else:
        is_cheaper = (loose.penalty, loose.cost) < (kept.penalty, kept.cost)
        assert is_cheaper or loose.tickets_served > kept.tickets_served
        found = verify(day.problem, loose)
    assert any(day.refused in sentence for sentence in found), found
