"""Leaving tickets out for a while: it ends with everybody served, however small the fleet, and repeats itself."""

import math
from random import Random

import numpy as np
import pytest

from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.problem import AgentSpec, Problem, TicketSpec
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.engines.native_search import native_plan, needs_native

pytestmark = needs_native

ROOM = 200
LOAD = 90
"""Two fill a vehicle by 90 %, so that every plan has a tenth more routes than loads ask for."""


def villages(seed: int, *, tickets: int, agents: int) -> Problem:
    """Return a day of far villages of three tickets each: most of a route is the way there and back."""
    random = Random(seed)
    places = [(0.0, 0.0)]
    for number in range(tickets):
        if number % 3 == 0:
            angle = random.uniform(0, 2 * math.pi)
        x, y = 10_000 * math.cos(angle), 10_000 * math.sin(angle)
        places.append((x + random.gauss(0, 100), y + random.gauss(0, 100)))
    points = np.asarray(places)
    gaps = points[:, None, :] - points[None, :, :]
    travel = np.rint(np.hypot(gaps[..., 0], gaps[..., 1])).astype(np.int64)
    return Problem(
        agents=tuple(
            AgentSpec(id=f"a{k}", capacity=(ROOM,), start=0, end=0, shift=(0, 2**40), distance_cost=1)
            for k in range(agents)
        ),
        tickets=tuple(TicketSpec(id=f"t{k}", location=k + 1, demand=(LOAD,), penalty=2**40) for k in range(tickets)),
        locations=tuple(f"L{k}" for k in range(len(places))),
        distances=(travel,),
        durations=(travel,),
    )


@pytest.mark.parametrize(("tickets", "cores", "iterations"), [(30, 1, 4000), (90, 1, 6000), (600, 2, 4000)])
@pytest.mark.parametrize("spare", [0, 10])
def test_what_may_stay_out_for_a_while_is_served_in_the_end(
    tickets: int, cores: int, iterations: int, spare: int
) -> None:
    """SPEC S2: nobody is left out for cheap, also where no vehicle is to spare; the plan is proved."""
    for seed in range(3 if tickets < 600 else 1):
        problem = villages(seed, tickets=tickets, agents=tickets // 2 + spare)
        best = native_plan(problem, iterations, seed=seed, cores=cores)
        assert sum(len(route.stops) for route in best.routes) == tickets, f"seed {seed}"
        assert verify(problem, build_plan(problem, best)) == [], f"seed {seed}"
        assert native_plan(problem, iterations, seed=seed, cores=cores) == best, f"seed {seed}"


def test_a_day_of_villages_has_no_route_too_many() -> None:
    """Our choice: where most of a route is the way there and back, the fewest routes are found."""
    problem = villages(1, tickets=90, agents=90)
    best = native_plan(problem, 20_000, seed=1)
    assert len(best.routes) == 45
    assert price(problem, best) < 45 * 22_000
