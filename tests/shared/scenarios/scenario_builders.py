"""Small days for the tests of the vocabulary: a line of places A, B, C … one unit apart, a depot at D = 0."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from planner_mcp.errors import Fault
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.feasibility.infeasibility_faults import infeasibility_faults
from planner_mcp.routing.problem import Candidate, Problem, Route, Stop, StopKind
from planner_mcp.routing.scenario.checks.scenario_checks import check
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices

PLACES = [{"id": "D", "x": 0, "y": 0}, *({"id": name, "x": at, "y": 0} for at, name in enumerate("ABCE", start=1))]


def agent(name: str = "v", **fields: Any) -> dict[str, Any]:
    return {"id": name, "capacity": 10, **fields}


def ticket(name: str = "a", location: str = "A", **fields: Any) -> dict[str, Any]:
    return {"id": name, "location": location, "demand": 1, **fields}


SHIPMENT = [ticket("p", kind="pickup"), ticket("q", "B", pickup="p")]


def body(agents: list[Any] | None = None, tickets: list[Any] | None = None, **fields: Any) -> dict[str, Any]:
    """Return a day of one agent and the tickets a at A, b at B, unless told otherwise; one unit takes one second."""
    day: dict[str, Any] = {"name": "day", "planning_date": "2025-07-15", "depot": "D", "locations": PLACES}
    day["agents"] = [agent()] if agents is None else agents
    day["tickets"] = [ticket("a", "A"), ticket("b", "B")] if tickets is None else tickets
    return {**day, "travel": {"decimals": 0}, **fields}


def haul(
    drivers: list[dict[str, Any]],
    pickup: dict[str, Any] | None = None,
    delivery: dict[str, Any] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """Return a day with one shipment, from 1000 s on one side of the depot to 1000 s on the other."""
    known = plane({"D": (0, 0), "P": (1000, 0), "Q": (-1000, 0)})
    halves = [ticket("p", "P", kind="pickup", **(pickup or {})), ticket("q", "Q", pickup="p", **(delivery or {}))]
    return body(drivers, halves, locations=known) | fields


def by_table(durations: list[list[float]], orders: list[dict[str, Any]], **driver: Any) -> dict[str, Any]:
    """Return a day at D, A, B … with a table of seconds and metres."""
    places = [{"id": name} for name in "DABCE"[: len(durations)]]
    travel = {"distances": durations, "durations": durations}
    return body([agent(shift_start=0, **driver)], orders, locations=places, travel=travel)


def raw_scenario(day: dict[str, Any]) -> Scenario:
    """Return a day that no check has seen yet; a matrix it names knows one place alone."""
    travel_matrices = TravelMatrices(("A",), np.zeros((1, 1))) if "matrix" in day.get("travel", {}) else None
    return Scenario.model_validate(day, context={"travel_matrices": travel_matrices})


def scenario(*args: Any, **fields: Any) -> Scenario:
    return parse_scenario(body(*args, **fields))


def plane(points: Mapping[str, tuple[float, float]]) -> list[dict[str, Any]]:
    """Return places at positions in the plane."""
    return [{"id": name, "x": x, "y": y} for name, (x, y) in points.items()]


def compiled(day: dict[str, Any], **how: Any) -> Problem:
    return compile_scenario(parse_scenario(day, **how))


def problem(*args: Any, **fields: Any) -> Problem:
    return compiled(body(*args, **fields))


def route(day: Problem, *names: str, agent: int = 0) -> Route:
    """Return a route of ticket ids; `reload@X` reloads at X, `break` takes the next break."""
    tickets = {spec.id: index for index, spec in enumerate(day.tickets)}
    stops, rests = [], iter(range(99))
    for name in names:
        if name == "break":
            stops.append(Stop(StopKind.BREAK, next(rests)))
        elif name.startswith("reload@"):
            stops.append(Stop(StopKind.RELOAD, day.locations.index(name[7:])))
        else:
            stops.append(Stop(StopKind.TICKET, tickets[name]))
    return Route(agent, tuple(stops))


def candidate(day: Problem, *names: str) -> Candidate:
    return Candidate((route(day, *names),))


def all_faults(day: Scenario) -> list[Fault]:
    """Return every logic fault of a scenario that is stored for the first time."""
    return check(day, prove_infeasible=infeasibility_faults)
