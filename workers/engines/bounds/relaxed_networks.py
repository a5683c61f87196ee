"""The relaxed problem: one network for each type of agents, and the rows that join their routes.

Owns what the bound leaves out of the model. Whatever is left out only admits more routes or lowers their cost, so that
the relaxed problem costs at most as much as the problem. A network keeps capacities, time windows, shifts, overtime,
lateness, waiting, prices of distance and time, limits of distance, duration and stops, setup, releases, skills and
switch costs; the halves of a shipment share a route, in order and with its load between them.
`RelaxedProblem.relaxed` names the features of the problem that are left out, or kept in part only:

* breaks take no time; travel takes the time of the best hour of the day; the span, least loads and the order of locked
  visits are free; groups of which all or none are served may be served in part;
* tickets that exclude one another may share a route, but not follow each other;
* an agent that reloads has the capacity of all its trips together, and may pass a place of reload on any leg;
* with paid or limited durations the lateness and the second of two windows are judged as if each were alone, and the
  release of a ticket delays the end of its route but makes no earlier ticket late.

Costs are multiplied by `factor`, so that dual values, which are integers too, are fine enough.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner_mcp.routing.engine_names import PROVE_MAX_TICKETS
from planner_mcp.routing.evaluation.time_dependent_travel import fastest_durations
from planner_mcp.routing.feasibility.cheapest_legs import shortest_paths_over
from planner_mcp.routing.feasibility.fleet_size_bounds import one_of_several
from planner_mcp.routing.problem import AgentSpec, Feature, GroupKind, LoadKind, Problem
from workers.engines.native.native_arrays import agent_types

MAX_DIMENSIONS: Final = 4
"""Further dimensions are left out."""
EXCLUDED: Final = (2**63 - 1) // 4
"""Cost of an arc that no route drives."""
_NO_STOP_LIMIT: Final = 2**31
_MOST_STOPS: Final = 4
"""Where capacities and times admit more than so many times as many stops as there are tickets, stops are counted."""
_KEPT: Final = frozenset(
    {
        *(Feature.TIME_WINDOWS, Feature.SETUP, Feature.HETEROGENEOUS, Feature.TIME_COST, Feature.MULTI_DEPOT),
        *(Feature.OPEN_ROUTES, Feature.SHIFTS, Feature.OVERTIME, Feature.MAX_DISTANCE, Feature.MAX_DURATION),
        *(Feature.MAX_STOPS, Feature.SKILLS, Feature.SHIPMENTS, Feature.PICKUPS, Feature.OPTIONAL),
        *(Feature.PREFERENCES, Feature.PROFILES),
    }
)
"""Features of which nothing is left out, whatever else there is."""
_FINEST: Final = 2**10
_FINE: Final = 2**50
"""Largest cost of a day that is multiplied by a factor."""
_LARGEST: Final = 2**58
"""Largest cost of a day that the arithmetic of the pricing holds."""

Cells = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Row:
    """Tickets of which one is served, or the penalty is paid."""

    tickets: tuple[int, ...]
    penalty: int | None
    """None where one has to be served. Multiplied by the factor."""


@dataclass(frozen=True, slots=True, eq=False)
class RelaxedNetwork:
    """What one type of agents can drive; see `route_pricing.hpp`. All costs are multiplied by the factor."""

    agents: tuple[int, ...]
    is_used: bool
    """Whether each of its agents has a route in every plan."""
    field: Cells
    cost: Cells
    """(n + 1, n + 1), the last row is the start, the last column the end."""
    time: Cells
    distance: Cells
    shortest: Cells
    """(n + 1, n + 1): the least time over any tickets in between; only shipments need it, else it is `time`."""
    windows: tuple[tuple[tuple[int, int], ...], ...]
    soft: Cells
    release: Cells
    delivery: Cells
    pickup: Cells
    capacity: Cells
    half: Cells
    """(n, 2): the number of the shipment of each ticket or -1, and whether the ticket is its second half."""
    shipped: Cells
    """(n, dimensions): what a shipment has on board between its halves."""
    switch_cost: Cells

    @property
    def fixed_cost(self) -> int:
        """Cost of a route before its first leg."""
        return int(self.field[5])

    @property
    def count(self) -> int:
        """The most routes that its agents can have."""
        return len(self.agents)


@dataclass(frozen=True, slots=True, eq=False)
class RelaxedProblem:
    """The networks and rows of a problem."""

    problem: Problem
    factor: int
    networks: tuple[RelaxedNetwork, ...]
    rows: tuple[Row, ...]
    relaxed: tuple[str, ...]
    """Features of the problem that are left out or kept in part, in the order of the alphabet."""
    rows_of: tuple[tuple[int, ...], ...] = field(init=False)
    """The rows of each ticket."""
    network_of: dict[int, int] = field(init=False)
    """The network of each agent."""

    def __post_init__(self) -> None:
        """Index the rows by ticket, and the networks by agent."""
        rows_of: list[list[int]] = [[] for _ in self.problem.tickets]
        for number, row in enumerate(self.rows):
            for ticket in row.tickets:
                rows_of[ticket].append(number)
        object.__setattr__(self, "rows_of", tuple(map(tuple, rows_of)))
        network_of = {agent: number for number, each in enumerate(self.networks) for agent in each.agents}
        object.__setattr__(self, "network_of", network_of)

    @property
    def has_shipments(self) -> bool:
        """Whether the halves of shipments share a route."""
        return any((each.half[:, 0] >= 0).any() for each in self.networks)

    def without_shipments(self) -> "RelaxedProblem":
        """Return a problem in which the halves of a shipment need not share a route, and have no load."""
        networks = tuple(replace(each, half=_no_halves(self.problem)) for each in self.networks)
        return replace(self, networks=networks, relaxed=tuple(sorted({*self.relaxed, Feature.SHIPMENTS.value})))


def is_provable(problem: Problem) -> bool:
    """Return whether a problem has few enough tickets, and costs within the range of integers."""
    return _factor(problem) > 0


def relaxed_problem(problem: Problem) -> RelaxedProblem | None:
    """Return the relaxed problem; None where there is none (`is_provable`)."""
    if (factor := _factor(problem)) == 0:
        return None
    types = agent_types(problem)
    members: dict[int, list[int]] = {}
    for agent, number in enumerate(types):
        members.setdefault(number, []).append(agent)
    locked = {ticket: agent for agent, spec in enumerate(problem.agents) for ticket in spec.locked}
    networks = [_network(problem, agents, factor, locked) for agents in members.values()]
    return RelaxedProblem(
        problem, factor, tuple(networks), tuple(_rows(problem, factor)), tuple(sorted(_relaxed(problem)))
    )


def _factor(problem: Problem) -> int:
    """Return the factor of all costs; 0 where there are too many tickets, or even the plain costs are too large."""
    if not 0 < len(problem.tickets) <= PROVE_MAX_TICKETS:
        return 0
    prices = [(a.distance_cost, a.time_cost + a.overtime_cost) for a in problem.agents]
    far = max(int(table.max(initial=0)) for table in problem.distances)
    ends = max(agent.latest_end for agent in problem.agents)
    late = sum(ticket.lateness_cost * ends + ticket.switch_cost for ticket in problem.tickets)
    leg = max(metre * far + hour * (far + 2 * ends) for metre, hour in prices)
    fixed = max(agent.fixed_cost for agent in problem.agents)
    penalties = sum(ticket.penalty for ticket in problem.tickets if ticket.is_priced)
    penalties += sum(group.penalty for group in problem.groups if problem.tickets[group.tickets[0]].is_priced)
    total = (len(problem.tickets) + 1) * (leg + fixed) + late + penalties + 1
    return max(min(_FINEST, _FINE // total), int(total <= _LARGEST))


def _relaxed(problem: Problem) -> set[str]:
    has_duration = any(a.time_cost or a.max_duration is not None for a in problem.agents)
    reloads = any(agent.reload_depots for agent in problem.agents)
    has_late = any(ticket.lateness_cost for ticket in problem.tickets)
    has_gaps = any(len(ticket.windows) > 1 for ticket in problem.tickets)
    is_kept = {
        Feature.RELEASE: not (reloads or has_late or has_gaps),
        Feature.BACKHAUL: not (reloads or problem.partner_of),
        Feature.INCOMPATIBLE: not problem.incompatible,
        Feature.GROUPS: all(group.kind is GroupKind.ONE_OF for group in problem.groups),
        Feature.MULTI_CAPACITY: len(problem.dimensions) <= MAX_DIMENSIONS,
        Feature.MULTI_WINDOWS: not has_duration,
        Feature.SOFT_WINDOWS: not has_duration,
    }
    return {feature.value for feature in problem.features - _KEPT if not is_kept.get(feature)}


def _rows(problem: Problem, factor: int) -> list[Row]:
    """Return the rows of tickets outside ONE_OF groups, then of these groups, with penalties times the factor."""
    groups = [group for group in problem.groups if group.kind is GroupKind.ONE_OF]
    grouped, rows = one_of_several(problem), []
    for number, ticket in enumerate(problem.tickets):
        if number not in grouped:
            # the other half of a shipment in a group has no penalty of its own
            is_wanted = not ticket.is_priced and ticket.penalty > 0
            rows.append(Row((number,), None if is_wanted else ticket.penalty * factor))
    for group in groups:
        is_wanted = not problem.tickets[group.tickets[0]].is_priced and group.penalty > 0
        rows.append(Row(group.tickets, None if is_wanted else group.penalty * factor))
    return rows


def _network(problem: Problem, agents: Sequence[int], factor: int, locked: dict[int, int]) -> RelaxedNetwork:
    agent, count = problem.agents[agents[0]], len(problem.tickets)
    distance, time = _legs(problem, agent)
    cost = factor * agent.distance_cost * distance
    cost[_excluded(problem, agents, locked)] = EXCLUDED
    tickets = problem.tickets
    windows = tuple(_windows(problem, agent, number) for number in range(count))
    per_time, close = factor * agent.time_cost, agent.latest_end
    has_times = any(windows) or any(ticket.lateness_cost for ticket in tickets)
    has_times |= any(ticket.release for ticket in tickets) or agent.max_duration is not None
    longest = int(time.max(axis=1)[:-1].sum() + time[-1].max())
    is_timed = has_times or agent.shift[0] + longest > agent.shift[1]
    if not is_timed:
        cost = np.where(cost >= EXCLUDED, EXCLUDED, cost + per_time * time)
        time, per_time = np.zeros_like(time), 0
    dimensions = min(MAX_DIMENSIONS, len(agent.capacity))
    loads = {kind: _loads(problem, kind, dimensions) for kind in LoadKind}
    trips = min(count, 1 + (agent.max_reloads if agent.reload_depots else 0))  # no others have a ticket
    capacity = np.array([trips * room for room in agent.capacity[:dimensions]], dtype=np.int64)
    stops = count if agent.max_stops is None else min(agent.max_stops, count)
    counts_stops = agent.max_stops is not None or _admits_many(loads, capacity, time, close - agent.shift[0])
    fields = (
        *(agent.shift[0], close, agent.shift[1], factor * agent.overtime_cost, per_time, factor * agent.fixed_cost),
        *(-1 if limit is None else limit for limit in (agent.max_distance, agent.max_duration)),
        *(stops if counts_stops else _NO_STOP_LIMIT, counts_stops, is_timed),
    )
    time = np.ascontiguousarray(time)
    return RelaxedNetwork(
        agents=tuple(agents),
        is_used=bool(agent.locked),
        field=np.array(fields, dtype=np.int64),
        cost=np.ascontiguousarray(cost),
        time=time,
        distance=np.ascontiguousarray(distance),
        shortest=_shortest(time) if problem.partner_of else time,
        windows=windows,
        soft=np.array(
            [(-1 if t.soft_close is None else t.soft_close, factor * t.lateness_cost) for t in tickets], dtype=np.int64
        ),
        release=np.array([0 if agent.reload_depots else ticket.release for ticket in tickets], dtype=np.int64),
        delivery=loads[LoadKind.DELIVERY],
        pickup=loads[LoadKind.PICKUP],
        capacity=capacity,
        half=_halves(problem),
        shipped=np.array(
            [t.demand[:dimensions] if n in problem.partner_of else (0,) * dimensions for n, t in enumerate(tickets)],
            dtype=np.int64,
        ).reshape(count, dimensions),
        switch_cost=np.array([factor * ticket.switch_price(agents[0]) for ticket in tickets], dtype=np.int64),
    )


def _loads(problem: Problem, kind: LoadKind, dimensions: int) -> Cells:
    """Return the amounts of one kind, (n, dimensions); halves of shipments have none."""
    amounts = [problem.amounts(ticket, kind)[:dimensions] for ticket in range(len(problem.tickets))]
    return np.array(amounts, dtype=np.int64).reshape(len(amounts), dimensions)


def _halves(problem: Problem) -> Cells:
    """Return the shipment of each ticket or -1, and whether it is the second half, (n, 2)."""
    halves = _no_halves(problem)
    seconds = [number for number, ticket in enumerate(problem.tickets) if ticket.pickup is not None]
    for shipment, second in enumerate(seconds):
        halves[problem.partner_of[second]] = (shipment, 0)
        halves[second] = (shipment, 1)
    return halves


def _shortest(time: Cells) -> Cells:
    """Return the least time between two stops, over any others."""
    least = time.copy()
    for ticket in range(len(time) - 1):
        np.minimum(least, least[:, ticket, None] + least[ticket], out=least)
    return least


def _no_halves(problem: Problem) -> Cells:
    return np.full((len(problem.tickets), 2), (-1, 0), dtype=np.int64)


def _legs(problem: Problem, agent: AgentSpec) -> tuple[Cells, Cells]:
    """Return distance and time of each leg, (n + 1, n + 1), the time from the start of one service to the next."""
    tickets, count = problem.tickets, len(problem.tickets)
    places = np.array([ticket.location for ticket in tickets])
    setup = np.array([ticket.setup for ticket in tickets])
    service = np.array([ticket.service for ticket in tickets])
    tables = []
    for table in (problem.distances[agent.profile], fastest_durations(problem)[agent.profile]):
        ways = shortest_paths_over(np.asarray(table, dtype=np.int64), agent.reload_depots)
        legs = np.zeros((count + 1, count + 1), dtype=np.int64)
        legs[:count, :count] = ways[np.ix_(places, places)]
        legs[count, :count] = 0 if agent.start is None else ways[agent.start, places]
        legs[:count, count] = 0 if agent.end is None else ways[places, agent.end]
        tables.append(legs)
    distance, time = tables
    time[:count] += service[:, None]
    needs_setup = np.ones((count + 1, count), dtype=bool)
    needs_setup[:count] = places[:, None] != places[None]
    needs_setup[:, np.isin(places, agent.reload_depots)] = False
    time[:, :count] += needs_setup * setup
    return distance, time


def _excluded(problem: Problem, agents: Sequence[int], locked: dict[int, int]) -> NDArray[np.bool_]:
    """Return which arcs no plan drives, (n + 1, n + 1)."""
    tickets, count = problem.tickets, len(problem.tickets)
    excluded = np.zeros((count + 1, count + 1), dtype=bool)
    excluded[np.diag_indices(count + 1)] = True
    for number, ticket in enumerate(tickets):
        if not ticket.admits(agents[0]) or locked.get(number, agents[0]) != agents[0]:
            excluded[number] = excluded[:, number] = True
    for low, high in problem.incompatible:
        excluded[low, high] = excluded[high, low] = True
    for number, ticket in enumerate(tickets):
        if ticket.pickup is not None:
            excluded[count, number] = excluded[ticket.pickup, count] = excluded[number, ticket.pickup] = True
    if problem.backhaul and not problem.partner_of and not problem.agents[agents[0]].reload_depots:
        picks = np.array([ticket.load is LoadKind.PICKUP for ticket in tickets])
        excluded[:count, :count] |= picks[:, None] & ~picks[None]
    return excluded


def _windows(problem: Problem, agent: AgentSpec, number: int) -> tuple[tuple[int, int], ...]:
    """Return the windows of a ticket; with reloads none before its release, which the trip awaits."""
    ticket = problem.tickets[number]
    if not (agent.reload_depots and ticket.release):
        return ticket.windows
    if not ticket.windows:
        return ((ticket.release, agent.latest_end),)
    return tuple((max(opens, ticket.release), closes) for opens, closes in ticket.windows if closes >= ticket.release)


def _admits_many(loads: dict[LoadKind, Cells], capacity: Cells, time: Cells, span: int) -> bool:
    """Return whether neither loads nor times limit the stops of a route to a small multiple of the tickets."""
    count = len(time) - 1
    least = np.zeros(count)
    for amounts in loads.values():
        least = np.maximum(least, (amounts / np.maximum(capacity, 1)).max(axis=1, initial=0.0))
    off_diagonal = time + np.diag([np.iinfo(np.int64).max // 2] * (count + 1))
    least = np.maximum(least, off_diagonal[:, :count].min(axis=0) / max(span, 1))
    return bool((least * _MOST_STOPS * count < 1).any())
