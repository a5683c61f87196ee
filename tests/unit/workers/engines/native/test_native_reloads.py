"""Days with reloads on which locked visits or shipments take one to be served at all (SPEC S1)."""

import time
from typing import Any

import pytest

from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.problem import Candidate, Problem, Route, Stop, StopKind
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.engines.native_search import needs_native
from tests.shared.scenarios.scenario_builders import body, compiled, plane
from workers.engines.engine_interface import SearchLimits, StopReason
from workers.engines.native.sisr_engine import SisrEngine
from workers.engines.selection import engine_registry

pytestmark = needs_native

LINE = {"D": 0, "C": 5, "A": 10, "R": 15, "B": 20, "X": -5}


def agent(capacity: int, locked: list[str], **fields: Any) -> dict[str, Any]:
    return {"id": "v", "capacity": capacity, "reload_locations": ["D", "R"], "locked_tickets": locked, **fields}


def ticket(name: str, demand: int, **fields: Any) -> dict[str, Any]:
    return {"id": name, "location": name.upper(), "demand": demand, **fields}


def day(agents: list[dict[str, Any]], tickets: list[dict[str, Any]], **travel: Any) -> Problem:
    return compiled(body(agents, tickets, locations=plane({name: (x, 0) for name, x in LINE.items()}), travel=travel))


def planned(problem: Problem, warm: Candidate | None = None) -> Plan:
    """Return what `auto` finds, proved."""
    limits = SearchLimits(time.monotonic() + 1)
    outcome = engine_registry.choose(problem).solve(problem, limits, lambda _: None, lambda: False, warm)
    assert outcome.best is not None
    plan = build_plan(problem, outcome.best)
    assert verify(problem, plan) == []
    return plan


def stops(plan: Plan, route: int = 0) -> list[str]:
    """Return the tickets of a route in lower case, its reloads by their place."""
    return [visit.ticket_id or visit.location or "" for visit in plan.routes[route].visits]


def test_a_reload_is_made_between_locked_visits_that_are_too_much_for_one_load() -> None:
    """SPEC S1: locked visits and reload."""
    problem = day([agent(2, ["a", "b"])], [ticket("a", 2), ticket("b", 2), ticket("c", 1)])
    assert stops(planned(problem)) in (["a", "R", "b", "R", "c"], ["a", "R", "b", "D", "c"])


def test_many_locked_visits_are_parted_into_loads_where_that_costs_least() -> None:
    """SPEC S1: of all ways to part them the cheapest, by hand: the depot at R lies on the way."""
    tickets = [ticket("a", 1), ticket("b", 1), {**ticket("b", 1), "id": "b2"}, {**ticket("a", 1), "id": "a2"}]
    problem = day([agent(2, ["a", "b", "b2", "a2"])], tickets)
    plan = planned(problem)
    assert plan.cost == pytest.approx(40)
    assert plan.tickets_served == 4


def test_a_reload_among_locked_visits_makes_room_for_what_only_then_can_be_served() -> None:
    """SPEC S1: after both locked visits there is no time left to load for the third."""
    tickets = [ticket("a", 1), ticket("b", 1), {**ticket("b", 2), "id": "b2", "time_windows": [[20, 20]]}]
    problem = day([agent(3, ["a", "b"])], tickets)
    assert stops(planned(problem)) == ["a", "R", "b", "b2"]


def test_goods_not_yet_released_are_waited_for_at_a_depot_on_the_way() -> None:
    """SPEC S1: release, reload and a locked visit: from where the agent starts it would come too late."""
    problem = day([agent(3, ["b"])], [ticket("b", 1, release_time=16, time_windows=[[0, 22]])])
    assert stops(planned(problem)) == ["R", "b"]


def test_a_search_goes_on_from_reloads_among_locked_visits() -> None:
    """SPEC S3: a plan to start from is kept with them."""
    problem = day([agent(3, ["a", "b"])], [ticket("a", 1), ticket("b", 1), ticket("c", 1)])
    reload = Stop(StopKind.RELOAD, problem.locations.index("R"))
    first, second, third = (Stop(StopKind.TICKET, index) for index in range(3))
    warm = Candidate((Route(0, (first, reload, second, third)),))
    limits = SearchLimits(time.monotonic() + 5)
    outcome = SisrEngine(max_iterations=0).solve(problem, limits, lambda _: None, lambda: False, warm)
    assert outcome.best is not None
    assert outcome.best.routes == warm.routes
    assert price(problem, outcome.best) == price(problem, warm)


def test_a_reload_that_costs_nothing_is_not_made_before_it_is_needed() -> None:
    """SPEC S1: the locked visit is where the vehicle could reload, and it may only once."""
    tickets = [{**ticket("b", 2), "location": "R"}, ticket("a", 4), ticket("x", 5)]
    problem = day([agent(6, ["b"], max_reloads=1)], tickets)
    assert stops(planned(problem)) == ["b", "a", "D", "x"]


def test_locked_visits_that_the_slowest_pace_forbids_are_planned_on_the_real_clock() -> None:
    """SPEC S1: rush hours, locked visits and a reload."""
    period = {"rush_hours": [{"start": 40, "end": 45, "factor": 3}]}
    problem = day([agent(2, ["a", "b"], shift_start=0, shift_end=55)], [ticket("a", 2), ticket("b", 2)], **period)
    assert stops(planned(problem)) == ["a", "R", "b"]


@pytest.mark.parametrize("is_locked", [True, False])
def test_a_shipment_is_fetched_after_a_reload_that_makes_room_for_it(is_locked: bool) -> None:
    """SPEC S1: what was collected fills the vehicle until it is unloaded."""
    tickets = [
        ticket("a", 4, kind="pickup", time_windows=[[0, 12]]),
        ticket("c", 2, kind="pickup", time_windows=[[30, 99]]),
        {**ticket("x", 2, pickup="c"), "kind": "delivery"},
    ]
    problem = day([agent(4, ["a"] if is_locked else [])], tickets)
    assert stops(planned(problem)) in (["a", "D", "c", "x"], ["a", "R", "c", "x"])


def test_a_shipment_is_brought_before_the_reload_for_what_leaves_no_room() -> None:
    """SPEC S1: goods to be brought later would fill the vehicle from the start."""
    tickets = [
        ticket("b", 4, time_windows=[[60, 99]]),
        ticket("a", 2, kind="pickup", time_windows=[[0, 12]]),
        {**ticket("c", 2, pickup="a"), "kind": "delivery"},
    ]
    problem = day([agent(4, [])], tickets)
    assert stops(planned(problem)) in (["a", "c", "D", "b"], ["a", "c", "R", "b"])


def test_three_tickets_are_tried_in_more_ways_than_the_greedy_one() -> None:
    """SPEC S2: breaks, a lock and reloads: a trip of the second agent's always seemed the cheaper next step."""
    rests = [[{"earliest": 17, "latest": 22, "duration_s": 3}], [{"earliest": 3, "latest": 3, "duration_s": 3}]]
    agents = [
        {"id": "v0", "capacity": 9, "breaks": rests[0], "reload_locations": ["A", "X"], "locked_tickets": ["t2"]},
        {"id": "v1", "capacity": 5, "breaks": rests[1], "reload_locations": ["D"], "max_reloads": 2},
    ]
    tickets = [
        {"id": "t0", "location": "A", "demand": 4, "service_time_s": 3},
        {"id": "t1", "location": "A", "demand": 4},
        {"id": "t2", "location": "B", "demand": 1},
    ]
    places = plane({"D": (0, 0), "A": (6, -2), "B": (-2, 1), "X": (3, 5)})
    plan = planned(compiled(body(agents, tickets, locations=places)))
    assert plan.cost == pytest.approx(17)


def test_a_search_that_has_no_time_to_part_its_locked_visits_ends_in_time() -> None:
    """SPEC S2, J7: where reloads among locked visits are looked for, the search listens as it does elsewhere."""
    tickets = [{**ticket("a" if number % 2 else "b", 1), "id": f"t{number}"} for number in range(1500)]
    problem = day([agent(100, [each["id"] for each in tickets], max_reloads=20)], tickets)
    looks = iter(range(2))
    outcome = SisrEngine().solve(
        problem, SearchLimits(time.monotonic() + 600), lambda _: None, lambda: next(looks, 1) == 1
    )
    assert outcome.reason is StopReason.STOPPED
    assert outcome.best is None
