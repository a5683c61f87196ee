"""Tickets and shipments that no agent could make, even with nothing else to do.

Owns the trips that prove it: start, ticket, end; and start, pickup, delivery, end, for each half may be within reach
where both are not. Whatever comes between only takes more. Locked visits are `checks/locks.py`'s.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import inf
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.text import clock
from planner_mcp.vrp.checks.carriers import Carriers
from planner_mcp.vrp.checks.duties import SLACK_S, Duty, Mildest, surely_set_up
from planner_mcp.vrp.checks.reach import Leg, Reach
from planner_mcp.vrp.checks.shipments import shipments
from planner_mcp.vrp.day.eligible import Eligible
from planner_mcp.vrp.day.model import Scenario, Ticket

_DAY_S: Final = 86_400
MAX_TOLD: Final = 100
"""Unreachable tickets after which the search for more ends; more would never be listed."""
_TICKET_OBSTACLES: Final[tuple[tuple[str, str, str], ...]] = (
    ("time_windows", "Its windows are outside every shift that could serve it.", "Move the window or a shift."),
    ("service_time_s", "Its service does not fit into any shift that could serve it.", "Shorten it or extend a shift."),
    ("location", "No agent can drive there in time, even directly.", "Widen the window or start a shift earlier."),
    ("location", "No agent can drive there and back within its shift.", "Extend a shift or start nearer."),
    ("location", "A direct trip is longer than max_duration_s of every agent.", "Raise max_duration_s."),
    ("location", "A direct trip is farther than the distance limit of every agent.", "Raise the distance limit."),
)
"""(field, problem, hint), from the hardest to the mildest: what keeps the agent that comes closest is what is told."""
_SHIPMENT_OBSTACLES: Final[tuple[tuple[str, str], ...]] = (
    ("No agent can pick it up first and be there in its window.", "Widen this window or open the pickup earlier."),
    ("No agent can pick it up and deliver it within its shift.", "Extend a shift or start nearer."),
    ("A trip over its pickup is longer than max_duration_s of every agent.", "Raise max_duration_s."),
    ("A trip over its pickup is farther than the distance limit of every agent.", "Raise the distance limit."),
)
"""(problem, hint), from the hardest to the mildest: what keeps the agent that comes closest is what is told."""


def unreachable_tickets(
    scenario: Scenario, *, unfit: frozenset[int] = frozenset(), spared: frozenset[int] = frozenset()
) -> Iterator[Fault]:
    """Yield tickets that no agent could serve even with nothing else to do.

    Args:
        scenario: The day.
        unfit: Agents about whom something else is wrong; what they may serve is not judged.
        spared: Tickets that are not judged.
    """
    duties = [Duty.of(scenario, agent) for agent in scenario.agents]
    eligible, carriers = Eligible(scenario), Carriers(scenario)
    reach, mildest = Reach(scenario), Mildest()
    set_up = surely_set_up(scenario)
    found = 0
    for index, ticket in enumerate(scenario.tickets):
        agents = eligible.agents(ticket)
        if index in spared or not unfit.isdisjoint(agents):
            continue
        candidates = dict.fromkeys(duties[agent] for agent in carriers.able(ticket, agents))
        setup = ticket.setup_time_s if ticket.location in set_up else 0.0
        obstacle = mildest.obstacle(candidates, partial(_ticket_in_the_way, ticket, setup, reach))
        if obstacle is not None:
            field, problem, hint = _TICKET_OBSTACLES[obstacle]
            hint = _past_midnight(ticket, candidates) or hint if obstacle == 0 else hint
            yield Fault(f"/tickets/{index}/{field}", problem, "a ticket that some agent can serve", hint, "logic")
            found += 1
        if found >= MAX_TOLD:
            return


def _past_midnight(ticket: Ticket, duties: Collection[Duty]) -> str:
    """Return how to write the first window that lies within a shift a day later; "" where none does."""
    for opens, closes in sorted(ticket.time_windows):
        start, end = opens + _DAY_S, closes + _DAY_S
        if end < 2 * _DAY_S and any(duty.opens <= start and end <= duty.closes < inf for duty in duties):
            return f"Past midnight write {clock(start)} to {clock(end)}."
    return ""


def _ticket_in_the_way(ticket: Ticket, setup: float, reach: Reach, duty: Duty) -> int | None:
    """Return the obstacle of a direct trip, or, where others may be shorter, of the best trip over other stops."""
    out, back = reach.leg(duty.start, ticket.location), reach.leg(ticket.location, duty.end)
    fetched = [out[1], *(reach.leg(depot, ticket.location)[1] for depot in duty.reloads)]
    obstacle = _ticket_obstacle(ticket, setup, duty, (out, back, min(fetched)))
    if obstacle is None or not reach.may_detour:
        return obstacle
    out, back = reach.way_to(ticket.location, duty.start), reach.way_from(ticket.location, duty.end)
    fetched = [out[1], *(reach.way_to(ticket.location, depot)[1] for depot in duty.reloads)]
    return _ticket_obstacle(ticket, setup, duty, (out, back, min(fetched)))


def _ticket_obstacle(ticket: Ticket, setup: float, duty: Duty, trip: tuple[Leg, Leg, float]) -> int | None:
    """Return what a trip meets: the way out, the way back, the time from where the goods are."""
    windows = sorted(ticket.time_windows) or [(0.0, float("inf"))]
    if windows[-1][1] < duty.opens or windows[0][0] > duty.closes:
        return 0
    work = setup + ticket.service_time_s
    if duty.opens + work > duty.closes + SLACK_S:
        return 1
    (out_m, out_s), (back_m, back_s), fetched_s = trip
    released = ticket.release_time or 0.0
    ready = max(duty.opens + out_s / duty.speed, released + fetched_s / duty.speed) + setup
    start = next((max(ready, opens) for opens, closes in windows if ready <= closes + SLACK_S), None)
    if start is None:
        return 2
    if start + ticket.service_time_s + back_s / duty.speed > duty.closes + SLACK_S:
        return 3
    if (out_s + back_s) / duty.speed + work > duty.max_duration + SLACK_S:
        return 4
    return 5 if out_m + back_m > duty.max_distance + SLACK_S else None


@dataclass(frozen=True, slots=True)
class _Half:
    """A stop of the trip, with the setup that no other ticket at its place can spare it."""

    ticket: Ticket
    setup: float


_Halves = tuple[_Half, _Half]
"""(pickup, delivery)."""


@dataclass(frozen=True, slots=True)
class _Trip:
    """The ways of one trip: to the pickup, to the delivery, to the end; and how soon each half's goods are there."""

    legs: tuple[Leg, Leg, Leg]
    fetched_s: tuple[float, float]


def unreachable_shipments(
    scenario: Scenario, *, unfit: frozenset[int] = frozenset(), spared: frozenset[int] = frozenset()
) -> Iterator[Fault]:
    """Yield deliveries that no agent could make after their pickup.

    Args:
        scenario: The day.
        unfit: Agents about whom something else is wrong; what they may serve is not judged.
        spared: Tickets that are not judged, nor what they are half of.
    """
    yield from islice(_unreachable(scenario, unfit, spared), MAX_TOLD)


def _unreachable(scenario: Scenario, unfit: frozenset[int], spared: frozenset[int]) -> Iterator[Fault]:
    duties = [Duty.of(scenario, agent) for agent in scenario.agents]
    eligible, carriers = Eligible(scenario), Carriers(scenario)
    reach, mildest = Reach(scenario), Mildest()
    set_up = surely_set_up(scenario)
    untold = {scenario.tickets[index].id for index in spared}
    for index, delivery, pickup in shipments(scenario):
        agents = eligible.agents(delivery) & eligible.agents(pickup)
        if not untold.isdisjoint((delivery.id, pickup.id)) or not unfit.isdisjoint(agents):
            continue
        first, last = (_Half(each, each.setup_time_s * (each.location in set_up)) for each in (pickup, delivery))
        candidates = dict.fromkeys(duties[agent] for agent in carriers.able(delivery, agents))
        obstacle = mildest.obstacle(candidates, partial(_shipment_in_the_way, (first, last), reach))
        if obstacle is not None:
            problem, hint = _SHIPMENT_OBSTACLES[obstacle]
            yield Fault(f"/tickets/{index}", problem, "a shipment that some agent can make", hint, "logic")


def _shipment_in_the_way(halves: _Halves, reach: Reach, duty: Duty) -> int | None:
    """Return the obstacle of the direct trip, or, where others may be shorter, of the best trip over other stops."""
    obstacle = _shipment_obstacle(halves, duty, _trip(halves, duty, reach, is_direct=True))
    if obstacle is None or not reach.may_detour:
        return obstacle
    return _shipment_obstacle(halves, duty, _trip(halves, duty, reach, is_direct=False))


def _trip(halves: _Halves, duty: Duty, reach: Reach, *, is_direct: bool) -> _Trip:
    def way(origin: str | None, stop: str) -> Leg:
        return reach.leg(origin, stop) if is_direct else reach.way_to(stop, origin)

    pickup, delivery = (half.ticket.location for half in halves)
    back = reach.leg(delivery, duty.end) if is_direct else reach.way_from(delivery, duty.end)
    depots = (duty.start, *duty.reloads)
    first, last = (min(way(depot, stop)[1] for depot in depots) for stop in (pickup, delivery))
    return _Trip((way(duty.start, pickup), way(pickup, delivery), back), (first, last))


def _shipment_obstacle(halves: _Halves, duty: Duty, trip: _Trip) -> int | None:
    """Return what the trip meets."""
    now, work = duty.opens, 0.0
    for at, half in enumerate(halves):
        ticket, slack = half.ticket, SLACK_S * (at + 1)
        fetched = (ticket.release_time or 0.0) + trip.fetched_s[at] / duty.speed
        ready = max(now + trip.legs[at][1] / duty.speed, fetched) + half.setup
        windows = sorted(ticket.time_windows) or [(0.0, float("inf"))]
        start = next((max(ready, opens) for opens, closes in windows if ready <= closes + slack), None)
        if start is None:
            return 0
        now, work = start + ticket.service_time_s, work + half.setup + ticket.service_time_s
    metres, seconds = (sum(leg[kind] for leg in trip.legs) for kind in (0, 1))
    slack = SLACK_S * len(trip.legs)
    if now + trip.legs[-1][1] / duty.speed > duty.closes + slack:
        return 1
    if seconds / duty.speed + work > duty.max_duration + slack:
        return 2
    return 3 if metres > duty.max_distance + slack else None
