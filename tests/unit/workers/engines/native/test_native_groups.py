"""Groups that share tickets with one another, with shipments and with locked visits: every plan told is proved."""

import time
from dataclasses import replace

import pytest

from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.problem import Candidate, Feature, GroupKind, GroupSpec, LoadKind, Problem
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.engines.native_search import native_plan, needs_native
from tests.shared.scenarios.random_problems import random_problem
from workers.engines.engine_interface import SearchLimits
from workers.engines.native import native_arrays, sisr_engine
from workers.engines.native.sisr_engine import SisrEngine
from workers.engines.selection import engine_registry

pytestmark = needs_native

WANTED = 10**6


def all_of(*tickets: int) -> GroupSpec:
    return GroupSpec(GroupKind.ALL, tickets)


def one_of(*tickets: int) -> GroupSpec:
    return GroupSpec(GroupKind.ONE_OF, tickets, WANTED)


def day(groups: tuple[GroupSpec, ...], room: int, pickup: dict[int, int], locked: tuple[int, ...]) -> Problem:
    """Return twelve tickets of 10 and two agents; `pickup` names that of a ticket, `locked` is the first agent's."""
    base = random_problem(1, tickets=12, features=frozenset())
    chosen = {ticket for group in groups if group.kind is GroupKind.ONE_OF for ticket in group.tickets}
    lifts = set(pickup.values())
    tickets = tuple(
        replace(
            ticket,
            demand=(10,),
            penalty=0 if number in chosen else WANTED,
            pickup=pickup.get(number),
            load=LoadKind.PICKUP if number in lifts else LoadKind.DELIVERY,
        )
        for number, ticket in enumerate(base.tickets)
    )
    first, second = (replace(agent, capacity=(room,), max_stops=None) for agent in (base.agents[0], base.agents[0]))
    agents = (replace(first, id="a0", locked=locked), replace(second, id="a1"))
    features = {Feature.GROUPS, *({Feature.SHIPMENTS} if pickup else ()), *({Feature.LOCKS} if locked else ())}
    return replace(base, agents=agents, tickets=tickets, groups=groups, features=frozenset(features))


DAYS: dict[str, tuple[tuple[GroupSpec, ...], dict[int, int], tuple[int, ...]]] = {
    "two men at one of two hours": ((one_of(1, 2), one_of(3, 4), all_of(1, 3), all_of(2, 4)), {}, ()),
    "one of which another asks for": ((one_of(1, 2), all_of(1, 3)), {}, ()),
    "a chain of groups": ((all_of(1, 2), all_of(2, 3), all_of(3, 4)), {}, ()),
    "locked, and the other has an alternative": ((all_of(1, 2), one_of(2, 6)), {}, (1,)),
    "a chain of which one end is locked": ((all_of(1, 2), all_of(2, 3)), {}, (1,)),
    "a locked pickup whose delivery has an alternative": ((one_of(2, 6),), {2: 1}, (1,)),
    "a locked pickup that has an alternative": ((one_of(1, 3),), {2: 1, 4: 3}, (1,)),
    "a locked pickup that is the alternative": ((one_of(3, 1),), {2: 1, 4: 3}, (1,)),
    "a locked pickup whose delivery is in another group": ((one_of(1, 3), one_of(2, 4)), {2: 1, 4: 3}, (1,)),
    "a locked pickup whose delivery stands before": ((one_of(2, 4), one_of(1, 3)), {2: 1, 4: 3}, (1,)),
}


@pytest.mark.parametrize("room", [40, 45, 50, 100])
@pytest.mark.parametrize("name", DAYS)
def test_groups_that_share_tickets_are_kept(name: str, room: int) -> None:
    """SPEC S1, S2: whole or not at all, one of several, whatever else their tickets belong to."""
    groups, pickup, locked = DAYS[name]
    problem = day(groups, room, pickup, locked)
    for seed in range(3):
        improvements: list[Candidate] = []
        engine = SisrEngine(max_iterations=3000)
        best = engine.solve(problem, SearchLimits(time.monotonic() + 60, seed), improvements.append, lambda: False).best
        assert best is not None
        for candidate in (*improvements, best):
            assert verify(problem, build_plan(problem, candidate)) == []


@pytest.mark.slow
def test_a_shipment_in_two_choices_is_planned_by_another_engine() -> None:
    """SPEC S3, T7: our engine knows one choice a shipment, says so, and `auto` still keeps both groups."""
    alike = day((one_of(1, 3), one_of(2, 4)), 40, {2: 1, 4: 3}, ())
    crossed = day((one_of(1, 3), one_of(2, 5)), 40, {2: 1, 4: 3}, ())
    assert SisrEngine().missing(alike) == frozenset()
    assert SisrEngine().missing(crossed) == {Feature.GROUPS}
    for problem in (alike, crossed):
        limits = SearchLimits(time.monotonic() + 1, 1)
        best = engine_registry.choose(problem).solve(problem, limits, lambda _: None, lambda: False).best
        assert best is not None
        assert verify(problem, build_plan(problem, best)) == []


def test_an_alternative_is_not_chosen_where_a_wanted_delivery_is_lost_by_it() -> None:
    """SPEC S1: of a ticket and a pickup one is enough, but the delivery of the pickup is wanted by itself."""
    best, _believed = searched(day((one_of(1, 3),), 200, {4: 3}, ()))
    assert best.tickets == {*range(12)} - {1}


def test_the_price_of_a_delivery_is_lost_with_its_alternative() -> None:
    """SPEC S1, S2: the same where the delivery has a penalty, and the search knows what the plan will cost."""
    problem = day((one_of(1, 3),), 200, {4: 3}, ())
    priced = replace(problem.tickets[4], penalty=300, is_priced=True)
    problem = replace(problem, tickets=(*problem.tickets[:4], priced, *problem.tickets[5:]))
    best, believed = searched(problem)
    assert 4 in best.tickets
    assert believed == price(problem, best)


def test_a_choice_of_shipments_is_worth_the_penalties_of_both_its_groups() -> None:
    """SPEC S1, S2: a group of the pickups and one of the deliveries are one choice, and leaving it out costs both."""
    problem = day((one_of(1, 3), one_of(2, 4)), 200, {2: 1, 4: 3}, ())
    groups = tuple(replace(group, penalty=60) for group in problem.groups)
    priced = {ticket for group in groups for ticket in group.tickets}
    tickets = [replace(ticket, is_priced=number in priced) for number, ticket in enumerate(problem.tickets)]
    problem = replace(problem, tickets=tuple(tickets), groups=groups)
    best, believed = searched(problem)
    assert not best.tickets.isdisjoint(priced)
    assert believed == price(problem, best)


def searched(problem: Problem) -> tuple[Candidate, int]:
    """Return the best plan, and what the search believes it to cost."""
    run = sisr_engine._Run(problem, SearchLimits(time.monotonic() + 60), 3000, None)
    best = run.follow(lambda _: None, lambda: False).best
    assert best is not None
    return best, int(run._incumbent_buffer[native_arrays.COST])


def test_goods_on_board_outweigh_whatever_is_wanted() -> None:
    """SPEC S1, S2: a locked pickup stands with its delivery alone, however much others weigh."""
    base = random_problem(1, tickets=60, features=frozenset())
    on_board = {number + 6: number for number in range(6)}
    tickets = tuple(
        replace(
            ticket,
            demand=(10,),
            penalty=WANTED if number < 12 else 2**55,
            pickup=on_board.get(number),
            load=LoadKind.PICKUP if number < 6 else LoadKind.DELIVERY,
        )
        for number, ticket in enumerate(base.tickets)
    )
    van = replace(base.agents[0], capacity=(100,), max_stops=2)
    agents = tuple(replace(van, id=f"a{number}", locked=(number,)) for number in range(6))
    features = frozenset({Feature.SHIPMENTS, Feature.LOCKS})
    problem = replace(base, agents=agents, tickets=tickets, features=features)
    best = native_plan(problem, 3000, seed=1)
    assert sorted([stop.index for stop in route.stops] for route in best.routes) == [[n, n + 6] for n in range(6)]
