"""Tickets that no agent could serve, even with nothing else to do: proved on the compiled problem.

Owns the proof: by eligible agents, by capacity and max_tickets, and by the least trip there and back, over its
pickup if it has one. Whatever else is on a route only takes more. Locked visits of an agent are made before.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Final

from planner_mcp.routing.feasibility.least_travel import DirectLegs, TravelMeasure, least_legs
from planner_mcp.routing.infeasibility_reasons import InfeasibilityReason
from planner_mcp.routing.problem import AgentSpec, Problem

_CLOSEST_FIRST: Final = (
    InfeasibilityReason.MAX_DISTANCE,
    InfeasibilityReason.MAX_DURATION,
    InfeasibilityReason.SHIFT_END,
    InfeasibilityReason.TIME_WINDOW,
)
"""Of several agents the reason of the one that comes closest is given."""
PROVED_REASONS: Final = (
    InfeasibilityReason.NO_ROAD,
    InfeasibilityReason.NO_POSITION,
    InfeasibilityReason.SKILL_OR_AGENT,
    InfeasibilityReason.CAPACITY,
    InfeasibilityReason.MAX_TICKETS,
    InfeasibilityReason.MIN_LOAD,
    *reversed(_CLOSEST_FIRST),
    InfeasibilityReason.ROUTE_OVER,
    InfeasibilityReason.SHIPMENT_HALF_UNSERVED,
)
"""What can be proved of one ticket, or of one shipment."""


class UnservableTickets:
    """The proofs of one problem."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._legs = DirectLegs(problem)
        self._paths = least_legs(problem, self._legs)
        self._after_locked: dict[tuple[int, DirectLegs], tuple[int | None, int]] = {}
        self._kind = _kinds(problem.agents)
        self._last_able = -1
        self._stops_per_location = stops_per_location(problem)
        self.reason = cache(self._reason)
        self._able = cache(self._with_capacity)
        self._may_set_out = cache(self._may_reach_min_load)

    def _reason(self, index: int) -> InfeasibilityReason | None:
        """Return why no agent could serve the ticket, with its other half, even with nothing else to do, or None."""
        if (alone := self.alone(index)) is not None or (partner := self._problem.partner_of.get(index)) is None:
            return alone
        if self.alone(partner) is not None:
            return InfeasibilityReason.SHIPMENT_HALF_UNSERVED
        is_pickup = self._problem.tickets[index].pickup is None
        reason = self.together(index, partner) if is_pickup else self.together(partner, index)
        is_late = is_pickup and reason is InfeasibilityReason.TIME_WINDOW
        return InfeasibilityReason.SHIPMENT_HALF_UNSERVED if is_late else reason

    def alone(self, index: int) -> InfeasibilityReason | None:
        """Return why no agent could serve the ticket by itself, or None."""
        ticket = self._problem.tickets[index]
        if ticket.location in self._problem.off_network:
            return InfeasibilityReason.NO_ROAD
        if ticket.location in self._problem.open_addresses:
            return InfeasibilityReason.NO_POSITION
        if ticket.windows and ticket.windows[-1][1] < self._problem.frozen_until:
            return InfeasibilityReason.TIME_WINDOW
        if not self._allowed(ticket.agents):
            return InfeasibilityReason.SKILL_OR_AGENT
        if not (able := self.able(index)):
            return InfeasibilityReason.CAPACITY
        count = 2 if index in self._problem.partner_of else 1
        if not (free := [agent for agent in able if self._may_serve(agent, count)]):
            return InfeasibilityReason.MAX_TICKETS
        if not (ready := [agent for agent in free if self._may_set_out(agent)]):
            return InfeasibilityReason.MIN_LOAD
        return self._trips_of([index], ready)

    def able(self, index: int) -> tuple[int, ...]:
        """Return the agents that may serve a ticket and have the capacity for it."""
        return self._able(self._problem.tickets[index].agents, self._problem.tickets[index].demand)

    def together(self, pickup: int, delivery: int) -> InfeasibilityReason | None:
        """Return why no agent that could carry a shipment could make both of its halves, or None."""
        both = sorted(set(self.able(pickup)).intersection(self.able(delivery)))
        if not both:
            halves = [set(self._allowed(self._problem.tickets[index].agents)) for index in (pickup, delivery)]
            is_for_nobody = halves[0].isdisjoint(halves[1])
            return InfeasibilityReason.SKILL_OR_AGENT if is_for_nobody else InfeasibilityReason.CAPACITY
        ready = (agent for agent in both if self._may_serve(agent, 2) and self._may_set_out(agent))
        return self._trips_of([pickup, delivery], ready)

    def _with_capacity(self, agents: frozenset[int] | None, demand: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(agent for agent in self._allowed(agents) if fits(demand, self._problem.agents[agent].capacity))

    def _may_serve(self, agent: int, count: int) -> bool:
        most = self._problem.agents[agent].max_stops
        return most is None or most >= count

    def _may_reach_min_load(self, agent: int) -> bool:
        """Return whether all that an agent may serve is as much as its min_load asks for."""
        least = self._problem.agents[agent].min_load
        counted = (ticket for ticket in self._problem.tickets if ticket.pickup is None) if any(least) else ()
        theirs = [ticket.demand for ticket in counted if ticket.admits(agent)]
        return all(sum(demand[at] for demand in theirs) >= amount for at, amount in enumerate(least))

    def _allowed(self, agents: frozenset[int] | None) -> Sequence[int]:
        return range(len(self._problem.agents)) if agents is None else sorted(agents)

    def _trips_of(self, tickets: Sequence[int], agents: Iterable[int]) -> InfeasibilityReason | None:
        """Return what keeps each of the agents from a trip to the tickets, None where one can or it is not known.

        The agent that could last is asked first, because it mostly can again.
        """
        kinds = dict.fromkeys(self._kind[agent] for agent in agents)
        reasons: set[InfeasibilityReason] = set()
        for number in sorted(kinds, key=lambda kind: kind != self._last_able):
            if not _is_done(self._problem.agents[number]):
                if (reason := self._violated_limit(tickets, number)) is None:
                    self._last_able = number
                    return None
                reasons.add(reason)
        are_over = bool(kinds) and all(self._is_over(self._problem.agents[number]) for number in kinds)
        over = InfeasibilityReason.ROUTE_OVER if are_over else None
        return next((reason for reason in _CLOSEST_FIRST if reason in reasons), over)

    def _is_over(self, agent: AgentSpec) -> bool:
        """Return whether an agent has begun all visits that it may make by the hour of `keep_until`."""
        windows = (self._problem.tickets[index].windows for index in agent.locked)
        return _is_done(agent) and all(each and each[0][0] < self._problem.frozen_until for each in windows)

    def _violated_limit(self, tickets: Sequence[int], agent: int) -> InfeasibilityReason | None:
        """Return what forbids the trip to tickets, straight and, where that may be less, over other stops."""
        reason = self._trip(tickets, agent, self._legs)
        return reason if reason is None or self._paths is self._legs else self._trip(tickets, agent, self._paths)

    def _trip(self, indexes: Sequence[int], number: int, legs: DirectLegs) -> InfeasibilityReason | None:
        """Return what forbids the trip start, tickets in order, end; breaks left aside, locked visits made before."""
        agent = self._problem.agents[number]
        between = legs if agent.reload_depots else self._legs  # nothing else stands among locked visits
        if (number, between) not in self._after_locked:
            self._after_locked[number, between] = self._after_locks(agent, between)
        place, now = self._after_locked[number, between]
        left = [index for index in indexes if index not in agent.locked or index == indexes[-1]]
        origin, busy = agent.start, 0
        for ticket in (self._problem.tickets[index] for index in left):
            depots = (agent.start, *agent.reload_depots)
            fetched = min(legs.out(TravelMeasure.TIME, agent.profile, depot, ticket.location) for depot in depots)
            is_spared = self._stops_per_location[ticket.location] > 1 or (
                bool(agent.locked) and place == ticket.location
            )
            setup = 0 if is_spared else ticket.setup  # behind another there it is not spent
            there = now + legs.out(TravelMeasure.TIME, agent.profile, place, ticket.location)
            ready = max(there, ticket.release + fetched) + setup
            if (start := ticket.start_from(ready)) is None:
                return InfeasibilityReason.TIME_WINDOW
            now = start + ticket.service
            busy += legs.out(TravelMeasure.TIME, agent.profile, origin, ticket.location) + setup + ticket.service
            origin = place = ticket.location
        back = legs.back(TravelMeasure.TIME, agent.profile, origin, agent.end)
        length = 0 if agent.max_distance is None else self._length(left, agent, legs)
        return next(exceeded_limits(agent, now + back, busy + back, length), None)

    def _length(self, indexes: Sequence[int], agent: AgentSpec, legs: DirectLegs) -> int:
        places = [agent.start, *(self._problem.tickets[index].location for index in indexes)]
        out = sum(legs.out(TravelMeasure.LENGTH, agent.profile, *leg) for leg in pairwise(places))
        return out + legs.back(TravelMeasure.LENGTH, agent.profile, places[-1], agent.end)

    def _after_locks(self, agent: AgentSpec, legs: DirectLegs) -> tuple[int | None, int]:
        """Return where an agent is done with its locked visits, and when at the soonest."""
        place, now = agent.start, agent.shift[0]
        for at, index in enumerate(agent.locked):
            ticket = self._problem.tickets[index]
            now += legs.out(TravelMeasure.TIME, agent.profile, place, ticket.location)
            is_set_up = (at == 0 or place != ticket.location) and ticket.location not in agent.reload_depots
            now += ticket.setup if is_set_up else 0
            start = ticket.start_from(now)
            now = (now if start is None else start) + ticket.service
            place = ticket.location
        return place, now


def exceeded_limits(agent: AgentSpec, end: int, busy: int, length: int) -> Iterator[InfeasibilityReason]:
    """Yield the limits that are too narrow for a route, by its end, its time without waiting and its length."""
    if end > agent.latest_end:
        yield InfeasibilityReason.SHIFT_END
    if agent.max_duration is not None and busy > agent.max_duration:
        yield InfeasibilityReason.MAX_DURATION
    if agent.max_distance is not None and length > agent.max_distance:
        yield InfeasibilityReason.MAX_DISTANCE


def stops_per_location(problem: Problem) -> Counter[int]:
    """Return how many tickets and reloads there may be at each location: behind another a setup is not spent."""
    counts = Counter(ticket.location for ticket in problem.tickets)
    counts.update(place for agent in problem.agents for place in agent.reload_depots)
    return counts


def fits(demand: tuple[int, ...], room: tuple[int, ...]) -> bool:
    """Return whether a demand is within some amounts."""
    return all(need <= space for need, space in zip(demand, room, strict=True))


def _kinds(agents: Sequence[AgentSpec]) -> list[int]:
    """Return for each agent the first one that has the same trips."""
    first: dict[AgentSpec, int] = {}
    same = (replace(agent, id="", capacity=(), min_load=(), breaks=()) for agent in agents)
    free = (replace(agent, fixed_cost=0, distance_cost=0, time_cost=0, overtime_cost=0) for agent in same)
    return [first.setdefault(agent, number) for number, agent in enumerate(free)]


def _is_done(agent: AgentSpec) -> bool:
    """Return whether an agent has as many visits locked as it may make."""
    return bool(agent.locked) and agent.max_stops is not None and len(agent.locked) >= agent.max_stops
