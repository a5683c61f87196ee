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
from planner_mcp.routing.scenario.agent_eligibility import Eligibility
from planner_mcp.routing.scenario.checks.agent_capability import AgentCapability
from planner_mcp.routing.scenario.checks.agent_limits import (
    SLACK_S,
    AgentLimits,
    MildestViolation,
    locations_with_certain_setup,
)
from planner_mcp.routing.scenario.checks.leg_lookup import Leg, LegLookup
from planner_mcp.routing.scenario.checks.shipment_checks import shipments
from planner_mcp.routing.scenario.scenario_model import Scenario, Ticket
from planner_mcp.text import clock

_DAY_S: Final = 86_400
MAX_REPORTED: Final = 100
"""Unreachable tickets after which the search for more ends; more would never be listed."""
_TICKET_VIOLATIONS: Final[tuple[tuple[str, str, str], ...]] = (
    ("time_windows", "Its windows are outside every shift that could serve it.", "Move the window or a shift."),
    ("service_time_s", "Its service does not fit into any shift that could serve it.", "Shorten it or extend a shift."),
    ("location", "No agent can drive there in time, even directly.", "Widen the window or start a shift earlier."),
    ("location", "No agent can drive there and back within its shift.", "Extend a shift or start nearer."),
    ("location", "A direct trip is longer than max_duration_s of every agent.", "Raise max_duration_s."),
    ("location", "A direct trip is farther than the distance limit of every agent.", "Raise the distance limit."),
)
"""(field, problem, hint), from the hardest to the mildest: what keeps the agent that comes closest is what is told."""
_SHIPMENT_VIOLATIONS: Final[tuple[tuple[str, str], ...]] = (
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
    all_limits = [AgentLimits.of(scenario, agent) for agent in scenario.agents]
    eligibility, capability = Eligibility(scenario), AgentCapability(scenario)
    leg_lookup, mildest_violation = LegLookup(scenario), MildestViolation()
    set_up = locations_with_certain_setup(scenario)
    found = 0
    for index, ticket in enumerate(scenario.tickets):
        agents = eligibility.agents(ticket)
        if index in spared or not unfit.isdisjoint(agents):
            continue
        candidates = dict.fromkeys(all_limits[agent] for agent in capability.capable(ticket, agents))
        setup = ticket.setup_time_s if ticket.location in set_up else 0.0
        violation = mildest_violation.violation(candidates, partial(_ticket_violation, ticket, setup, leg_lookup))
        if violation is not None:
            field, problem, hint = _TICKET_VIOLATIONS[violation]
            hint = _past_midnight(ticket, candidates) or hint if violation == 0 else hint
            yield Fault(f"/tickets/{index}/{field}", problem, "a ticket that some agent can serve", hint, "logic")
            found += 1
        if found >= MAX_REPORTED:
            return


def _past_midnight(ticket: Ticket, all_limits: Collection[AgentLimits]) -> str:
    """Return how to write the first window that lies within a shift a day later; "" where none does."""
    for opens, closes in sorted(ticket.time_windows):
        start, end = opens + _DAY_S, closes + _DAY_S
        if end < 2 * _DAY_S and any(
            agent_limits.opens <= start and end <= agent_limits.closes < inf for agent_limits in all_limits
        ):
            return f"Past midnight write {clock(start)} to {clock(end)}."
    return ""


def _ticket_violation(ticket: Ticket, setup: float, leg_lookup: LegLookup, agent_limits: AgentLimits) -> int | None:
    """Return the obstacle of a direct trip, or, where others may be shorter, of the best trip over other stops."""
    out, back = leg_lookup.leg(agent_limits.start, ticket.location), leg_lookup.leg(ticket.location, agent_limits.end)
    fetched = [out[1], *(leg_lookup.leg(depot, ticket.location)[1] for depot in agent_limits.reloads)]
    violation = _ticket_violation_on_trip(ticket, setup, agent_limits, (out, back, min(fetched)))
    if violation is None or not leg_lookup.may_detour:
        return violation
    out, back = (
        leg_lookup.path_to(ticket.location, agent_limits.start),
        leg_lookup.path_from(ticket.location, agent_limits.end),
    )
    fetched = [out[1], *(leg_lookup.path_to(ticket.location, depot)[1] for depot in agent_limits.reloads)]
    return _ticket_violation_on_trip(ticket, setup, agent_limits, (out, back, min(fetched)))


def _ticket_violation_on_trip(
    ticket: Ticket, setup: float, agent_limits: AgentLimits, trip: tuple[Leg, Leg, float]
) -> int | None:
    """Return what a trip meets: the way out, the way back, the time from where the goods are."""
    windows = sorted(ticket.time_windows) or [(0.0, float("inf"))]
    if windows[-1][1] < agent_limits.opens or windows[0][0] > agent_limits.closes:
        return 0
    work = setup + ticket.service_time_s
    if agent_limits.opens + work > agent_limits.closes + SLACK_S:
        return 1
    (out_m, out_s), (back_m, back_s), fetched_s = trip
    released = ticket.release_time or 0.0
    ready = max(agent_limits.opens + out_s / agent_limits.speed, released + fetched_s / agent_limits.speed) + setup
    start = next((max(ready, opens) for opens, closes in windows if ready <= closes + SLACK_S), None)
    if start is None:
        return 2
    if start + ticket.service_time_s + back_s / agent_limits.speed > agent_limits.closes + SLACK_S:
        return 3
    if (out_s + back_s) / agent_limits.speed + work > agent_limits.max_duration + SLACK_S:
        return 4
    return 5 if out_m + back_m > agent_limits.max_distance + SLACK_S else None


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
    yield from islice(_unreachable(scenario, unfit, spared), MAX_REPORTED)


def _unreachable(scenario: Scenario, unfit: frozenset[int], spared: frozenset[int]) -> Iterator[Fault]:
    all_limits = [AgentLimits.of(scenario, agent) for agent in scenario.agents]
    eligibility, capability = Eligibility(scenario), AgentCapability(scenario)
    leg_lookup, mildest_violation = LegLookup(scenario), MildestViolation()
    set_up = locations_with_certain_setup(scenario)
    skipped_ids = {scenario.tickets[index].id for index in spared}
    for index, delivery, pickup in shipments(scenario):
        agents = eligibility.agents(delivery) & eligibility.agents(pickup)
        if not skipped_ids.isdisjoint((delivery.id, pickup.id)) or not unfit.isdisjoint(agents):
            continue
        first, last = (_Half(each, each.setup_time_s * (each.location in set_up)) for each in (pickup, delivery))
        candidates = dict.fromkeys(all_limits[agent] for agent in capability.capable(delivery, agents))
        violation = mildest_violation.violation(candidates, partial(_shipment_violation, (first, last), leg_lookup))
        if violation is not None:
            problem, hint = _SHIPMENT_VIOLATIONS[violation]
            yield Fault(f"/tickets/{index}", problem, "a shipment that some agent can make", hint, "logic")


def _shipment_violation(halves: _Halves, leg_lookup: LegLookup, agent_limits: AgentLimits) -> int | None:
    """Return the obstacle of the direct trip, or, where others may be shorter, of the best trip over other stops."""
    violation = _shipment_violation_on_trip(
        halves, agent_limits, _trip(halves, agent_limits, leg_lookup, is_direct=True)
    )
    if violation is None or not leg_lookup.may_detour:
        return violation
    return _shipment_violation_on_trip(halves, agent_limits, _trip(halves, agent_limits, leg_lookup, is_direct=False))


def _trip(halves: _Halves, agent_limits: AgentLimits, leg_lookup: LegLookup, *, is_direct: bool) -> _Trip:
    def travel_leg(origin: str | None, stop: str) -> Leg:
        return leg_lookup.leg(origin, stop) if is_direct else leg_lookup.path_to(stop, origin)

    pickup, delivery = (half.ticket.location for half in halves)
    back = leg_lookup.leg(delivery, agent_limits.end) if is_direct else leg_lookup.path_from(delivery, agent_limits.end)
    depots = (agent_limits.start, *agent_limits.reloads)
    first, last = (min(travel_leg(depot, stop)[1] for depot in depots) for stop in (pickup, delivery))
    return _Trip((travel_leg(agent_limits.start, pickup), travel_leg(pickup, delivery), back), (first, last))


def _shipment_violation_on_trip(halves: _Halves, agent_limits: AgentLimits, trip: _Trip) -> int | None:
    """Return what the trip meets."""
    now, work = agent_limits.opens, 0.0
    for at, half in enumerate(halves):
        ticket, slack = half.ticket, SLACK_S * (at + 1)
        fetched = (ticket.release_time or 0.0) + trip.fetched_s[at] / agent_limits.speed
        ready = max(now + trip.legs[at][1] / agent_limits.speed, fetched) + half.setup
        windows = sorted(ticket.time_windows) or [(0.0, float("inf"))]
        start = next((max(ready, opens) for opens, closes in windows if ready <= closes + slack), None)
        if start is None:
            return 0
        now, work = start + ticket.service_time_s, work + half.setup + ticket.service_time_s
    metres, seconds = (sum(leg[kind] for leg in trip.legs) for kind in (0, 1))
    slack = SLACK_S * len(trip.legs)
    if now + trip.legs[-1][1] / agent_limits.speed > agent_limits.closes + slack:
        return 1
    if seconds / agent_limits.speed + work > agent_limits.max_duration + slack:
        return 2
    return 3 if metres > agent_limits.max_distance + slack else None
