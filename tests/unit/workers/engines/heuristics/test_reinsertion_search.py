"""What is put into a plan on the real clock (SPEC S1)."""

from typing import Any

from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.problem import Candidate, Problem
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.scenarios import scenario_builders
from tests.shared.scenarios.rule_case import abc
from tests.shared.scenarios.rule_case import agent as driver
from tests.shared.scenarios.rule_cases import RULE_CASES
from tests.shared.scenarios.scenario_builders import compiled
from workers.engines.heuristics.reinsertion_search import _without, reinserted, with_unassigned_inserted

POINTS = {"D": (0, 0), "A": (-4, -1), "B": (5, -5), "E": (-2, -4), "F": (2, -3), "X": (6, 0)}
TICKETS = [("t0", "F", 3, 0), ("t1", "X", 1, 2), ("t2", "E", 0, 2), ("t3", "B", 0, 0), ("t4", "A", 0, 1)]


def scenario_with_congestion() -> Problem:
    """Return a day of two agents on which all five tickets fit in one way only."""
    agents = [
        {"id": "v0", "capacity": 8, "shift_start": 5, "shift_end": 35, "max_distance_m": 11},
        {"id": "v1", "capacity": 6, "shift_start": 1, "shift_end": 34, "max_distance_m": 24},
    ]
    tickets = [
        {"id": name, "location": place, "demand": demand, "service_time_s": service}
        for name, place, demand, service in TICKETS
    ]
    rush_hours = [{"start": 18, "end": 28, "factor": 3}, {"start": 29, "end": 36, "factor": 0.5}]
    travel = {"decimals": 0, "rush_hours": rush_hours}
    return scenario_builders.problem(agents, tickets, locations=scenario_builders.plane(POINTS), travel=travel)


def test_a_ticket_with_no_place_between_the_others_is_served_where_others_can_move() -> None:
    """SPEC S1, S2: the careful plan left it out."""
    problem = scenario_with_congestion()
    careful = Candidate.of_tickets({0: [2], 1: [1, 3, 0]})
    best = reinserted(problem, careful, 1, lambda: False)
    plan = build_plan(problem, best)
    assert verify(problem, plan) == []
    assert plan.tickets_served == 5


def square(agent: dict[str, Any], tickets: list[dict[str, Any]], **more: Any) -> Problem:
    """Return a day of one agent on the square of the engine contract."""
    return compiled({**RULE_CASES[0].body, "agents": [agent], "tickets": tickets, **more})


def test_a_ticket_goes_where_it_costs_least() -> None:
    """SPEC S1, S2: B lies between A and C."""
    problem = square(driver(), abc())
    best = with_unassigned_inserted(problem, Candidate.of_tickets({0: [0, 2]}), lambda: False)
    assert [route.tickets for route in best.routes] == [[0, 1, 2]]


def test_what_comes_whole_stays_out_where_one_of_it_is_an_alternative_to_what_is_served() -> None:
    """SPEC S1: B and C would be worth it together, but A is served in the place of B."""
    groups = [{"kind": "one_of", "tickets": ["A", "B"]}, {"kind": "all", "tickets": ["B", "C"]}]
    problem = square(driver(), abc(), groups=groups)
    served = Candidate.of_tickets({0: [0]})
    assert with_unassigned_inserted(problem, served, lambda: False).routes == served.routes
    both = with_unassigned_inserted(problem, Candidate(()), lambda: False)
    assert verify(problem, build_plan(problem, both)) == []
    assert sorted(both.routes[0].tickets) == [1, 2]


def test_a_ticket_without_room_goes_in_with_a_reload_and_takes_it_along() -> None:
    """SPEC S1: one at a time, and home between them; a reload that nobody needs any more is not driven to."""
    problem = square(driver(capacity=1, reload_locations=["D"], max_reloads=2), abc())
    one = Candidate.of_tickets({0: [0]})
    three = with_unassigned_inserted(problem, one, lambda: False)
    (route,) = three.routes
    assert (sorted(route.tickets), route.reloads) == ([0, 1, 2], 2)
    for plan in three, _without(problem, three, [(2,)]):
        assert verify(problem, build_plan(problem, plan)) == []
    assert _without(problem, three, [(1,), (2,)]).routes == one.routes


def test_a_break_makes_way_for_a_ticket() -> None:
    """SPEC S1: b has to come first, and then a is over too late for the break that stood behind it."""
    resting = scenario_builders.agent(breaks=[{"earliest": 3, "latest": 5, "duration_s": 4}])
    orders = [
        scenario_builders.ticket("a", service_time_s=3),
        scenario_builders.ticket("b", "B", time_windows=[[2, 2]]),
    ]
    problem = scenario_builders.problem([resting], orders)
    rested = scenario_builders.candidate(problem, "a", "break")
    assert verify(problem, build_plan(problem, rested)) == []
    assert (
        with_unassigned_inserted(problem, rested, lambda: False).routes
        == scenario_builders.candidate(problem, "b", "break", "a").routes
    )


def test_nothing_is_changed_where_the_time_is_up() -> None:
    """Engine contract."""
    problem = scenario_with_congestion()
    careful = Candidate.of_tickets({0: [2], 1: [1, 3, 0]})
    assert price(problem, reinserted(problem, careful, 1, lambda: True)) == price(problem, careful)
