"""Splits a route into legs: the travel to each stop, its breaks, and the service at the stop.

Owns what depends on the order of stops alone. The times are computed by `evaluation/route_schedule.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from planner_mcp.routing.problem import BreakSpec, Problem, Route, Stop, StopKind

Windows = tuple[tuple[int, int], ...]


@dataclass(slots=True)
class Leg:
    """The travel to one stop (or to the end of the route), with the breaks on it and the service at its end."""

    stop: Stop | None
    """None for the end of the route."""
    location: int | None
    distance: int = 0
    travel: int = 0
    breaks: tuple[BreakSpec, ...] = ()
    setup: int = 0
    service: int = 0
    windows: Windows = ()
    soft_close: int | None = None
    lateness_cost: int = 0
    earliest: int = 0


def legs_of(problem: Problem, route: Route) -> list[Leg]:
    """Return the legs of a route, including the one to its end."""
    agent = problem.agents[route.agent]
    legs: list[Leg] = []
    pending_breaks: list[BreakSpec] = []
    place, is_first = agent.start, True
    for stop in route.stops:
        if stop.kind is StopKind.BREAK:
            pending_breaks.append(agent.breaks[stop.index])
            continue
        leg = _leg(problem, stop, place, is_first)
        _travel(problem, agent.profile, place, leg)
        leg.breaks, pending_breaks = tuple(pending_breaks), []
        legs.append(leg)
        place, is_first = leg.location, False
    last = Leg(None, agent.end, breaks=tuple(pending_breaks))
    _travel(problem, agent.profile, place, last)
    legs.append(last)
    _release_reloads(problem, legs)
    return legs


def _leg(problem: Problem, stop: Stop, place: int | None, is_first: bool) -> Leg:
    if stop.kind is StopKind.RELOAD:
        return Leg(stop, stop.index)
    ticket = problem.tickets[stop.index]
    return Leg(
        stop,
        ticket.location,
        setup=ticket.setup if is_first or place != ticket.location else 0,
        service=ticket.service,
        windows=ticket.windows,
        soft_close=ticket.soft_close,
        lateness_cost=ticket.lateness_cost,
    )


def _travel(problem: Problem, profile: int, place: int | None, leg: Leg) -> None:
    if place is not None and leg.location is not None:
        leg.distance = int(problem.distances[profile][place, leg.location])
        leg.travel = int(problem.durations[profile][place, leg.location])


def _release_reloads(problem: Problem, legs: list[Leg]) -> None:
    """Set the earliest departure of each reload: the latest release of the trip it begins."""
    latest = 0
    for leg in reversed(legs):
        if leg.stop is None:
            continue
        if leg.stop.kind is StopKind.RELOAD:
            leg.earliest, latest = latest, 0
        else:
            latest = max(latest, problem.tickets[leg.stop.index].release)


def first_release(problem: Problem, legs: Sequence[Leg]) -> int:
    """Return the release time of the first trip: the earliest time at which it can leave."""
    latest = 0
    for leg in legs:
        if leg.stop is None or leg.stop.kind is StopKind.RELOAD:
            break
        latest = max(latest, problem.tickets[leg.stop.index].release)
    return latest
