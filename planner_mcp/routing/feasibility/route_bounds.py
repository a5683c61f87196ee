"""Which tickets one agent could serve on one route, with nothing else to do (SPEC T5).

Owns the least that a route of some tickets takes: shortest ways, by time and by length, whatever lies on them; setups
that no other stop spares; windows, releases, the shift, the limits of time and length. Breaks are left aside. So a "no"
is proved of every route that serves them, whatever else is on it; a "yes" proves nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from planner_mcp.arrays import Integers
from planner_mcp.routing.evaluation.time_dependent_travel import fastest_durations
from planner_mcp.routing.feasibility.cheapest_legs import UNREACHABLE, shortest_paths_over
from planner_mcp.routing.problem import AgentSpec, Problem, TicketSpec

Table = list[list[int]]
"""Row from, column to: of small integers that are read one by one."""
MAX_PATH_STEPS: Final = 4 * 400**3
"""Steps up to which shortest ways are worked out: places³, for each table."""


class PathLabel(NamedTuple):
    """How far a route has come at least, when a ticket is done."""

    now: int
    """The earliest moment."""
    work: int
    """Time since the departure, without waiting."""
    latest: int
    """No later departure meets all windows so far."""
    length: int


class RouteBounds:
    """The routes of one day.

    Args:
        problem: The day, with every ticket that may lie on a route.
    """

    def __init__(self, problem: Problem) -> None:
        steps = len(problem.durations) * len(problem.locations) ** 3
        is_limited = any(agent.max_distance is not None for agent in problem.agents)
        self._hours = _shortest(fastest_durations(problem))
        self._lengths = _shortest(problem.distances) if is_limited and 2 * steps <= MAX_PATH_STEPS else []
        self._setups = least_setups(problem)
        self._known: dict[tuple[object, ...], AgentRouteBound] = {}

    def of(self, agent: AgentSpec) -> "AgentRouteBound":
        """Return the routes of an agent; one for all who are alike."""
        limits = agent.max_duration, agent.max_distance
        alike = agent.start, agent.end, agent.shift, agent.overtime, agent.profile, agent.reload_depots, limits
        if alike not in self._known:
            lengths = self._lengths[agent.profile] if self._lengths and agent.max_distance is not None else None
            self._known[alike] = AgentRouteBound(agent, self._hours[agent.profile], lengths, self._setups)
        return self._known[alike]


class AgentRouteBound:
    """The routes of one agent.

    Args:
        agent: Whose.
        hours: (L, L) shortest times.
        lengths: (L, L) shortest ways; None where they do not matter.
        setups: By place, as `least_setups` of the whole day.
    """

    def __init__(self, agent: AgentSpec, hours: Table, lengths: Table | None, setups: Sequence[int]) -> None:
        depots, nothing = agent.reload_depots, [0] * len(hours)
        self._agent, self._hours, self._lengths = agent, hours, lengths
        self._out = nothing if agent.start is None else hours[agent.start]
        self._home = nothing if agent.end is None else [row[agent.end] for row in hours]
        self._length_out = nothing if lengths is None or agent.start is None else lengths[agent.start]
        self._length_home = nothing if lengths is None or agent.end is None else [row[agent.end] for row in lengths]
        self._fetched = list(map(min, self._out, *(hours[depot] for depot in depots))) if depots else self._out
        # whoever loads again where a ticket lies has no setup there
        self._setups = [0 if place in depots else setup for place, setup in enumerate(setups)]

    def alone(self, ticket: TicketSpec) -> int:
        """Return the time that a route of one ticket takes."""
        return self._out[ticket.location] + ticket.service + self._home[ticket.location]

    def may_have_both(self, one: TicketSpec, other: TicketSpec) -> bool:
        """Return whether two tickets might be on one route, in either order."""
        base = max(self._base(one), self._base(other))
        return self._may_have(one, other, base) or self._may_have(other, one, base)

    def _may_have(self, first: TicketSpec, second: TicketSpec, base: int) -> bool:
        begun = self._first(first, base)
        over = None if begun is None else self._then(begun, first, second, base)
        return over is not None and self._is_home(over, second)

    def sets(self, tickets: Sequence[TicketSpec], may: Callable[[int], bool]) -> set[int]:
        """Return the sets, each as bits, of tickets that might be on one route; the empty one is among them.

        Args:
            tickets: A few: of n there are n · 2ⁿ beginnings of routes.
            may: Whether a set could be on one route by other limits; asked of parts before the whole.
        """
        found = {0}
        for base in sorted({self._base(ticket) for ticket in tickets}):  # a route leaves at the last of its releases
            ready = [number for number, ticket in enumerate(tickets) if self._base(ticket) <= base]
            found |= self._sets_from(base, tickets, ready, may)
        return found

    def _sets_from(
        self, base: int, tickets: Sequence[TicketSpec], ready: Iterable[int], may: Callable[[int], bool]
    ) -> set[int]:
        found: set[int] = set()
        begun = {(1 << at, at): self._first(tickets[at], base) for at in ready if may(1 << at)}
        ends = {end: [label] for end, label in begun.items() if label is not None}
        while ends:
            found |= {done for (done, at), labels in ends.items() if any(self._is_home(m, tickets[at]) for m in labels)}
            longer: dict[tuple[int, int], list[PathLabel]] = {}
            for (done, last), labels in ends.items():
                for at in ready:
                    if (both := done | 1 << at) == done or not may(both):
                        continue
                    following = (self._then(label, tickets[last], tickets[at], base) for label in labels)
                    for label in following:
                        if label is not None:
                            _add_undominated(longer.setdefault((both, at), []), label)
            ends = longer
        return found

    def _base(self, ticket: TicketSpec) -> int:
        """Return when a route with a ticket may leave; with reloads a later trip may carry it."""
        opens = self._agent.shift[0]
        return opens if self._agent.reload_depots else max(opens, ticket.release)

    def _first(self, ticket: TicketSpec, base: int) -> PathLabel | None:
        place = ticket.location
        work = self._out[place] + self._setups[place]
        return self._begun(ticket, self._ready(ticket, base), PathLabel(0, work, UNREACHABLE, self._length_out[place]))

    def _then(self, label: PathLabel, before: TicketSpec, ticket: TicketSpec, base: int) -> PathLabel | None:
        here, place = before.location, ticket.location
        work = self._hours[here][place] + (self._setups[place] if here != place else 0)
        length = label.length if self._lengths is None else label.length + self._lengths[here][place]
        ready = max(label.now + work, self._ready(ticket, base))
        return self._begun(ticket, ready, PathLabel(0, label.work + work, label.latest, length))

    def _ready(self, ticket: TicketSpec, base: int) -> int:
        """Return when service can start by the way from where the ticket is loaded alone."""
        place = ticket.location
        return max(base + self._out[place], ticket.release + self._fetched[place]) + self._setups[place]

    def _begun(self, ticket: TicketSpec, ready: int, label: PathLabel) -> PathLabel | None:
        """Return what is so when the ticket is done, None where every window has closed."""
        if (start := ticket.start_from(ready)) is None:
            return None
        latest = min([label.latest, *(closes - label.work for _, closes in ticket.windows[-1:])])
        if self._agent.max_duration is None:  # then fewer marks are worth keeping
            return PathLabel(start + ticket.service, 0, 0, label.length)
        return PathLabel(start + ticket.service, label.work + ticket.service, latest, label.length)

    def _is_home(self, label: PathLabel, last: TicketSpec) -> bool:
        """Return whether a route might end after a ticket within all limits."""
        agent, home = self._agent, self._home[last.location]
        end = label.now + home
        if end > agent.latest_end:
            return False
        if agent.max_duration is not None and max(label.work + home, end - label.latest) > agent.max_duration:
            return False
        length = label.length + self._length_home[last.location]
        return self._lengths is None or agent.max_distance is None or length <= agent.max_distance


def least_setups(problem: Problem) -> list[int]:
    """Return, by place, the setup that whoever comes there from elsewhere spends at least: that of its first ticket."""
    setups: dict[int, int] = {}
    for ticket in problem.tickets:
        setups[ticket.location] = min(ticket.setup, setups.get(ticket.location, ticket.setup))
    return [setups.get(place, 0) for place in range(len(problem.locations))]


def _shortest(tables: Iterable[Integers]) -> list[Table]:
    return [shortest_paths_over(table, range(len(table))).tolist() for table in tables]


def _add_undominated(labels: list[PathLabel], new: PathLabel) -> None:
    """Add a mark unless another is as good in all, and drop those it beats."""
    if not any(_dominates(label, new) for label in labels):
        labels[:] = [label for label in labels if not _dominates(new, label)]
        labels.append(new)


def _dominates(one: PathLabel, other: PathLabel) -> bool:
    return one.now <= other.now and one.work <= other.work and one.latest >= other.latest and one.length <= other.length
