"""What is put into a plan on the real clock (SPEC S1)."""

from planner_mcp.vrp.compile.compiler import compile_scenario
from planner_mcp.vrp.layout.schedule import lay_out, price
from planner_mcp.vrp.problem import Candidate, Problem
from planner_mcp.vrp.proof.verify import verify
from planner_mcp.vrp.scenario import parse_scenario
from workers.engines.refill import refilled

POINTS = {"D": (0, 0), "A": (-4, -1), "B": (5, -5), "E": (-2, -4), "F": (2, -3), "X": (6, 0)}
TICKETS = [("t0", "F", 3, 0), ("t1", "X", 1, 2), ("t2", "E", 0, 2), ("t3", "B", 0, 0), ("t4", "A", 0, 1)]


def rushed_day() -> Problem:
    """Return a day of two agents on which all five tickets fit in one way only."""
    body = {
        "name": "moves",
        "planning_date": "2025-07-15",
        "depot": "D",
        "locations": [{"id": name, "x": x, "y": y} for name, (x, y) in POINTS.items()],
        "agents": [
            {"id": "v0", "capacity": 8, "shift_start": 5, "shift_end": 35, "max_distance_m": 11},
            {"id": "v1", "capacity": 6, "shift_start": 1, "shift_end": 34, "max_distance_m": 24},
        ],
        "tickets": [
            {"id": name, "location": place, "demand": demand, "service_time_s": service}
            for name, place, demand, service in TICKETS
        ],
        "travel": {
            "decimals": 0,
            "rush_hours": [{"start": 18, "end": 28, "factor": 3}, {"start": 29, "end": 36, "factor": 0.5}],
        },
    }
    return compile_scenario(parse_scenario(body))


def test_a_ticket_with_no_place_between_the_others_is_served_where_others_can_move() -> None:
    """SPEC S1, S2: the careful plan left it out."""
    problem = rushed_day()
    careful = Candidate.of_tickets({0: [2], 1: [1, 3, 0]})
    best = refilled(problem, careful, 1, lambda: False)
    plan = lay_out(problem, best)
    assert verify(problem, plan) == []
    assert plan.tickets_served == 5


def test_nothing_is_changed_where_the_time_is_up() -> None:
    """Engine contract."""
    problem = rushed_day()
    careful = Candidate.of_tickets({0: [2], 1: [1, 3, 0]})
    assert price(problem, refilled(problem, careful, 1, lambda: True)) == price(problem, careful)
