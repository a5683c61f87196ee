"""A day of any size, drawn from a seed: capacity and time windows around one depot; and a judge of what is found."""

import random
from functools import cache
from typing import Any

from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.problem import Candidate, Problem
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.scenarios.scenario_builders import compiled, plane
from workers.engines.engine_interface import OnImprovement


@cache
def fleet(tickets: int) -> Problem:
    """Return a compiled day; `fleet_body` describes it."""
    return compiled(fleet_body(tickets))


def fleet_body(tickets: int, seed: int = 1) -> dict[str, Any]:
    """Return a day of tickets strewn over a square of 100 m, windows of an hour or two, one agent for six tickets."""
    draw = random.Random(seed)
    places = {f"P{n}": (round(draw.uniform(0, 100), 1), round(draw.uniform(0, 100), 1)) for n in range(tickets)}
    return {
        "name": f"{tickets} tickets",
        "planning_date": "2025-07-15",
        "depot": "D",
        "locations": plane({"D": (50, 50), **places}),
        "agents": [{"id": f"agent-{n}", "capacity": 100, "shift_end": 1000} for n in range(tickets // 6 + 1)],
        "tickets": [
            {
                "id": f"t-{n}",
                "location": f"P{n}",
                "demand": draw.randint(1, 20),
                "service_time_s": 10,
                "time_windows": [[opens := draw.randint(0, 500), opens + draw.randint(200, 400)]],
            }
            for n in range(tickets)
        ],
    }


def verified_solution(problem: Problem, prices: list[int]) -> OnImprovement:
    """Return a listener that notes the price of each candidate, which must keep every promise of the day."""

    def note(candidate: Candidate) -> None:
        assert verify(problem, build_plan(problem, candidate)) == []
        prices.append(price(problem, candidate))

    return note
