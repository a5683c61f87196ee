"""What the routes of one agent are on a small day, in integers: the tables that the listing of its routes reads.

Part of the independent check of small days: it shares no code with evaluation, bounds or engines. The tables keep all
rules that `problem.py` states for one route, except that travel takes the time of the best hour of the day, that breaks
beyond `MOST_BREAKS` take no time, and that dimensions beyond `MOST_DIMENSIONS` have no limit. Each only makes routes
cheaper or admits more of them. Rows and columns are those of `workers/engines/native/small_day_listing.hpp`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from planner_mcp import arrays as np
from planner_mcp.arrays import Integers
from planner_mcp.routing.problem import GroupKind, LoadKind, Problem
from planner_mcp.routing.verification.proof_rows import legs_of

MOST_BREAKS: Final = 3
MOST_DIMENSIONS: Final = 4
NO_LIMIT: Final = (2**63 - 1) // 4
_MAX_DURATION: Final = 12
"""Column of the row of the agent."""
LARGEST: Final = 2**58
"""Costs beyond it could leave the range of the arithmetic."""


@dataclass(frozen=True, slots=True)
class SmallDayTables:
    """The tables of one agent. Costs are multiplied by a factor."""

    agent: Integers
    tickets: Integers
    legs: Integers
    """(rows, rows, 4): cost, distance, travel and setup. Rows and columns are tickets, then places of reload, then the
    start or the end."""
    service: Integers
    """By row."""
    windows: Integers
    breaks: Integers
    locked: Integers
    may_end: Integers
    """By set of tickets, as bits: whether a route may serve these and no other."""
    rest: Integers
    """(rows, sets): what a route costs at least from a stop on, less the prices of what it serves of a set."""

    def within(self, duration: int) -> "SmallDayTables":
        """Return the tables of the routes that take at most a duration."""
        agent = self.agent.copy()
        agent[_MAX_DURATION] = min(int(agent[_MAX_DURATION]), duration)
        return replace(self, agent=agent)


def small_day_tables(problem: Problem, agent: int, factor: int, prices: Sequence[int]) -> SmallDayTables | None:
    """Return the tables of an agent; None where costs are too large."""
    tables = _Tables(problem, agent, factor, prices)
    return tables.all() if tables.is_in_range() else None


class _Tables:
    """The tables of one agent while they are built."""

    def __init__(self, problem: Problem, agent: int, factor: int, prices: Sequence[int]) -> None:
        self.problem = problem
        self.number = agent
        self.spec = problem.agents[agent]
        self.factor = factor
        self.prices = prices
        self.per_time = factor * self.spec.time_cost
        self.distance, self.travel, self.setup = legs_of(problem, agent, self.spec.reload_depots)
        places = [0] * (len(self.spec.reload_depots) + 1)
        self.service = np.array([*(ticket.service for ticket in problem.tickets), *places], dtype=np.int64)

    def is_in_range(self) -> bool:
        """Return whether no sum can leave the range of the arithmetic."""
        spec, problem, factor = self.spec, self.problem, self.factor
        far, ends = int(self.distance.max()), spec.shift[1] + spec.overtime
        stops = (len(problem.tickets) + spec.max_reloads + 1) * (len(spec.reload_depots) + 2)
        long = int(self.travel.max()) + int(self.setup.max()) + int(self.service.max())
        cost = stops * (spec.distance_cost * far + spec.time_cost * (long + ends)) + spec.fixed_cost
        cost += spec.overtime_cost * ends
        cost += sum(ticket.switch_cost + ticket.lateness_cost * ends for ticket in problem.tickets)
        return factor * cost + sum(map(abs, self.prices)) <= LARGEST and spec.shift[0] >= 0

    def all(self) -> SmallDayTables:
        """Return the tables."""
        spec = self.spec
        windows = [window for ticket in self.problem.tickets for window in ticket.windows]
        breaks = [(*each.window, each.duration) for each in spec.breaks[:MOST_BREAKS]]
        cost = self.factor * spec.distance_cost * self.distance
        return SmallDayTables(
            self._agent(),
            self._tickets(),
            np.ascontiguousarray(np.stack([cost, self.distance, self.travel, self.setup], axis=2)),
            self.service,
            np.array(windows or [(0, 0)], dtype=np.int64),
            np.array(breaks or [(0, 0, 0)], dtype=np.int64),
            np.array(spec.locked or [0], dtype=np.int64),
            self._may_end(),
            self._rest(),
        )

    def _agent(self) -> Integers:
        spec, factor, problem = self.spec, self.factor, self.problem
        dimensions = min(MOST_DIMENSIONS, len(spec.capacity))
        counts = (len(problem.tickets), len(spec.reload_depots), len(spec.breaks[:MOST_BREAKS]), len(spec.locked))
        times = (spec.shift[0], spec.shift[1] + spec.overtime, spec.shift[1])
        costs = (factor * spec.fixed_cost, self.per_time, factor * spec.overtime_cost)
        bounds = (spec.max_distance, spec.max_duration, spec.max_stops)
        limits = (
            *(NO_LIMIT if each is None else each for each in bounds),
            spec.max_reloads if spec.reload_depots else 0,
        )
        room = (*spec.capacity[:dimensions], *[0] * (MOST_DIMENSIONS - dimensions))
        row = (*counts, dimensions, *times, *costs, *limits, problem.backhaul, *room)
        return np.array(row, dtype=np.int64)

    def _tickets(self) -> Integers:
        rows, first = [], 0
        for number, ticket in enumerate(self.problem.tickets):
            switch = self.factor * ticket.switch_cost if ticket.preferred not in (None, self.number) else 0
            late = 0 if ticket.soft_close is None else self.factor * ticket.lateness_cost
            values = (
                self._may_serve(number),
                switch,
                self.prices[number],
                ticket.release,
                ticket.soft_close or 0,
                late,
            )
            before = -1 if ticket.pickup is None else ticket.pickup
            demand = (*ticket.demand[:MOST_DIMENSIONS], *[0] * (MOST_DIMENSIONS - len(ticket.demand)))
            windows = (first, first + len(ticket.windows))
            rows.append((*values, *windows, self._load(number), before, self._excluded_by(number), *demand))
            first += len(ticket.windows)
        return np.array(rows, dtype=np.int64)

    def _may_serve(self, ticket: int) -> bool:
        allowed = self.problem.tickets[ticket].agents
        holders = [number for number, spec in enumerate(self.problem.agents) if ticket in spec.locked]
        return (allowed is None or self.number in allowed) and all(number == self.number for number in holders)

    def _load(self, ticket: int) -> int:
        """Return 0 for a delivery, 1 for a pickup, 2 and 3 for the halves of a shipment."""
        if ticket in self.problem.partner_of:
            return 2 if self.problem.tickets[ticket].pickup is None else 3
        return 1 if self.problem.tickets[ticket].load is LoadKind.PICKUP else 0

    def _excluded_by(self, ticket: int) -> int:
        """Return the bits of the tickets that no plan has on one route with it."""
        pairs = set(self.problem.incompatible)
        for group in self.problem.groups:
            if group.kind is GroupKind.ONE_OF:
                pairs.update(combinations(sorted(set(group.tickets)), 2))
        return sum(1 << (low + high - ticket) for low, high in pairs if ticket in (low, high))

    def _may_end(self) -> Integers:
        """Return by set whether it is closed under shipments, has what is locked, and is load enough."""
        problem, spec, sets = self.problem, self.spec, np.arange(1 << len(self.problem.tickets))
        found = sets > 0
        for ticket in spec.locked:
            found &= sets >> ticket & 1 == 1
        for ticket, partner in problem.partner_of.items():
            found &= sets >> ticket & 1 == sets >> partner & 1
        for dimension, least in enumerate(spec.min_load):
            # a shipment counts once
            counted = [0 if ticket.pickup is not None else ticket.demand[dimension] for ticket in problem.tickets]
            found &= sum(((sets >> number & 1) * each for number, each in enumerate(counted)), 0 * sets) >= least
        return found.astype(np.int64)

    def _rest(self) -> Integers:
        """Return what a route costs at least from a stop on: loads, windows and all limits are left out.

        It may pass places of reload on any leg, and leave out some of the set.
        """
        count, edge, spec = len(self.problem.tickets), len(self.distance) - 1, self.spec
        setup = self.setup.copy()
        setup[:, [n for n, t in enumerate(self.problem.tickets) if t.location in spec.reload_depots]] = 0
        ways = self.factor * spec.distance_cost * self.distance + self.per_time * self.travel
        for middle in range(count, edge):
            ways = np.minimum(ways, ways[:, middle, None] + ways[None, middle, :])
        ways += self.per_time * (setup + self.service[:, None])
        sets = np.arange(1 << count)
        sizes = sum((sets >> ticket & 1 for ticket in range(count)), 0 * sets)
        rest = np.repeat(ways[:, edge, None], len(sets), axis=1)
        for size in range(1, count + 1):
            for ticket in range(count):
                among = sets[(sizes == size) & (sets >> ticket & 1 == 1)]
                after = rest[ticket, among ^ (1 << ticket)] - self.prices[ticket]
                rest[:, among] = np.minimum(rest[:, among], ways[:, ticket, None] + after)
        return np.ascontiguousarray(rest)
