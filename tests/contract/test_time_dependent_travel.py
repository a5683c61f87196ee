"""Every engine on days whose travel depends on the hour: it plans carefully, and no promise is broken (SPEC S1)."""

import math
import random
import time
from dataclasses import replace
from typing import Any

import pytest

from planner_mcp.routing.engine_names import AUTO
from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.evaluation.time_dependent_travel import at_worst_case_speeds
from planner_mcp.routing.feasibility.route_violations import violations
from planner_mcp.routing.problem import Candidate, Feature, Problem, Route, Stop, StopKind
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.engines.scripted_engine import ScriptedEngine
from tests.shared.scenarios.rule_cases import RULE_CASES
from tests.shared.scenarios.scenario_builders import agent, compiled, plane, problem, ticket
from tests.shared.scenarios.seeded_fleet import fleet_body, verified_solution
from workers.engines.engine_interface import SearchLimits
from workers.engines.selection import engine_registry
from workers.engines.time_dependent.time_dependent_adapter import TimeDependentAdapter

NAMES = [AUTO, *(engine.name for engine in engine_registry.engines() if engine.is_available())]
SEARCH_S = 1.5
RUSHES = {"rush_hours": [{"start": 100, "end": 400, "factor": 1.8}, {"start": 600, "end": 800, "factor": 1.5}]}


def rush(start: float | str, end: float | str, factor: float) -> dict[str, Any]:
    return {"rush_hours": [{"start": start, "end": end, "factor": factor}]}


def quick_for_auto(name: str) -> Any:
    """Return an engine for a test that takes its whole time; the quick suite has it for `auto` alone."""
    return name if name == AUTO else pytest.param(name, marks=pytest.mark.slow)


def rushed(tickets: int) -> Problem:
    """Return a fleet's day with a rush in the morning and one in the evening."""
    body = fleet_body(tickets)
    return compiled({**body, "travel": {**body.get("travel", {}), **RUSHES}})


def hurried(tickets: int, *, is_locked: bool) -> Problem:
    """Return a rushed day on which one agent is just in time for a visit, and then another, if it leaves at once.

    Both are over before the first rush begins; at the pace of the rush neither could be made.
    """
    body = fleet_body(tickets)
    places = {place["id"]: (place["x"], place["y"]) for place in body["locations"]}
    first, second = sorted(body["tickets"], key=lambda each: math.dist(places["D"], places[each["location"]]))[:2]
    now = math.dist(places["D"], places[first["location"]]) + 0.01
    first["time_windows"] = [[0, now]]
    now += first["service_time_s"] + math.dist(places[first["location"]], places[second["location"]]) + 0.01
    second["time_windows"] = [[0, now]]
    assert now < RUSHES["rush_hours"][0]["start"]
    if is_locked:
        body["agents"][0]["locked_tickets"] = [first["id"], second["id"]]
    return compiled({**body, "travel": RUSHES})


def search(
    problem: Problem, name: str, serving: int | None = None, agents: int | None = None, least_s: float = 0.0
) -> tuple[Candidate, list[int]]:
    """Return the best candidate and the prices of all, each of which must keep every promise of the day.

    Args:
        problem: The day.
        name: Of the engine.
        serving: The search ends with the first plan that serves so many tickets; None: with its time.
        agents: And uses so many agents.
        least_s: Seconds that it goes on at least.
    """
    prices: list[int] = []
    verified, is_enough = verified_solution(problem, prices), False
    began = time.monotonic()

    def note(candidate: Candidate) -> None:
        nonlocal is_enough
        verified(candidate)
        plan = build_plan(problem, candidate)
        is_enough |= plan.tickets_served == serving and agents in (None, plan.agents_used)

    engine, limits = engine_registry.choose(problem, name), SearchLimits(began + SEARCH_S)
    outcome = engine.solve(problem, limits, note, lambda: is_enough and time.monotonic() > began + least_s)
    assert outcome.best is not None
    return outcome.best, prices


@pytest.mark.parametrize("name", NAMES)
def test_what_an_engine_finds_keeps_every_promise_of_the_real_day(name: str) -> None:
    """SPEC S1, S2: each candidate on the way is verified against travel that depends on the hour."""
    problem = rushed(30)
    best, prices = search(problem, name, serving=30, least_s=0.4)
    assert prices
    plan = build_plan(problem, best)
    assert verify(problem, plan) == []
    assert plan.tickets_served == 30


@pytest.mark.parametrize("name", NAMES)
def test_the_rush_decides_between_two_plans(name: str) -> None:
    """SPEC S1: on a day on which ignoring the rush gives a cheaper plan, nobody gives that one."""
    (day,) = [day for day in RULE_CASES if day.feature is Feature.RUSH_HOURS]
    problem = day.problem
    best, _ = search(problem, name)
    assert price(problem, best) / problem.cost_scale == pytest.approx(day.cost, abs=0.01)
    naive = Candidate.of_tickets({0: [0, 1, 2]})
    assert verify(replace(problem, travel_periods=()), build_plan(replace(problem, travel_periods=()), naive)) == []
    assert any("outside its windows" in fault for fault in verify(problem, build_plan(problem, naive)))


def test_hours_outside_a_shift_slow_nobody_down() -> None:
    """Our choice: an agent that never drives in a rush is planned at the usual pace."""
    agents: list[dict[str, Any]] = [
        {"id": "early", "capacity": 9, "shift_start": 0, "shift_end": 300},
        {"id": "noon", "capacity": 9, "shift_start": 400, "shift_end": 590},
        {"id": "also noon", "capacity": 9, "shift_start": 410, "shift_end": 590},
    ]
    body = fleet_body(3)
    tickets = [{"id": "t", "location": "P0", "demand": 1}]
    problem = compiled({**body, "agents": agents, "tickets": tickets, "travel": RUSHES})
    slow = at_worst_case_speeds(problem)
    assert [agent.profile for agent in slow.agents] == [0, 1, 1]
    assert (slow.durations[1] == problem.durations[0]).all()
    assert (slow.durations[0] >= problem.durations[0] * 1.8 - 1e-9).all()
    assert Feature.RUSH_HOURS not in slow.features


def test_what_was_left_out_for_fear_of_a_rush_is_put_back() -> None:
    """Our choice: the careful plan is filled in with the real clock."""
    day = problem(
        [agent(capacity=99, shift_start=0, shift_end=210)],
        [ticket(f"t{n}", f"P{n}") for n in range(1, 11)],
        locations=plane({"D": (0, 0), **{f"P{n}": (10 * n, 0) for n in range(1, 11)}}),
        travel=rush(0, 5, 3),
    )
    best, _ = search(day, "sisr" if "sisr" in NAMES else AUTO, serving=10)
    assert build_plan(day, best).tickets_served == 10


REAL_CLOCK = {
    "a day on which nobody could serve anything; a reload keeps it from being enumerated": (
        {"shift_end": 30, "reload_locations": ["D"]},
        {"travel": rush(20, 25, 3)},
    ),
    "an all-or-none group that is put back whole with its reload": (
        {"shift_end": 50, "reload_locations": ["D"]},
        {"travel": rush(40, 45, 2), "groups": [{"kind": "all", "tickets": ["a", "b"]}]},
    ),
    "a break and a locked visit": (
        {"shift_end": 28, "breaks": [{"earliest": 9, "latest": 14, "duration_s": 5}], "locked_tickets": ["a"]},
        {"travel": rush(25, 27, 2)},
    ),
}


@pytest.mark.parametrize("name", REAL_CLOCK)
def test_what_the_slowest_pace_forbids_is_planned_on_the_real_clock(name: str) -> None:
    """SPEC S1: rush hours with reloads, groups, breaks and locks on one day."""
    driver, fields = REAL_CLOCK[name]
    tickets = [ticket("a", "A", demand=3), ticket("b", "B", demand=3)][: 1 + ("groups" in fields)]
    places = plane({"D": (0, 0), "A": (10, 0), "B": (-5, 0)})
    day = problem([agent(capacity=4, shift_start=0, **driver)], tickets, locations=places, **fields)
    best, _ = search(day, AUTO, serving=len(tickets))
    assert build_plan(day, best).tickets_served == len(tickets)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "pyvrp"])
def test_a_tiny_day_with_more_to_try_than_time_is_searched(name: str) -> None:
    """SPEC S3: a rush every hour makes trying dear, and the plans that serve most hold least."""
    draw = random.Random(1)
    travel_periods = [{"start": 3600 * n, "end": 3600 * (n + 1), "factor": 1 + 0.1 * (n % 5)} for n in range(14)]
    windows = [[2 * 3600, 5 * 3600], [8 * 3600, 12 * 3600]]
    places = {f"P{n}": (draw.uniform(-9000, 9000), draw.uniform(-9000, 9000)) for n in range(6)}
    day = problem(
        [agent(capacity=9, shift_end=14 * 3600, cost_per_hour=30, max_tickets=4)],
        [ticket(f"t{n}", f"P{n}", service_time_s=900, time_windows=windows) for n in range(6)],
        locations=plane({"D": (0, 0), **places}),
        travel={"plane_speed": 8, "rush_hours": travel_periods},
    )
    best, prices = search(day, name, serving=4)
    assert build_plan(day, best).tickets_served == 4
    assert price(day, best) == min(prices)


@pytest.mark.slow
@pytest.mark.parametrize("name", [quick_for_auto(name) for name in NAMES if name != "pyvrp"])
def test_a_lock_that_only_the_real_clock_can_keep_leaves_the_rest_of_the_day_as_good_as_without_it(name: str) -> None:
    """SPEC S1, S2 (locks, rush hours): at the slowest pace the locked visits would come too late."""
    problem = hurried(30, is_locked=True)
    visits = Route(0, tuple(Stop(StopKind.TICKET, ticket) for ticket in problem.agents[0].locked))
    assert not violations(problem, visits)
    assert violations(at_worst_case_speeds(problem), visits)
    best, prices = search(problem, name)
    free, _ = search(hurried(30, is_locked=False), name)
    assert build_plan(problem, best).tickets_served == 30
    assert prices
    assert price(problem, best) < 1.1 * price(problem, free)


@pytest.mark.parametrize("name", [quick_for_auto(name) for name in NAMES if name in ("sisr", AUTO)])
def test_an_hour_of_rush_in_the_morning_takes_no_more_agents_than_the_hour_costs(name: str) -> None:
    """SPEC S1, S3: two agents have the time; if all the way were as slow as that hour it would take three."""
    draw = random.Random(3)
    places = {f"P{n}": (draw.uniform(-15000, 15000), draw.uniform(-15000, 15000)) for n in range(60)}
    shift = {"capacity": 99, "shift_start": "08:00", "shift_end": "17:00", "fixed_cost": 100, "cost_per_km": 1}
    day = problem(
        [agent(f"v{n}", **shift) for n in range(4)],
        [ticket(f"t{n}", f"P{n}", service_time_s=600) for n in range(60)],
        locations=plane({"D": (0, 0), **places}),
        travel={"plane_speed": 11, **rush("08:00", "09:00", 2.5)},
    )
    best, _ = search(day, name, serving=60, agents=2)
    plan = build_plan(day, best)
    assert (plan.tickets_served, plan.agents_used) == (60, 2)


def test_a_plan_that_was_given_and_holds_stays_in_the_race() -> None:
    """SPEC T5, S3: by a clock on which every plan holds it may not; what comes of it there may be worse."""
    problem = rushed(40)
    found, _ = search(problem, "sisr", serving=40)
    poor = ScriptedEngine("poor", Candidate.of_tickets({0: [0]}))
    outcome = TimeDependentAdapter(poor).solve(
        problem, SearchLimits(time.monotonic() + 0.2), lambda _: None, lambda: False, found
    )
    assert outcome.best is not None
    assert verify(problem, build_plan(problem, outcome.best)) == []
    assert price(problem, outcome.best) <= price(problem, found)
