"""A small set of tickets that cannot all be served, proved (SPEC T5).

Owns proofs of impossibility that need no search: too little capacity, too few stops, too few hours, or too many tickets
no two of which fit on one route; and of a few tickets that they can be shared out in no way. Each looks at the tickets
that only some agents may serve, and keeps the fewest that still prove it; what is found is looked at again by itself,
until no ticket can be spared. Finding none proves nothing: a day may be impossible for reasons that only a search could
show.

Tickets with a price of their own, in ONE_OF groups, or in shipments are left aside: they need not be served, or their
goods do not add up.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import isqrt
from typing import Final

from planner_mcp import arrays as np
from planner_mcp.arrays import Integers
from planner_mcp.routing.feasibility.assignment_enumeration import (
    MAX_SHARED_TICKETS,
    MAX_STEPS,
    smallest_unassignable_subset,
)
from planner_mcp.routing.feasibility.cheapest_legs import UNREACHABLE
from planner_mcp.routing.feasibility.fleet_size_bounds import least_arrival_legs, mandatory_tickets, max_route_time
from planner_mcp.routing.feasibility.route_bounds import MAX_PATH_STEPS, AgentRouteBound, RouteBounds, least_setups
from planner_mcp.routing.infeasibility_reasons import InfeasibilityReason
from planner_mcp.routing.problem import AgentSpec, LoadKind, Problem, TicketSpec
from planner_mcp.text import figure

Exclusions = dict[int, set[int]]
"""For each ticket those that cannot share a route with it; tickets that can share one with all are left out."""
MAX_PAIRED_TICKETS: Final = 80
"""Tickets, those with the shortest windows, whose pairs are tried; and tickets that sets are grown from."""
MAX_PAIRS: Final = 500_000
"""Pairs of tickets tried with an agent of each kind; where agents differ, fewer tickets are tried."""
MAX_SETS: Final = 50
"""Different sets of eligible agents that are looked at."""
SHRINK_ALWAYS_UP_TO: Final = 12
"""Tickets of a conflict up to which each is left out in turn, however large the day."""
SHRINK_S: Final = 1.0
"""Time for a longer one, of which a look takes hundredths of a second."""


@dataclass(frozen=True, slots=True)
class DayContext:
    """What is known of the whole day, however few of its tickets are looked at."""

    setups: Sequence[int]
    """By place, what whoever comes there spends at least."""
    route_bounds: RouteBounds | None
    """None where there are too many places."""
    pairs: dict[frozenset[AgentRouteBound], dict[tuple[str, str], bool]] = field(default_factory=dict)
    """Whether any of some agents may have two tickets on one route, where that has been asked."""


@dataclass(frozen=True, slots=True)
class InfeasibleSubset:
    """Tickets that cannot all be served."""

    kind: InfeasibilityReason
    """`CAPACITY`, `MAX_TICKETS`, `WORKING_TIME`, `INCOMPATIBLE`, or of several limits together `COMBINED`."""
    tickets: tuple[str, ...]
    agents: tuple[str, ...]
    """All who may serve any of them."""
    words: str


def smallest_infeasible_subset(
    problem: Problem, clock: Callable[[], float] = time.monotonic
) -> InfeasibleSubset | None:
    """Return the conflict of the fewest tickets that is found, or None; no ticket of a short one can be spared."""
    is_small = len(problem.durations) * len(problem.locations) ** 3 <= MAX_PATH_STEPS
    context = DayContext(least_setups(problem), RouteBounds(problem) if is_small else None)
    found, ends = _smallest(problem, context), clock() + SHRINK_S
    while found is not None:
        spared = (
            name for name in reversed(found.tickets) if len(found.tickets) <= SHRINK_ALWAYS_UP_TO or clock() < ends
        )
        parts = (_smallest(_only(problem, set(found.tickets) - {name}), context) for name in spared)
        smaller = next((part for part in parts if part is not None), None)
        if smaller is None:
            break
        found = smaller
    return found


def _smallest(problem: Problem, context: DayContext) -> InfeasibleSubset | None:
    return min(_subsets(problem, context), key=lambda subset: len(subset.tickets), default=None)


def _only(problem: Problem, names: set[str]) -> Problem:
    """Return the day as if there were no other tickets, as far as these proofs look at it."""
    kept = [index for index, ticket in enumerate(problem.tickets) if ticket.id in names]
    place = {index: number for number, index in enumerate(kept)}
    pairs = (pair for pair in problem.incompatible if place.keys() >= set(pair))
    return replace(
        problem,
        tickets=tuple(problem.tickets[index] for index in kept),
        incompatible=frozenset((place[low], place[high]) for low, high in pairs),
        groups=(),
    )


def _subsets(problem: Problem, context: DayContext) -> Iterator[InfeasibleSubset]:
    wanted = [index for index in mandatory_tickets(problem) if index not in problem.partner_of]
    if not wanted:
        return
    into, excluded = least_arrival_legs(problem), _excluded(problem)
    may_serve = {index: _eligible(problem, index) for index in wanted}
    sets = list(dict.fromkeys(may_serve.values()))[:MAX_SETS]
    for eligible in sets:
        tickets = [index for index in wanted if may_serve[index] <= eligible]
        part = _DayPart(problem, tickets, [problem.agents[agent] for agent in sorted(eligible)])
        yield from part.capacity()
        yield from part.stops()
        yield from part.hours(into + part.certain_setups(context.setups))
        here = set(tickets)
        apart = {index: excluded[index] & here for index in tickets if index in excluded}
        if context.route_bounds is not None:
            kinds = list(dict.fromkeys(map(context.route_bounds.of, part.agents)))
            known = context.pairs.setdefault(frozenset(kinds), {})
            part.add_time_conflicts(apart, kinds, known, MAX_PAIRS // len(sets))
        yield from part.exclusive(apart)
    if context.route_bounds is not None:
        yield from _combined(problem, wanted, may_serve, sets, context.route_bounds)


def _excluded(problem: Problem) -> Exclusions:
    """Return the tickets the caller keeps apart."""
    excluded: Exclusions = {}
    for low, high in problem.incompatible:
        excluded.setdefault(low, set()).add(high)
        excluded.setdefault(high, set()).add(low)
    return excluded


def _eligible(problem: Problem, index: int) -> frozenset[int]:
    agents = problem.tickets[index].agents
    return frozenset(range(len(problem.agents))) if agents is None else agents


@dataclass(frozen=True, slots=True)
class _DayPart:
    """Tickets that only some agents may serve."""

    problem: Problem
    tickets: Sequence[int]
    agents: Sequence[AgentSpec]
    """All who may serve any of them."""

    def subset(self, kind: InfeasibilityReason, tickets: Iterable[int], words: str) -> InfeasibleSubset:
        """Return some of the tickets as a conflict."""
        names = tuple(self.problem.tickets[index].id for index in tickets)
        return InfeasibleSubset(kind, names, tuple(agent.id for agent in self.agents), words)

    def capacity(self) -> Iterator[InfeasibleSubset]:
        """Compare what all deliveries, or all pickups, weigh with what all trips carry."""
        problem = self.problem
        for dimension, name in enumerate(problem.dimensions):
            room = sum(agent.capacity[dimension] * (1 + agent.max_reloads) for agent in self.agents)
            for load in LoadKind:
                amounts = {index: problem.amounts(index, load)[dimension] for index in self.tickets}
                if some := _fewest(self.tickets, room, amounts.__getitem__):
                    need = figure(sum(amounts[index] for index in some) / problem.amount_scale)
                    words = f"they need {need} of {name}, the agents carry {figure(room / problem.amount_scale)}"
                    yield self.subset(InfeasibilityReason.CAPACITY, some, words)

    def stops(self) -> Iterator[InfeasibleSubset]:
        """Compare how many they are with how many the agents may serve."""
        limits = [agent.max_stops for agent in self.agents if agent.max_stops is not None]
        if len(limits) == len(self.agents) and len(self.tickets) > (most := sum(limits)):
            words = f"they are {most + 1}, the agents may serve {most}"
            yield self.subset(InfeasibilityReason.MAX_TICKETS, self.tickets[: most + 1], words)

    def hours(self, into: Integers) -> Iterator[InfeasibleSubset]:
        """Compare the time that coming to and serving takes at least with what shifts and max_duration leave.

        Args:
            into: (L,), what coming to each place takes at least.
        """
        tickets, room = self.problem.tickets, sum(max_route_time(agent) for agent in self.agents)
        work = {index: tickets[index].service + int(into[tickets[index].location]) for index in self.tickets}
        if some := _fewest(self.tickets, room, work.__getitem__):
            needed, there = (each / self.problem.scale / 3600 for each in (sum(work[index] for index in some), room))
            words = f"they take {needed:.2f} h at least, the agents have {there:.2f} h"
            yield self.subset(InfeasibilityReason.WORKING_TIME, some, words)

    def certain_setups(self, setups: Sequence[int]) -> Integers:
        """Return, by place, the setup of its only ticket; of several one may spend it for all."""
        counts = Counter(ticket.location for ticket in self.problem.tickets)
        spared = {place for agent in self.agents for place in agent.reload_depots}
        certain = (setup if counts[place] == 1 and place not in spared else 0 for place, setup in enumerate(setups))
        return np.fromiter(certain, dtype=np.int64, count=len(setups))

    def add_time_conflicts(
        self, apart: Exclusions, kinds: Sequence[AgentRouteBound], known: dict[tuple[str, str], bool], most: int
    ) -> None:
        """Keep apart, too, the tickets that no agent could serve both, in either order."""
        tickets = self.problem.tickets
        likely = sorted(self.tickets, key=lambda index: _slack_order(tickets[index], kinds))
        for one, other in combinations(likely[: min(MAX_PAIRED_TICKETS, isqrt(most // max(1, len(kinds))))], 2):
            first, second = tickets[one], tickets[other]
            if (names := (first.id, second.id)) not in known:
                known[names] = any(kind.may_have_both(first, second) for kind in kinds)
            if not known[names]:
                apart.setdefault(one, set()).add(other)
                apart.setdefault(other, set()).add(one)

    def exclusive(self, apart: Exclusions) -> Iterator[InfeasibleSubset]:
        """Look for more tickets than agents, no two on one route: grown greedily from those with the most."""
        count = len(self.agents)
        likely = sorted((i for i in apart if len(apart[i]) >= count), key=lambda i: -len(apart[i]))
        for index in likely[:MAX_PAIRED_TICKETS]:
            clique = [index]
            for other in sorted(apart[index], key=lambda each: -len(apart[each] & apart[index])):
                if apart[other].issuperset(clique):
                    clique.append(other)
                if len(clique) > count:
                    words = f"no two of them fit on one route, the agents that may serve them are {count}"
                    yield self.subset(InfeasibilityReason.INCOMPATIBLE, clique, words)
                    return


def _fewest(tickets: Sequence[int], room: int, need: Callable[[int], int]) -> list[int]:
    """Return the fewest tickets whose needs together pass the room, the neediest first; none where all fit."""
    some: list[int] = []
    for index in sorted(tickets, key=need, reverse=True):
        some.append(index)
        room -= need(index)
        if room < 0:
            return some
    return []


def _slack_order(ticket: TicketSpec, kinds: Sequence[AgentRouteBound]) -> tuple[int, int]:
    """Return how easily a ticket shares a route: those of short windows least, of others those that take longest."""
    slack = sum(closes - opens for opens, closes in ticket.windows) if ticket.windows else UNREACHABLE
    return slack, -kinds[0].alone(ticket) if kinds else 0


def _combined(
    problem: Problem,
    wanted: Sequence[int],
    may_serve: Mapping[int, frozenset[int]],
    sets: Sequence[frozenset[int]],
    route_bounds: RouteBounds,
) -> Iterator[InfeasibleSubset]:
    """Share a few tickets out in every way: all of the day, else those that only some agents may serve."""
    own = ([index for index in wanted if may_serve[index] <= eligible] for eligible in sets)
    parts = [wanted] if len(wanted) <= MAX_SHARED_TICKETS else [part for part in own if len(part) <= MAX_SHARED_TICKETS]
    for part in parts:
        agents = sorted(frozenset[int]().union(*(may_serve[index] for index in part)))
        for routes, words in ((None, _too_much), (route_bounds, _in_no_way)):
            some = smallest_unassignable_subset(problem, part, agents, routes, MAX_STEPS // len(parts))
            if some:
                left = frozenset[int]().union(*(may_serve[index] for index in some))
                conflict = _DayPart(problem, some, [problem.agents[agent] for agent in sorted(left)])
                yield conflict.subset(InfeasibilityReason.COMBINED, some, words(len(some), len(left)))


def _too_much(tickets: int, agents: int) -> str:
    if agents == 1 or tickets == 1:
        return "together they are more than an agent may carry or serve on one route"
    return f"however they are shared among the {agents} agents, one has more than it may carry or serve"


def _in_no_way(tickets: int, agents: int) -> str:
    if tickets == 1:
        return "no agent could serve it within its windows and all limits, with nothing else to do"
    if agents == 1:
        return "in no order do they fit on one route within their windows and all limits"
    return f"shared among the {agents} agents in no way do they fit within their windows and all limits"
