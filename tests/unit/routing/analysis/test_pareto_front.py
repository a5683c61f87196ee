"""The Pareto front of a day: which plans are on it, and what no plan can have less of."""

import pytest

from planner_mcp.routing.analysis.alternative_plans import front_styles
from planner_mcp.routing.analysis.pareto_front import UNITS, FrontPoint, front_of, least_value, value_of
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.feasibility.fleet_size_bounds import mandatory_tickets
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.scenarios.plan_enumeration import every_plan
from tests.shared.scenarios.random_problems import random_problem
from tests.shared.scenarios.scenario_builders import agent, candidate, problem, scenario, ticket

MANY_PLANS = (5, 7)
"""Seeds of days of which all plans are tried for ten seconds."""


def test_a_plan_is_on_the_front_unless_another_is_as_good_in_both() -> None:
    """SPEC T5: the cheapest first; of equal plans one is shown."""
    points = [
        FrontPoint("base", 100, 5),
        FrontPoint("dear and no better", 120, 5),
        FrontPoint("fewer", 130, 3),
        FrontPoint("the same", 130, 3),
        FrontPoint("cheap and many", 90, 6),
    ]
    front, beaten = front_of(points)
    assert [point.name for point in front] == ["cheap and many", "base", "fewer"]
    assert beaten == {"dear and no better": "base", "the same": "fewer"}


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=pytest.mark.slow) if seed in MANY_PLANS else seed for seed in range(24)]
)
def test_no_plan_of_a_random_day_has_less_than_the_least(seed: int) -> None:
    """SPEC T5: every plan that serves all wanted tickets, enumerated and verified, whatever the day is made of."""
    day = random_problem(seed, tickets=2)
    wanted = set(mandatory_tickets(day))
    serving = [plan for plan in every_plan(day) if wanted <= plan.tickets]
    plans = [plan for plan in (build_plan(day, each) for each in serving) if not verify(day, plan)]
    for criterion in UNITS:
        least = least_value(day, criterion)
        assert all(value_of(plan, criterion) >= least - 1e-9 for plan in plans), criterion


def test_the_least_is_met_where_a_ticket_alone_decides() -> None:
    """Our choice: the way to a ticket and back, and how late the nearest agent must be there, are counted whole."""
    day = problem([agent("v"), agent("w")], [ticket("a", soft_close=0, lateness_cost_per_hour=60), ticket("b", "B")])
    plan = build_plan(day, candidate(day, "a", "b"))
    alone = build_plan(day, candidate(day, "a"))
    assert least_value(day, "agents") == 1
    assert 0 < least_value(day, "lateness") <= value_of(plan, "lateness")
    assert 0 < least_value(day, "balance") <= value_of(plan, "balance")
    assert least_value(day, "lateness") == pytest.approx(value_of(alone, "lateness"))


def test_the_prices_of_a_front_rise_and_none_are_set_where_nothing_can_be_better() -> None:
    """SPEC T5: each price a share of the cost of the plan for what it has of the criterion."""
    agents = [agent("v", cost_per_km=1000), agent("w", cost_per_km=1000)]
    asked = scenario(agents, [ticket("a"), ticket("b", "B")])
    day = problem(agents, [ticket("a"), ticket("b", "B")])
    plan = build_plan(day, candidate(day, "a", "b"))
    assert front_styles(asked, plan, "agents", 3) == {}, "one agent drives, and fewer than one serve nothing"
    assert front_styles(asked, plan, "lateness", 3) == {}, "nothing is late"
