"""Regions of a plan: parts of nearby routes that members of a team improve at the same time (ADR 54).

Owns the cut of a plan, the problem of one region with everything else fixed, and the merge of two plans. Which member
works on which region, and for how long, is decided in `workers/engines/selection/region_search.py`. All of it holds
only where the cost of a plan is the sum of the costs of its parts (`time_allocation.NOT_DECOMPOSABLE`).
"""

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from planner_mcp.routing.evaluation.plan_builder import price
from planner_mcp.routing.problem import (
    AgentSpec,
    Candidate,
    Matrix,
    Problem,
    Route,
    Stop,
    StopKind,
    TicketSpec,
    is_narrow,
    narrow_table,
)


class Region:
    """Some agents and tickets of a problem, as a problem of their own.

    Args:
        whole: The problem.
        agents: Its agents, ascending.
        tickets: Its tickets, ascending: all that its agents serve, and some that nobody serves.
    """

    def __init__(self, whole: Problem, agents: Sequence[int], tickets: Sequence[int]) -> None:
        self._agents, self._tickets = agents, tickets
        self._places = sorted(_places_of(whole, agents, tickets))
        self._agent_at = {agent: index for index, agent in enumerate(agents)}
        self._ticket_at = {ticket: index for index, ticket in enumerate(tickets)}
        self._place_at = {place: index for index, place in enumerate(self._places)}
        self.problem = self._problem(whole)

    def routes_of(self, candidate: Candidate) -> Candidate:
        """Return the routes that a plan of the whole has inside the region, as a candidate of the region."""
        return Candidate(
            tuple(
                Route(self._agent_at[route.agent], tuple(map(self._inside, route.stops)))
                for route in candidate.routes
                if route.agent in self._agent_at
            ),
            candidate.found_by,
        )

    def inserted(self, base: Candidate, inside: Candidate) -> Candidate:
        """Return a plan of the whole with the routes of a candidate of the region in the place of its own."""
        kept = [route for route in base.routes if route.agent not in self._agent_at]
        found = [Route(self._agents[route.agent], tuple(map(self._outside, route.stops))) for route in inside.routes]
        routes = sorted((*kept, *found), key=lambda route: route.agent)
        return Candidate(tuple(routes), tuple(dict.fromkeys((*base.found_by, *inside.found_by))))

    def _inside(self, stop: Stop) -> Stop:
        maps: dict[StopKind, Mapping[int, int]] = {StopKind.TICKET: self._ticket_at, StopKind.RELOAD: self._place_at}
        return stop if stop.kind is StopKind.BREAK else Stop(stop.kind, maps[stop.kind][stop.index])

    def _outside(self, stop: Stop) -> Stop:
        lists: dict[StopKind, Sequence[int]] = {StopKind.TICKET: self._tickets, StopKind.RELOAD: self._places}
        return stop if stop.kind is StopKind.BREAK else Stop(stop.kind, lists[stop.kind][stop.index])

    def _problem(self, whole: Problem) -> Problem:
        at, place_at = self._ticket_at, self._place_at
        tables = {id(table): table for table in (*whole.distances, *whole.durations)}
        parts = {name: self._table(table) for name, table in tables.items()}  # what is shared stays shared
        return replace(
            whole,
            agents=tuple(self._agent(whole.agents[agent]) for agent in self._agents),
            tickets=tuple(self._ticket(whole.tickets[ticket]) for ticket in self._tickets),
            locations=tuple(whole.locations[place] for place in self._places),
            distances=tuple(parts[id(table)] for table in whole.distances),
            durations=tuple(parts[id(table)] for table in whole.durations),
            incompatible=frozenset((at[a], at[b]) for a, b in whole.incompatible if a in at and b in at),
            positions=tuple(whole.positions[place] for place in self._places) if whole.positions else (),
            off_network={place_at[place]: why for place, why in whole.off_network.items() if place in place_at},
            open_addresses={place_at[place]: why for place, why in whole.open_addresses.items() if place in place_at},
        )

    def _agent(self, agent: AgentSpec) -> AgentSpec:
        return replace(
            agent,
            start=None if agent.start is None else self._place_at[agent.start],
            end=None if agent.end is None else self._place_at[agent.end],
            reload_at=tuple(self._place_at[place] for place in agent.reload_at),
            locked=tuple(self._ticket_at[ticket] for ticket in agent.locked),
        )

    def _ticket(self, ticket: TicketSpec) -> TicketSpec:
        preferred = None if ticket.preferred is None else self._agent_at.get(ticket.preferred)
        is_elsewhere = ticket.preferred is not None and preferred is None
        switch_cost = ticket.switch_cost if is_elsewhere else 0  # by any agent here
        return replace(
            ticket,
            location=self._place_at[ticket.location],
            agents=None if ticket.agents is None else self._known(ticket.agents),
            preferred=preferred,
            penalty=max(0, ticket.penalty - switch_cost),
            pickup=None if ticket.pickup is None else self._ticket_at[ticket.pickup],
        )

    def _known(self, agents: Iterable[int]) -> frozenset[int]:
        return frozenset(self._agent_at[agent] for agent in agents if agent in self._agent_at)

    def _table(self, table: Matrix) -> Matrix:
        part = table[np.ix_(self._places, self._places)]
        if not is_narrow(table):
            return part
        narrow = narrow_table(len(part))
        narrow[:] = part
        return narrow


def cut_into_regions(problem: Problem, plan: Candidate, count: int, turn: int) -> list[list[int]]:
    """Return the agents of each of `count` regions with about equally many tickets.

    Routes are bisected recursively by their distances from two random tickets, which `turn` alone decides: members that
    know nearly the same plan cut it nearly alike. Idle agents are distributed.
    """
    dice = random.Random(turn)  # noqa: S311 — members agree by it
    used = {route.agent: [problem.tickets[ticket].location for ticket in route.tickets] for route in plan.routes}
    regions = _bisected(problem, {agent: places for agent, places in used.items() if places}, count, dice)
    for agent in range(len(problem.agents)):
        if not used.get(agent):
            regions[(agent + turn) % count].append(agent)
    return [sorted(region) for region in regions]


def _bisected(problem: Problem, used: Mapping[int, list[int]], count: int, dice: random.Random) -> list[list[int]]:
    """Return `count` regions of used agents, each with the places of its tickets."""
    if count == 1:
        return [list(used)]
    table = problem.distances[0]
    one, other = (table[dice.choice(problem.tickets).location] for _ in range(2))
    side = {agent: float(np.mean(one[places].astype(np.int64) - other[places])) for agent, places in used.items()}
    agents, half = sorted(used, key=lambda agent: side[agent]), count // 2
    ends = np.cumsum([len(used[agent]) for agent in agents])
    at = int(np.searchsorted(ends, ends[-1] * half / count)) + 1 if agents else 0
    parts = ((agents[:at], half), (agents[at:], count - half))
    return [region for part, size in parts for region in _bisected(problem, {a: used[a] for a in part}, size, dice)]


def region_of(problem: Problem, plan: Candidate, regions: Sequence[Sequence[int]], index: int) -> Region:
    """Return one region of a cut, with the tickets of its routes and its share of those that nobody serves."""
    region_at = {agent: number for number, region in enumerate(regions) for agent in region}
    tickets = {ticket for route in plan.routes if region_at[route.agent] == index for ticket in route.tickets}
    region_of_ticket = {t: region_at[route.agent] for route in plan.routes for t in route.tickets}
    tickets |= {t for t, number in _of_unserved(problem, region_of_ticket, region_at).items() if number == index}
    return Region(problem, regions[index], sorted(tickets))


def _of_unserved(problem: Problem, region_of_ticket: Mapping[int, int], region_at: Mapping[int, int]) -> dict[int, int]:
    """Return a region for each ticket that nobody serves: that of the agent it is locked to, or of the nearest ticket.

    Both tickets of a shipment go where the first of them goes.
    """
    found = {
        ticket: region_at[index]
        for index, agent in enumerate(problem.agents)
        for ticket in agent.locked
        if ticket not in region_of_ticket
    }
    served = list(region_of_ticket)
    places = [problem.tickets[ticket].location for ticket in served]
    for ticket, spec in enumerate(problem.tickets):
        if ticket in region_of_ticket or ticket in found:
            continue
        nearest = served[int(np.argmin(problem.distances[0][spec.location][places]))] if served else None
        found[ticket] = 0 if nearest is None else region_of_ticket[nearest]
        if (partner := problem.partner_of.get(ticket)) is not None:
            found[partner] = found[ticket]
    return found


def _places_of(problem: Problem, agents: Iterable[int], tickets: Iterable[int]) -> set[int]:
    """Return the locations that agents and tickets have."""
    places = {problem.tickets[ticket].location for ticket in tickets}
    for agent in (problem.agents[index] for index in agents):
        places |= {place for place in (agent.start, agent.end, *agent.reload_at) if place is not None}
    return places


def merged_plans(problem: Problem, one: Candidate, other: Candidate) -> Candidate:
    """Return the cheapest plan that takes each independent part from one of two plans.

    Agents belong together where a ticket changes between them. So what was found in different regions adds up, and of
    what was found in the same place the cheaper stays.
    """
    routes = [{route.agent: route for route in plan.routes} for plan in (one, other)]
    merged_routes = dict(routes[0])
    for agents in _independent_parts(*routes):
        parts = [Candidate(tuple(of[agent] for agent in agents if agent in of)) for of in routes]
        if price(problem, parts[1]) < price(problem, parts[0]):
            for agent in agents:
                merged_routes.pop(agent, None)
            merged_routes |= {route.agent: route for route in parts[1].routes}
    found_by = tuple(dict.fromkeys((*one.found_by, *other.found_by)))
    return Candidate(tuple(merged_routes[agent] for agent in sorted(merged_routes)), found_by)


def _independent_parts(one: Mapping[int, Route], other: Mapping[int, Route]) -> Iterable[Collection[int]]:
    """Return the agents whose routes differ, those together between which a ticket changes."""
    changed = {agent for agent in one.keys() | other.keys() if one.get(agent) != other.get(agent)}
    root = {agent: agent for agent in changed}

    def root_of(agent: int) -> int:
        while root[agent] != agent:
            root[agent] = agent = root[root[agent]]
        return agent

    agent_of = {ticket: agent for agent in changed if agent in one for ticket in one[agent].tickets}
    for agent in changed & other.keys():
        for ticket in other[agent].tickets:
            if ticket in agent_of:
                root[root_of(agent)] = root_of(agent_of[ticket])
    parts: dict[int, list[int]] = {}
    for agent in sorted(changed):
        parts.setdefault(root_of(agent), []).append(agent)
    return parts.values()
