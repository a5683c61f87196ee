"""The lower bound, against the best plan there is."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_mcp.vrp.advice.bounds import Bound, lower_bound
from planner_mcp.vrp.layout.schedule import lay_out
from planner_mcp.vrp.plan import PlanStatus
from tests.unit.vrp.days import agent, body, problem, ticket
from workers.engines import tiny
from workers.engines.base import Limits


@st.composite
def days(draw: st.DrawFn) -> dict[str, Any]:
    """A day small enough to try every plan."""
    price = st.sampled_from([0, 0, 3, 20])
    agents = [
        agent(
            name,
            capacity=draw(st.integers(4, 9)),
            fixed_cost=draw(price),
            cost_per_hour=draw(price) * 60,
            cost_per_km=draw(st.integers(500, 2000)),
            speed_factor=draw(st.sampled_from([1, 2])),
            **draw(st.sampled_from([{}, {"end_location": None}, {"start_location": None}])),
        )
        for name in "vw"
    ]
    tickets = [
        ticket(
            name,
            draw(st.sampled_from("ABCE")),
            demand=draw(st.integers(1, 4)),
            kind=draw(st.sampled_from(["delivery", "pickup"])),
            service_time_s=draw(st.integers(0, 5)),
            **({"penalty": draw(st.integers(1, 6))} if draw(st.integers(0, 3)) == 0 else {}),
        )
        for name in "abcd"[: draw(st.integers(1, 3))]
    ]
    groups = []
    if len(tickets) > 2 and draw(st.booleans()):
        groups = [{"kind": "one_of", "tickets": ["a", "b"], **draw(st.sampled_from([{}, {"penalty": 2}]))}]
    rush = st.sampled_from([[], [{"start": 0, "end": 8, "factor": 0.5}], [{"start": 2, "end": 9, "factor": 3}]])
    return body(agents, tickets, groups=groups, travel={"decimals": 0, "rush_hours": draw(rush)})


@settings(max_examples=50, deadline=None)
@given(days())
def test_no_plan_that_serves_every_wanted_ticket_is_cheaper(day: dict[str, Any]) -> None:
    """SPEC T5, J5: a bound where it can honestly be given."""
    at = problem(day["agents"], day["tickets"], groups=day["groups"])
    best = tiny.solve(at, Limits(float("inf")), lambda _: None, lambda: False).best
    assert best is not None
    plan = lay_out(at, best)
    bound = lower_bound(at)
    assert bound is not None
    if plan.status is PlanStatus.FEASIBLE:
        assert bound.cost <= plan.cost + 1e-9
        assert bound.agents <= plan.agents_used or not plan.routes


def test_the_bound_is_not_nothing() -> None:
    """SPEC T5: one ticket is bounded exactly; two vehicles are needed for twice the load of one."""
    one = lower_bound(problem(tickets=[ticket("c", "C")]))
    assert one == Bound(6.0, 1)
    two = problem([agent("v", capacity=1, fixed_cost=5), agent("w", capacity=1, fixed_cost=9)])
    assert lower_bound(two) == Bound(14 + 1 + 1, 2)


def test_a_gap_is_a_share_of_the_plans_cost() -> None:
    """SPEC T5: 0 would mean proved to be best."""
    assert Bound(8.0, 1).gap(10.0) == pytest.approx(0.2)
    assert Bound(0.0, 0).gap(0.0) is None
