"""The clock of one route: when each stop of a given order happens.

Owns canonical timing: every service as early as its windows allow, then the departure as late as it can be without
ending later. Loads, prices and the form of a plan are `vrp/schedule.py`'s. Nothing here judges: a route that cannot
keep its windows is timed all the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from planner_mcp.vrp.problem import Break, Problem, Route, Stop, StopKind

Windows = tuple[tuple[int, int], ...]


@dataclass(slots=True)
class Leg:
    """The way to one stop (or to the end), with the breaks taken on it and what waits there."""

    stop: Stop | None
    """None for the end of the route."""
    location: int | None
    distance: int = 0
    travel: int = 0
    breaks: tuple[Break, ...] = ()
    setup: int = 0
    service: int = 0
    windows: Windows = ()
    soft_close: int | None = None
    earliest: int = 0


@dataclass(slots=True)
class Times:
    """When a leg happens. `rests` holds (reached, begun) of each break."""

    rests: tuple[tuple[int, int], ...]
    arrival: int
    start: int
    departure: int


@dataclass(slots=True)
class Timeline:
    """A timed route."""

    legs: list[Leg]
    times: list[Times]
    start: int

    @property
    def end(self) -> int:
        """When the route is over."""
        return self.times[-1].departure

    @property
    def duration(self) -> int:
        """From departure at the start to arrival at the end."""
        return self.end - self.start


def legs_of(problem: Problem, route: Route) -> list[Leg]:
    """Return the legs of a route, the way to its end included."""
    agent = problem.agents[route.agent]
    legs: list[Leg] = []
    rests: list[Break] = []
    place, is_first = agent.start, True
    for stop in route.stops:
        if stop.kind is StopKind.BREAK:
            rests.append(agent.breaks[stop.index])
            continue
        leg = _leg(problem, stop, place, is_first)
        _travel(problem, agent.profile, place, leg)
        leg.breaks, rests = tuple(rests), []
        legs.append(leg)
        place, is_first = leg.location, False
    last = Leg(None, agent.end, breaks=tuple(rests))
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
    )


def _travel(problem: Problem, profile: int, place: int | None, leg: Leg) -> None:
    if place is not None and leg.location is not None:
        leg.distance = int(problem.distances[profile][place, leg.location])
        leg.travel = int(problem.durations[profile][place, leg.location])


def _release_reloads(problem: Problem, legs: list[Leg]) -> None:
    """Let each reload wait for the goods of the trip it begins."""
    latest = 0
    for leg in reversed(legs):
        if leg.stop is None:
            continue
        if leg.stop.kind is StopKind.RELOAD:
            leg.earliest, latest = latest, 0
        else:
            latest = max(latest, problem.tickets[leg.stop.index].release)


def first_release(problem: Problem, legs: Sequence[Leg]) -> int:
    """Return the time before which the first trip cannot leave."""
    latest = 0
    for leg in legs:
        if leg.stop is None or leg.stop.kind is StopKind.RELOAD:
            break
        latest = max(latest, problem.tickets[leg.stop.index].release)
    return latest


def time_route(problem: Problem, route: Route) -> Timeline:
    """Return the canonical times of a route."""
    legs = legs_of(problem, route)
    soonest = max(problem.agents[route.agent].shift[0], first_release(problem, legs))
    times = _forward(legs, soonest)
    departure = max(soonest, _latest_departure(legs, times))
    if departure > soonest:
        times = _forward(legs, departure)
    return Timeline(legs, times, departure)


def _forward(legs: Sequence[Leg], departure: int) -> list[Times]:
    """Return earliest times after leaving at `departure`. A break on the way lets travel done before it count."""
    times: list[Times] = []
    now = departure
    for leg in legs:
        remaining, rests = leg.travel, []
        for rest in leg.breaks:
            begun = max(now, rest.window[0])
            remaining = max(0, remaining - (begun - now))
            rests.append((now, begun))
            now = begun + rest.duration
        arrival = now + remaining
        start = _opening(leg.windows, max(arrival + leg.setup, leg.earliest))
        now = start + leg.service
        times.append(Times(tuple(rests), arrival, start, now))
    return times


def _opening(windows: Windows, ready: int) -> int:
    """Return the first moment from `ready` on that lies in a window; `ready` itself when none is left."""
    for opens, closes in windows:
        if ready <= closes:
            return max(ready, opens)
    return ready


def _latest_departure(legs: Sequence[Leg], times: Sequence[Times]) -> int:
    """Return the latest departure that ends at the same time, in the same windows and no later than promised."""
    leave = times[-1].departure
    for leg, time in zip(reversed(legs), reversed(times), strict=True):
        latest = max(time.start, min(leave - leg.service, _deadline(leg, time.start)))
        leave = _mirror(leg, latest - leg.setup)
    return leave


def _deadline(leg: Leg, start: int) -> int:
    """Return how late the service may start without leaving its window or becoming later than agreed."""
    closing = next((closes for opens, closes in leg.windows if opens <= start <= closes), None)
    limits = [closing] if closing is not None else []
    if leg.soft_close is not None:
        limits.append(max(leg.soft_close, start))
    return min(limits, default=2**62)


def _mirror(leg: Leg, arrival: int) -> int:
    """Return the latest departure of a leg that must arrive by `arrival`, its breaks as late as they may be."""
    now, remaining = arrival, leg.travel
    for rest in reversed(leg.breaks):
        end = min(now, rest.window[1] + rest.duration)
        remaining = max(0, remaining - (now - end))
        now = end - rest.duration
    return now - remaining
