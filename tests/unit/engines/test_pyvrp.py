"""Where the model says more than PyVRP's own words: releases, half priced shipments, priorities (SPEC S1, S2)."""

import time
from dataclasses import replace
from typing import Any

import pytest

from planner_mcp.vrp.compile.compiler import compile_scenario
from planner_mcp.vrp.layout.schedule import lay_out
from planner_mcp.vrp.plan import Plan
from planner_mcp.vrp.problem import Feature, Problem
from planner_mcp.vrp.proof.verify import verify
from planner_mcp.vrp.scenario import parse_scenario
from tests.contract.day import PLACES, agent, ticket
from tests.contract.fleet import fleet_body
from workers.engines import registry
from workers.engines.base import Limits
from workers.engines.pyvrp_model import MOST_PRIZES, PyvrpDay
from workers.engines.pyvrp_penalties import start_of
from workers.engines.pyvrp_run import Watch, search
from workers.engines.pyvrp_search import PyvrpSearch

Json = dict[str, Any]


def day(agents: list[Json], tickets: list[Json]) -> Problem:
    """Return a day on the square of `tests/contract/day.py`."""
    places = [{"id": place, "x": x, "y": y} for place, (x, y) in PLACES.items()]
    body = {"name": "day", "planning_date": "2025-07-15", "depot": "D", "locations": places}
    return compile_scenario(parse_scenario({**body, "agents": agents, "tickets": tickets}))


def planned(problem: Problem, seconds: float = 1.0) -> Plan:
    """Return what PyVRP makes of a day it claims to know, proved."""
    assert registry.missing(PyvrpSearch(), problem) == frozenset()
    best = PyvrpSearch().solve(problem, Limits(time.monotonic() + seconds), lambda _: None, lambda: False).best
    assert best is not None
    plan = lay_out(problem, best)
    assert verify(problem, plan) == []
    return plan


def shipped(**changes: Json) -> list[Json]:
    """Return a shipment from A to F and a ticket at C, with changes by name."""
    tickets = [ticket("A", kind="pickup"), ticket("F", pickup="A"), ticket("C")]
    return [{**each, **changes.get(each["id"], {})} for each in tickets]


def test_what_is_released_late_and_shipped_is_not_its_own() -> None:
    """SPEC S2: PyVRP's shipments know no release, so it says so; a release of something else is no matter."""
    late = day([agent(1), agent(2)], shipped(A={"release_time": 30}, C={"time_windows": [[0, 20]]}))
    assert registry.missing(PyvrpSearch(), late) == {Feature.RELEASE}
    assert planned(day([agent(1), agent(2)], shipped(C={"release_time": 30}))).tickets_served == 3


def test_a_shipment_with_one_half_priced_is_wanted() -> None:
    """SPEC S1: leaving it out costs the wanted half's penalty as well."""
    problem = day([agent()], shipped(F={"penalty": 5}))
    assert planned(problem).tickets_served == 3


def test_a_shipment_with_one_half_priced_keeps_its_worth_where_something_stays_out() -> None:
    """SPEC S1: of a shipment and a priced ticket that exclude each other the wanted one stays."""
    short = agent(max_distance_m=62)
    plan = planned(day([short], shipped(F={"penalty": 5}, C={"penalty": 50})))
    assert [left.ticket_id for left in plan.unassigned] == ["C"]


def test_low_priorities_are_served_beside_the_highest() -> None:
    """SPEC S1: what nobody can serve makes nothing else not worth its way."""
    heavy = [ticket("A", id=f"A{number}", priority=9, demand=2) for number in range(3)]
    tickets = [*heavy, ticket("X", priority=1), ticket("F", priority=5)]
    plan = planned(day([agent(1), agent(2)], tickets))
    assert [left.ticket_id[0] for left in plan.unassigned] == ["A"]
    assert plan.tickets_served == 4


@pytest.mark.parametrize(("low", "high"), [(1, 1), (1, 9), (5, 9)])
def test_prizes_exceed_detours_and_stand_to_each_other_as_penalties_do(low: int, high: int) -> None:
    """Our choice: the least wanted ticket is worth ten longest legs, the others their multiple."""
    problem = day([agent()], [ticket("A", priority=high), *(ticket("X", id=f"X{n}", priority=low) for n in range(9))])
    dear, cheap, *_ = (client.prize for client in PyvrpDay(problem, is_complete=False).data.clients())
    assert cheap >= 10 * int(problem.distances[0].max()) * problem.agents[0].distance_cost
    assert dear == pytest.approx(cheap * 2 ** (high - low), rel=1e-6)


def test_prizes_too_large_to_reckon_with_keep_their_order() -> None:
    """Our choice: days at the end of what 64 bits can add up still prefer what is wanted more."""
    problem = day(
        [agent()], [ticket(place, priority=priority) for place, priority in zip("ABX", (9, 5, 1), strict=True)]
    )
    vast = replace(problem, distances=(problem.distances[0] * 10**8,))
    tickets = tuple(replace(each, penalty=each.penalty * 10**8) for each in problem.tickets)
    model = PyvrpDay(replace(vast, tickets=tickets), is_complete=False)
    first, second, third = (client.prize for client in model.data.clients())
    assert first > second > third > int(vast.distances[0].max())
    assert first + second + third <= MOST_PRIZES
    assert model.max_penalty == 2 * third


def test_what_a_broken_rule_costs_is_reckoned_in_the_money_of_the_day() -> None:
    """SPEC S2: a day with prices, whose cost units are many, is served as soon as one in metres."""
    body = fleet_body(60)
    prices = {"cost_per_km": 1.55, "cost_per_hour": 24, "fixed_cost": 150}
    problem = compile_scenario(parse_scenario({**body, "agents": [{**each, **prices} for each in body["agents"]]}))
    looks = iter(range(400))
    forever = time.monotonic() + 3600
    watch = Watch(PyvrpDay(problem), forever, None, lambda _: None, lambda: next(looks, None) is None)
    search(watch, 1, 5.0, None)
    assert watch.best is not None
    assert verify(problem, lay_out(problem, watch.best)) == []


def test_a_broken_rule_costs_no_more_than_64_bits_can_add_up() -> None:
    """SPEC S2: where legs nobody may drive are longer than any shift, what breaking them costs stays a number."""
    tickets = [ticket("A", skills=["lift"]), *(ticket("C", id=f"C{number}", penalty=1e6) for number in range(9))]
    model = PyvrpDay(day([agent(1, cost_per_km=1e6), agent(2, skills=["lift"])], tickets))
    longest = max(int(matrix.max()) for matrix in model.data.duration_matrices())
    assert model.max_penalty * longest * len(tickets) < 2**63


def test_tickets_of_one_address_are_as_far_as_their_depot() -> None:
    """SPEC S2: a load too much costs a way out there, not nothing, where no ticket is away from another."""
    near = day([agent()], [ticket("A"), ticket("C")])
    (one_place, *_), _time, _distance = start_of(day([agent()], [ticket("A", id=f"A{number}") for number in range(9)]))
    (load, *_), _time, _distance = start_of(near)
    assert one_place == pytest.approx(load, rel=1)
