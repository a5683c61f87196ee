"""Why a ticket is left out.

Owns the reason codes and a cheap, honest test for each: a code is given only when the fact behind it has been checked
against the problem or the plan at hand. Where nothing proves the ticket impossible the code is `NO_ROOM_FOUND`, which
claims no more than it says. The smallest fix, proved by a re-solve, is a tool's work.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import Final

from planner_mcp.routing.evaluation.least_travel import DirectLegs, ShortestPaths, TravelMeasure
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.problem import AgentSpec, GroupKind, LoadKind, Problem, TicketSpec

Reason = tuple[str, str]
"""(code, detail)."""

UNASSIGNED_REASONS: Final[dict[str, str]] = {
    "GROUP_OTHER_CHOSEN": "Another ticket of its group is served.",
    "NO_AGENT_WITH_SKILL": "No agent may serve it, by skills or by name.",
    "DEMAND_EXCEEDS_CAPACITY": "Its demand is above the capacity of every agent that may serve it.",
    "TIME_WINDOW_UNREACHABLE": (
        "No agent that could carry it can be there in time, even driving straight there, over its pickup if it has one."
    ),
    "SHIFT_TOO_SHORT": "No agent that could carry it can serve it and be back before its shift ends.",
    "MAX_DURATION": "Serving only it, or its shipment, would take every agent that could longer than its max_duration.",
    "MAX_DISTANCE": "Serving only it, or its shipment, would take every agent that could beyond its max_distance.",
    "SHIPMENT_HALF_UNSERVED": "The other half of its shipment cannot be served.",
    "GROUP_INCOMPLETE": "Another ticket of its all-or-none group cannot be served.",
    "PENALTY_LOWER_THAN_COST": "It has a price, and the search found no plan in which serving it is worth more.",
    "ALL_CAPACITY_USED": "The agents that may serve it have no capacity left in this plan.",
    "NO_ROOM_FOUND": "The search found no route with room for it; more time or agents may help.",
}

_CLOSEST_FIRST: Final = ("MAX_DISTANCE", "MAX_DURATION", "SHIFT_TOO_SHORT", "TIME_WINDOW_UNREACHABLE")
"""What keeps the agent that comes closest is what is told."""


def unassigned_reasons(problem: Problem, plan: Plan) -> dict[str, Reason]:
    """Return (code, detail) for each ticket no route of the plan serves, in the order of the problem."""
    served = {visit.ticket_id for route in plan.routes for visit in route.visits}
    if plan.tickets_served == len(problem.tickets):
        return {}
    finder = _ReasonFinder(problem, plan, {i for i, ticket in enumerate(problem.tickets) if ticket.id in served})
    codes = {ticket.id: finder.code(index) for index, ticket in enumerate(problem.tickets) if ticket.id not in served}
    return {ticket: (code, UNASSIGNED_REASONS[code]) for ticket, code in codes.items()}


class _ReasonFinder:
    """The tests behind the codes, for one plan."""

    def __init__(self, problem: Problem, plan: Plan, served: set[int]) -> None:
        self._problem = problem
        self._legs = DirectLegs(problem)
        self._paths = ShortestPaths(problem, self._legs) if ShortestPaths.may_differ(problem) else None
        self._served = served
        self._partner = {t.pickup: i for i, t in enumerate(problem.tickets) if t.pickup is not None}
        self._partner |= {i: t.pickup for i, t in enumerate(problem.tickets) if t.pickup is not None}
        self._spare = _spare(problem, plan)
        self._after_locked: dict[tuple[str, DirectLegs], tuple[int | None, int]] = {}
        self._visits_per_place = Counter(ticket.location for ticket in problem.tickets)
        self._visits_per_place.update(place for agent in problem.agents for place in agent.reload_depots)
        self._impossibility = cache(self._proof)

    def code(self, index: int) -> str:
        """Return the first code whose fact holds."""
        if self._is_replaced(index):
            return "GROUP_OTHER_CHOSEN"
        if (impossibility := self._impossibility(index)) is not None:
            return impossibility
        if any(self._impossibility(other) for other in self._companions(index)):
            return "GROUP_INCOMPLETE"
        if self._problem.tickets[index].is_priced:
            return "PENALTY_LOWER_THAN_COST"
        return "NO_ROOM_FOUND" if self._has_spare(self._problem.tickets[index]) else "ALL_CAPACITY_USED"

    def _is_replaced(self, index: int) -> bool:
        return any(
            group.kind is GroupKind.ONE_OF and index in group.tickets and not self._served.isdisjoint(group.tickets)
            for group in self._problem.groups
        )

    def _companions(self, index: int) -> set[int]:
        groups = (group for group in self._problem.groups if group.kind is GroupKind.ALL and index in group.tickets)
        return {other for group in groups for other in group.tickets} - {index}

    def _proof(self, index: int) -> str | None:
        """Return why no agent could serve the ticket, with its other half, even with nothing else to do, or None."""
        if (alone := self._alone(index)) is not None or (partner := self._partner.get(index)) is None:
            return alone
        if self._alone(partner) is not None:
            return "SHIPMENT_HALF_UNSERVED"
        is_pickup = self._problem.tickets[index].pickup is None
        code = self._together(index, partner) if is_pickup else self._together(partner, index)
        return "SHIPMENT_HALF_UNSERVED" if is_pickup and code == "TIME_WINDOW_UNREACHABLE" else code

    def _alone(self, index: int) -> str | None:
        """Return why no agent could serve the ticket by itself, or None."""
        ticket = self._problem.tickets[index]
        if ticket.windows and ticket.windows[-1][1] < self._problem.frozen_until:
            return "TIME_WINDOW_UNREACHABLE"
        if not (allowed := self._allowed(ticket)):
            return "NO_AGENT_WITH_SKILL"
        able = [agent for agent in allowed if _fits(ticket, agent.capacity)]
        return self._trips_of([index], able) if able else "DEMAND_EXCEEDS_CAPACITY"

    def _together(self, pickup: int, delivery: int) -> str | None:
        """Return why no agent that could carry a shipment could make both of its halves, or None."""
        halves = [self._problem.tickets[index] for index in (pickup, delivery)]
        theirs = {agent.id for agent in self._allowed(halves[0])}
        both = (agent for agent in self._allowed(halves[1]) if agent.id in theirs)
        able = [agent for agent in both if all(_fits(half, agent.capacity) for half in halves)]
        return self._trips_of([pickup, delivery], able)

    def _allowed(self, ticket: TicketSpec) -> Sequence[AgentSpec]:
        agents = self._problem.agents
        return agents if ticket.agents is None else [agents[index] for index in sorted(ticket.agents)]

    def _trips_of(self, tickets: Sequence[int], agents: Iterable[AgentSpec]) -> str | None:
        """Return what keeps each of the agents from a trip to the tickets, None where one can or none is free."""
        codes: set[str] = set()
        for agent in agents:
            if not _is_done(agent):
                if (code := self._violated_limit(tickets, agent)) is None:
                    return None
                codes.add(code)
        return next((code for code in _CLOSEST_FIRST if code in codes), None)

    def _violated_limit(self, tickets: Sequence[int], agent: AgentSpec) -> str | None:
        """Return what forbids the trip to tickets, straight and, where that may be less, over other stops."""
        code = self._trip(tickets, agent, self._legs)
        return code if code is None or self._paths is None else self._trip(tickets, agent, self._paths)

    def _trip(self, indexes: Sequence[int], agent: AgentSpec, legs: DirectLegs) -> str | None:
        """Return what forbids the trip start, tickets in order, end; breaks left aside, locked visits made before."""
        between = legs if agent.reload_depots else self._legs  # nothing else stands among locked visits
        if (agent.id, between) not in self._after_locked:
            self._after_locked[agent.id, between] = self._after_locks(agent, between)
        place, now = self._after_locked[agent.id, between]
        left = [index for index in indexes if index not in agent.locked or index == indexes[-1]]
        origin, busy = agent.start, 0
        for ticket in (self._problem.tickets[index] for index in left):
            depots = (agent.start, *agent.reload_depots)
            fetched = min(legs.out(TravelMeasure.TIME, agent.profile, depot, ticket.location) for depot in depots)
            is_spared = self._visits_per_place[ticket.location] > 1 or (bool(agent.locked) and place == ticket.location)
            setup = 0 if is_spared else ticket.setup  # behind another there it is not spent
            there = now + legs.out(TravelMeasure.TIME, agent.profile, place, ticket.location)
            ready = max(there, ticket.release + fetched) + setup
            starts = [max(ready, opens) for opens, close in ticket.windows if close >= ready]
            if ticket.windows and not starts:
                return "TIME_WINDOW_UNREACHABLE"
            now = min(starts, default=ready) + ticket.service
            busy += legs.out(TravelMeasure.TIME, agent.profile, origin, ticket.location) + setup + ticket.service
            origin = place = ticket.location
        back = legs.back(TravelMeasure.TIME, agent.profile, origin, agent.end)
        if now + back > agent.shift[1] + agent.overtime:
            return "SHIFT_TOO_SHORT"
        if agent.max_duration is not None and busy + back > agent.max_duration:
            return "MAX_DURATION"
        return "MAX_DISTANCE" if self._is_too_far(left, agent, legs) else None

    def _is_too_far(self, indexes: Sequence[int], agent: AgentSpec, legs: DirectLegs) -> bool:
        if agent.max_distance is None:
            return False
        places = [agent.start, *(self._problem.tickets[index].location for index in indexes)]
        out = sum(legs.out(TravelMeasure.LENGTH, agent.profile, *leg) for leg in pairwise(places))
        return out + legs.back(TravelMeasure.LENGTH, agent.profile, places[-1], agent.end) > agent.max_distance

    def _after_locks(self, agent: AgentSpec, legs: DirectLegs) -> tuple[int | None, int]:
        """Return where an agent is done with its locked visits, and when at the soonest."""
        place, now = agent.start, agent.shift[0]
        for at, index in enumerate(agent.locked):
            ticket = self._problem.tickets[index]
            now += legs.out(TravelMeasure.TIME, agent.profile, place, ticket.location)
            is_set_up = (at == 0 or place != ticket.location) and ticket.location not in agent.reload_depots
            now += ticket.setup if is_set_up else 0
            now = max(now, next((opens for opens, close in ticket.windows if close >= now), now)) + ticket.service
            place = ticket.location
        return place, now

    def _has_spare(self, ticket: TicketSpec) -> bool:
        chosen = range(len(self._problem.agents)) if ticket.agents is None else ticket.agents
        return any(_fits(ticket, self._spare[agent][ticket.load]) for agent in chosen)


def _fits(ticket: TicketSpec, room: tuple[int, ...]) -> bool:
    return all(need <= space for need, space in zip(ticket.demand, room, strict=True))


def _is_done(agent: AgentSpec) -> bool:
    """Return whether an agent has as many visits locked as it may make."""
    return bool(agent.locked) and agent.max_stops is not None and len(agent.locked) >= agent.max_stops


def _spare(problem: Problem, plan: Plan) -> list[dict[LoadKind, tuple[int, ...]]]:
    """Return what each agent could yet deliver, and pick up; with reloads or shipments, its whole capacity.

    One more delivery fits as the first on the route, beside the other deliveries; one more pickup as the last.
    """
    spare = [dict.fromkeys(LoadKind, agent.capacity) for agent in problem.agents]
    is_reused = any(ticket.pickup is not None for ticket in problem.tickets)
    by_id = {ticket.id: ticket for ticket in problem.tickets}
    index = {agent.id: position for position, agent in enumerate(problem.agents)}
    for route in plan.routes:
        agent = index[route.agent_id]
        if is_reused or problem.agents[agent].max_reloads:
            continue
        for visit in route.visits:
            if visit.ticket_id is not None:
                ticket = by_id[visit.ticket_id]
                room = spare[agent][ticket.load]
                spare[agent][ticket.load] = tuple(a - b for a, b in zip(room, ticket.demand, strict=True))
    return spare
