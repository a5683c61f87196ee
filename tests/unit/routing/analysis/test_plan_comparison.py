"""What differs between two plans."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from planner_mcp.routing.analysis.plan_comparison import TicketMove, compare, difference
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.problem import Candidate
from tests.shared.scenarios.scenario_builders import agent, problem, ticket

DAY = problem(
    [agent("v", capacity=99), agent("w", capacity=99)], [ticket(name, "ABCE"[n % 4]) for n, name in enumerate("abcdef")]
)


def plan(*routes: str) -> Plan:
    """Return the plan of routes of letters, one an agent."""
    tickets = {spec.id: index for index, spec in enumerate(DAY.tickets)}
    orders = {number: [tickets[name] for name in route] for number, route in enumerate(routes)}
    return build_plan(DAY, Candidate.of_tickets(orders))


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Any plan of the day."""
    order = draw(st.permutations("abcdef"))
    served, cut = draw(st.integers(0, 6)), draw(st.integers(0, 6))
    kept = "".join(order[:served])
    return plan(kept[:cut], kept[cut:])


@given(plans())
def test_a_plan_does_not_differ_from_itself(one: Plan) -> None:
    """SPEC T5."""
    same = compare(one, one)
    assert (same.moved, same.reordered, same.newly_served, same.newly_left_out, same.agents) == ((), (), (), (), ())
    assert (same.cost, same.shifted, same.difference) == (0, 0, 0)


@given(plans(), plans())
def test_the_way_back_is_the_way_there_reversed(a: Plan, b: Plan) -> None:
    """SPEC T5: comparing is antisymmetric, the difference symmetric and between 0 and 1."""
    there, back = compare(a, b), compare(b, a)
    assert there.cost == -back.cost
    assert {TicketMove(m.ticket_id, m.after, m.before) for m in there.moved} == set(back.moved)
    assert set(there.newly_served) == set(back.newly_left_out)
    assert len(there.reordered) == len(back.reordered)
    assert {(d.agent_id, d.tickets, d.distance_m) for d in there.agents} == {
        (d.agent_id, -d.tickets, -d.distance_m) for d in back.agents
    }
    assert there.difference == back.difference
    assert 0 <= there.difference <= 1


def test_moves_orders_and_newcomers_are_distinguished() -> None:
    """SPEC T5: stops moved, order changed, newly served, left out, and who gains."""
    found = compare(plan("abcd", "e"), plan("bacf", "de"))
    assert found.moved == (TicketMove("d", "v", "w"),)
    assert len(found.reordered) == 1
    assert set(found.reordered) <= {"a", "b"}
    assert (found.newly_served, found.newly_left_out) == (("f",), ())
    assert {delta.agent_id: delta.tickets for delta in found.agents}["w"] == 1


def test_other_vehicles_of_the_same_kind_make_no_difference() -> None:
    """SPEC T5: every ticket has moved, and yet it is the same plan."""
    a, b = plan("abc", "def"), plan("def", "abc")
    assert len(compare(a, b).moved) == 6
    assert difference(a, b) == 0


def test_reversed_routes_have_nothing_in_common() -> None:
    """SPEC T5: direction counts, since it changes every time."""
    assert difference(plan("abcdef"), plan("fedcba")) == 1


def test_costs_that_may_not_be_seen_are_not_needed() -> None:
    """SPEC R3: route costs are masked for some; gains are then told in distance."""
    a, b = plan("ab"), plan("abc")
    a, b = (replace(side, routes=tuple(replace(route, cost=None) for route in side.routes)) for side in (a, b))
    (delta,) = compare(a, b).agents
    assert delta.cost is None
    assert delta.distance_m > 0
