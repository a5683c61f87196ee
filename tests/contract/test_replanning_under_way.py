"""Every engine that knows locks goes on with a day that is under way, judged by what the plan before said (SPEC T5)."""

import time
from random import Random

import pytest

from planner_mcp.routing.analysis.frozen_prefix import frozen_prefix, without_departed_agents
from planner_mcp.routing.analysis.plan_repair import repair
from planner_mcp.routing.analysis.plan_repricing import candidate_on, plan_at_stated_times
from planner_mcp.routing.evaluation.plan_builder import build_plan, candidate_of
from planner_mcp.routing.feasibility.unassigned_reasons import with_reasons
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.problem import Candidate, Feature, Problem
from planner_mcp.routing.scenario.scenario_patch import revise
from planner_mcp.routing.verification.plan_verification import verify
from planner_mcp.text import Json
from tests.shared.scenarios.scenario_builders import body, compiled, plane, problem, ticket
from workers.engines.engine_interface import Engine, SearchLimits
from workers.engines.selection import engine_registry

ENGINES = [engine for engine in engine_registry.engines() if engine.is_available() and Feature.LOCKS in engine.features]
SOLVE_S = 0.08
LONGER = (1, 4, 16, 64)
"""How many times longer a search gets, one after the other, until there is a plan: OR-Tools builds its model first."""
HOUR_S = 3600
SLOW = {"plane_speed": 0.5, "decimals": 0}
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 12))]
every_engine = pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)


def random_problem(random: Random) -> Json:
    """Return a day between 8 and 18 o'clock on a square of 2 km, with breaks, windows and open ends."""
    places = [{"id": f"P{n}", "x": random.randint(0, 2000), "y": random.randint(0, 2000)} for n in range(12)]
    agents = [_agent(random, f"v{n}") for n in range(3)]
    tickets = [_ticket(random, f"t{n}") for n in range(14)]
    return body(agents, tickets, locations=places, depot="P0", travel=SLOW)


def _agent(random: Random, name: str) -> Json:
    day = {"id": name, "capacity": 9, "shift_start": "08:00", "shift_end": "18:00"}
    rest = {"earliest": "11:30", "latest": "13:30", "duration_s": 1800}
    day |= {"breaks": [rest]} if random.random() < 0.6 else {}
    day |= {"end_location": None} if random.random() < 0.3 else {}
    return day | ({"cost_per_km": 1, "cost_per_hour": 20} if random.random() < 0.4 else {"cost_per_km": 1})


def _ticket(random: Random, name: str) -> Json:
    day: Json = {"id": name, "location": f"P{random.randint(1, 11)}", "demand": 1}
    day["service_time_s"] = random.choice([0, 600, 2400])
    if random.random() < 0.6:
        opens = random.randint(8, 15) * HOUR_S
        day["time_windows"] = [[opens, opens + 2 * HOUR_S]]
    return day | ({"setup_time_s": 300} if random.random() < 0.2 else {})


def random_patch(random: Random, day: Json, hour: int) -> Json:
    """Return what may happen on a day: new orders, cancelled ones, a breakdown, a longer visit."""
    tickets: Json = {name: _ticket(random, name) for name in (f"a{hour}", f"b{hour}")}
    tickets[random.choice(day["tickets"])["id"]] = None
    if random.random() < 0.5:
        tickets.setdefault(random.choice(day["tickets"])["id"], {"service_time_s": 3000})
    accidents: list[Json] = [{}, {"v1": None}, {"v1": {"shift_end": "11:00"}}, {"v2": {"max_tickets": 2, "breaks": []}}]
    return {"tickets": tickets, "agents": random.choice(accidents)}


def solved(engine: Engine, problem: Problem, before: Plan | None = None) -> Plan:
    start = None if before is None else repair(problem, candidate_of(problem, before))
    searches = (_searched(engine, problem, start, times * SOLVE_S) for times in LONGER)
    best = next(filter(None, searches), None)
    assert best is not None
    plan = build_plan(problem, best)
    assert verify(problem, plan) == []
    return plan


def _searched(engine: Engine, problem: Problem, start: Candidate | None, seconds: float) -> Candidate | None:
    limits = SearchLimits(time.monotonic() + seconds)
    return engine.solve(problem, limits, lambda _: None, lambda: False, start).best


def history(plan: Plan, hour: int, gone: set[str]) -> dict[tuple[str, str | None], list[float]]:
    """Return when each agent began what it has begun by an hour; a break at the end may be taken after the route."""
    starts: dict[tuple[str, str | None], list[float]] = {}
    for route in plan.routes:
        frozen_prefix = [visit for visit in route.visits if visit.start_s < hour and visit.ticket_id not in gone]
        while frozen_prefix and frozen_prefix[-1].ticket_id is None:
            frozen_prefix.pop()
        for visit in frozen_prefix if route.agent_id not in gone else ():
            starts.setdefault((route.agent_id, visit.ticket_id), []).append(visit.start_s)
    return starts


def departures(plan: Plan) -> dict[str | None, float]:
    """Return when the agent that serves a ticket leaves what stands before it."""
    found: dict[str | None, float] = {}
    for route in plan.routes:
        now = route.start_s
        for visit in route.visits:
            if visit.ticket_id is not None:
                found[visit.ticket_id] = now
            now = visit.departure_s
    return found


@every_engine
@pytest.mark.parametrize("seed", SEEDS)
def test_a_day_goes_on_from_what_has_happened_and_never_into_the_past(engine: Engine, seed: int) -> None:
    """SPEC T5, S1: three times a day something changes; begun visits and breaks stay, nobody else left before."""
    random = Random(seed)
    day = random_problem(random)
    plan = solved(engine, compiled(day))
    for hour in (10 * HOUR_S, 12 * HOUR_S + 600, 14 * HOUR_S):
        patch = random_patch(random, day, hour)
        patch["agents"] = {name: change for name, change in patch["agents"].items() if _has(day, name)}
        day = without_departed_agents(
            {**revise(day, patch), "held": {**day.get("held", {}), **frozen_prefix(plan, hour).as_json()}}
        )
        known = compiled(day)
        after = solved(engine, known, plan)
        gone = {name for section in patch.values() for name, change in section.items() if change is None}
        assert history(after, hour, gone) == history(plan, hour, gone)
        locked = {known.tickets[index].id for spec in known.agents for index in spec.locked}
        left = departures(after)
        assert all(left[name] >= hour for name in left if name not in locked)
        plan = after


@pytest.mark.parametrize("seed", [3, 14, 24])
def test_a_plan_made_under_way_keeps_its_hours_on_the_day_without_its_past(seed: int) -> None:
    """SPEC T5: priced by another day it has the visits, departures and durations it tells, set-up and rests too."""
    random = Random(seed)
    day = random_problem(random)
    plan = solved(ENGINES[0], compiled(day))
    for hour in (10 * HOUR_S, 12 * HOUR_S + 600):
        patch = {"tickets": random_patch(random, day, hour)["tickets"]}
        day = {**revise(day, patch), "held": {**day.get("held", {}), **frozen_prefix(plan, hour).as_json()}}
        plan = solved(ENGINES[0], compiled(day), plan)
        morning = compiled({**day, "held": None})
        stops = candidate_on(morning, plan)
        assert stops is not None
        assert hours(plan_at_stated_times(morning, stops, plan)) == hours(plan)


def hours(plan: Plan) -> dict[str, list[float]]:
    """Return when each route and its visits and breaks begin and end."""
    return {
        route.agent_id: [route.start_s, route.end_s, *(at for v in route.visits for at in (v.start_s, v.departure_s))]
        for route in plan.routes
    }


def _has(day: Json, name: str) -> bool:
    return any(agent["id"] == name for agent in day["agents"])


@every_engine
def test_nothing_new_comes_between_a_visit_and_the_rest_begun_after_it(engine: Engine) -> None:
    """SPEC T5, S1: not even a ticket at the same place that takes no time and whose window ends before the hour."""
    first = {"id": "t0", "location": "P1", "demand": 1, "service_time_s": 600, "time_windows": [["08:50", "08:50"]]}
    rest = {"earliest": "09:00", "latest": "09:05", "duration_s": 1800}
    agents = [{"id": "v0", "capacity": 9, "shift_start": "08:00", "shift_end": "18:00", "breaks": [rest]}]
    day = body(agents, [first], locations=plane({"P0": (0, 0), "P1": (500, 0)}), depot="P0", travel=SLOW)
    plan = solved(engine, compiled(day))
    late = {"location": "P1", "demand": 1, "time_windows": [["08:00", "09:05"]]}
    changed = revise(day, {"tickets": {"t1": late, "t2": {"location": "P1", "demand": 1}}})
    known = compiled(without_departed_agents({**changed, "held": frozen_prefix(plan, 9 * HOUR_S + 600).as_json()}))
    after = with_reasons(known, solved(engine, known, plan))
    assert [visit.ticket_id for visit in after.routes[0].visits] == ["t0", None, "t2"]
    assert [(left.ticket_id, left.code) for left in after.unassigned] == [("t1", "TIME_WINDOW")]


ON_THE_WAY: Json = {
    "until_s": 10 * HOUR_S,
    "routes": [
        {
            "agent": "v0",
            "start_s": 8 * HOUR_S,
            "visits": [{"ticket": "a", "start_s": 29400, "departure_s": 29400}],
            "next_ticket": "b",
            "arrival_s": 36600,
        }
    ],
}
TOO_LATE: dict[str, tuple[Json, Json]] = {
    "a window": ({"time_windows": [["14:00", "16:00"]]}, ON_THE_WAY),
    "two windows": ({"time_windows": [["14:00", "15:00"], ["16:00", "17:00"]]}, ON_THE_WAY),
    "a release": ({"release_time": "14:00"}, {"until_s": HOUR_S}),
}


@pytest.mark.parametrize("name", TOO_LATE)
def test_what_comes_up_after_everybodys_day_is_left_out_and_the_rest_is_planned(name: str) -> None:
    """SPEC T5, S1: on a day under way a new ticket nobody can reach is no fault; every engine plans the others."""
    late, held = TOO_LATE[name]
    places = plane({"D": (0, 0), "A": (600, 0), "B": (0, 600)})
    tickets = [ticket("a", "A"), ticket("b", "B"), ticket("late", "B", **late)]
    agents = [{"id": "v0", "capacity": 9, "shift_start": "08:00", "shift_end": "12:00"}]
    known = problem(agents, tickets, locations=places, travel={}, held=held)
    able = [each for each in engine_registry.engines() if each.is_available() and not each.missing(known)]
    assert able
    for engine in able:
        after = solved(engine, known)
        assert [left.ticket_id for left in after.unassigned] == ["late"], engine.name
