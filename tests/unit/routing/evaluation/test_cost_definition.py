"""What a plan of several agents costs, against the sentence of the model spelt out in a few plain loops."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.problem import Candidate, Problem
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.property_tests.example_counts import examples
from tests.shared.scenarios.scenario_builders import agent, body, ticket

HOURLY = 3600
"""A price of one for each second."""
Orders = dict[int, list[int]]

rate = st.integers(0, 3)


@st.composite
def days(draw: st.DrawFn) -> tuple[Problem, Orders]:
    """Return a day without windows, on which nobody waits, and any plan of it."""
    crew = [
        agent(
            name,
            capacity=99,
            fixed_cost=draw(rate),
            cost_per_km=1000 * draw(rate),
            cost_per_hour=HOURLY * draw(rate),
            shift_end=draw(st.integers(2, 9)),
            overtime_s=99,
            overtime_cost_per_hour=HOURLY * draw(rate),
        )
        for name in "vw"
    ]
    orders = []
    for name in "abcd":
        fields: dict[str, Any] = {"service_time_s": draw(rate)}
        if draw(st.booleans()):
            fields |= {"soft_close": draw(st.integers(0, 9)), "lateness_cost_per_hour": HOURLY * draw(rate)}
        if draw(st.booleans()):
            fields |= {"preferred_agent": draw(st.sampled_from("vw")), "switch_cost": draw(rate)}
        orders.append(ticket(name, draw(st.sampled_from("ABCE")), penalty=draw(rate), **fields))
    group = [{"kind": "one_of", "tickets": ["c", "d"], "penalty": draw(rate)}]
    options = {"balance_cost_per_hour": HOURLY * draw(rate)}
    day = compile_scenario(Scenario.model_validate(body(crew, orders, groups=group, options=options)))
    served = draw(st.permutations(range(draw(st.integers(0, 3)))))
    cut = draw(st.integers(0, len(served)))
    return day, {0: list(served[:cut]), 1: list(served[cut:])}


def cost_of(day: Problem, orders: Orders) -> int:
    """Return the cost of a plan by the words of the model, in cost units."""
    total, longest, served = 0, 0, set()
    for number, order in orders.items():
        if not order:
            continue
        driver, specs, now = day.agents[number], [day.tickets[index] for index in order], 0
        where = [0, *(spec.location for spec in specs), 0]
        metres = sum(int(day.distances[0][a, b]) for a, b in pairwise(where))
        for before, spec in zip(where, specs, strict=False):
            now += int(day.durations[0][before, spec.location])
            if spec.soft_close is not None and now > spec.soft_close:
                total += spec.lateness_cost * (now - spec.soft_close)
            if spec.preferred is not None and spec.preferred != number:
                total += spec.switch_cost
            now += spec.service
        now += int(day.durations[0][where[-2], 0])
        total += driver.fixed_cost + driver.distance_cost * metres + driver.time_cost * now
        total += driver.overtime_cost * max(0, now - driver.shift[1])
        longest = max(longest, now)
        served |= set(order)
    left_out = sum(spec.penalty for index, spec in enumerate(day.tickets) if index not in served)
    alternatives = 0 if served & set(day.groups[0].tickets) else day.groups[0].penalty
    return total + left_out + alternatives + day.span_cost * longest


@examples(150)
@given(days())
def test_a_plan_costs_what_the_definition_says_and_one_unit_more_or_less_is_caught(
    case: tuple[Problem, Orders],
) -> None:
    """SPEC S1, S2: prices, overtime, lateness, switches, penalties, alternatives and balance, of several agents."""
    day, orders = case
    plan = build_plan(day, Candidate.of_tickets(orders))
    truth = cost_of(day, orders)
    assert verify(day, plan) == []
    assert plan.cost * day.cost_scale == truth == price(day, Candidate.of_tickets(orders))
    for wrong in (truth - 1, truth + 1):
        assert "The plan states a wrong cost." in verify(day, replace(plan, cost=wrong / day.cost_scale))
