"""Shipments that no agent could make, even with nothing else to do.

Owns the trip start, pickup, delivery, end: each half may be within reach where both are not, and whatever comes between
only takes more. Single tickets are `checks/times.py`'s.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.vrp.checks.amounts import shipments
from planner_mcp.vrp.checks.carriers import Carriers
from planner_mcp.vrp.checks.reach import Leg, Reach
from planner_mcp.vrp.checks.times import MOST_TOLD, SLACK_S, Duty, Mildest, surely_set_up
from planner_mcp.vrp.day.eligible import Eligible
from planner_mcp.vrp.day.model import Scenario, Ticket

_OBSTACLES: Final[tuple[tuple[str, str], ...]] = (
    ("No agent can pick it up first and be there in its window.", "Widen this window or open the pickup earlier."),
    ("No agent can pick it up and deliver it within its shift.", "Extend a shift or start nearer."),
    ("A trip over its pickup is longer than max_duration_s of every agent.", "Raise max_duration_s."),
    ("A trip over its pickup is farther than the distance limit of every agent.", "Raise the distance limit."),
)
"""(problem, hint), from the hardest to the mildest: what keeps the agent that comes closest is what is told."""


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
    yield from islice(_unreachable(scenario, unfit, spared), MOST_TOLD)


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
        obstacle = mildest.obstacle(candidates, partial(_in_the_way, (first, last), reach))
        if obstacle is not None:
            problem, hint = _OBSTACLES[obstacle]
            yield Fault(f"/tickets/{index}", problem, "a shipment that some agent can make", hint, "logic")


def _in_the_way(halves: _Halves, reach: Reach, duty: Duty) -> int | None:
    """Return the obstacle of the direct trip, or, where others may be shorter, of the best trip over other stops."""
    obstacle = _obstacle(halves, duty, _trip(halves, duty, reach, is_direct=True))
    if obstacle is None or not reach.may_detour:
        return obstacle
    return _obstacle(halves, duty, _trip(halves, duty, reach, is_direct=False))


def _trip(halves: _Halves, duty: Duty, reach: Reach, *, is_direct: bool) -> _Trip:
    def way(origin: str | None, stop: str) -> Leg:
        return reach.leg(origin, stop) if is_direct else reach.way_to(stop, origin)

    pickup, delivery = (half.ticket.location for half in halves)
    back = reach.leg(delivery, duty.end) if is_direct else reach.way_from(delivery, duty.end)
    depots = (duty.start, *duty.reloads)
    first, last = (min(way(depot, stop)[1] for depot in depots) for stop in (pickup, delivery))
    return _Trip((way(duty.start, pickup), way(pickup, delivery), back), (first, last))


def _obstacle(halves: _Halves, duty: Duty, trip: _Trip) -> int | None:
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
