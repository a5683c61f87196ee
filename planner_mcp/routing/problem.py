"""A scenario compiled to integers: the input of every engine and of the verifier.

Owns the meaning of each number. `compilation/scenario_compiler.py` builds a problem from a `Scenario`. Engines find
routes for it. `evaluation/plan_builder.py` computes times, loads and costs of the routes. `verification/` checks the
result independently.

Units. Distances are integers of `1 / scale` metre (or plane unit), times are integers of `1 / scale` second. Times
count from midnight of the planning date and may exceed 24 h. Costs are integers of `1 / cost_scale` of the caller's
currency (without prices the cost is the distance). Amounts are integers of `1 / amount_scale`.

The model.
A **route** is the work of one agent: an ordered list of stops (tickets, reloads, breaks). It leaves `start` (if any) at
`shift[0]` or later, may wait anywhere, starts the service of each ticket inside one of the ticket's time windows, and
reaches `end` (if any) by `shift[1]` (plus `overtime`). Without `start` it begins at its first stop. Without `end` it
ends after its last stop. An agent with no stops is unused and costs nothing.
*Setup time* is spent before service where the location differs from that of the previous stop, and at the first stop.
*Load*, per dimension: a `DELIVERY` is on board from the start (or the last reload) until its stop. A `PICKUP` is on
board from its stop until the end (or the next reload). A shipment (`delivery.pickup` names its pickup ticket) is on
board from its pickup until its delivery. At every moment 0 <= load <= capacity.
*Cost* = Σ used agents (fixed + distance_cost · distance + time_cost · duration + overtime_cost · overtime)
+ Σ lateness_cost · (service start − soft_close)⁺ + Σ switch_cost of tickets not served by their `preferred` agent
+ Σ penalties of unassigned tickets + Σ penalties of ONE_OF groups without a served ticket
+ span_cost · longest duration.
The duration of a route lasts from the departure at its start to the arrival at its end, waiting included.
A *trip* is the part of a route up to the end or the next reload. It leaves (the start, the reload, or without a start
the first stop) at or after the release time of every ticket it serves. A trip may have no ticket: a reload may follow
another, come first or come last. A shipment may stay on board through a reload.
A *break* may interrupt a leg: the time between two locations is at least the travel time plus the breaks between them.
A used agent takes each of its breaks, except those it can take outside its route: where the route ends by `window[1]`,
or starts at or after `window[0] + duration`.
In a *travel period* (rush hours) the speed differs: each unit of time spent driving counts 1000 / factor towards the
leg, outside every period it counts 1. A leg ends at the first whole unit of time at which the sum reaches its duration.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, cast

from planner_mcp import arrays as np
from planner_mcp.arrays import Integers
from planner_mcp.text import Json

Matrix = Integers
"""(L, L) integers, row from, column to. Those of many places are of 32 bits: take sums and products of cells in 64."""
NARROW_FROM: Final = 5000
"""Places from which on a table is of 32 bits where its cells fit: one of 10,000 places takes 400 MB."""


def empty_table(size: int, largest: int) -> Matrix:
    """Return a table of zeros for cells of at most `largest`: a narrow one where it is large and they fit."""
    if size < NARROW_FROM or largest > np.iinfo(np.int32).max:
        return np.zeros((size, size), dtype=np.int64)
    return narrow_table(size)


def narrow_table(size: int) -> Matrix:
    """Return a table of zeros of 32 bits: a view of one with one more row and column, which the native engine reads."""
    return cast(Matrix, np.zeros((size + 1, size + 1), dtype=np.int32)[:size, :size])


def is_narrow(table: Matrix) -> bool:
    """Return whether a table is one of `narrow_table`."""
    return table.dtype == np.int32 and table.base is not None and table.base.shape == (len(table) + 1,) * 2


class LoadKind(StrEnum):
    """When the amount of a ticket is on board."""

    DELIVERY = "delivery"
    PICKUP = "pickup"


class Feature(StrEnum):
    """What a problem requires of an engine beyond capacity and plain routes. An engine lists those it supports."""

    MULTI_CAPACITY = "multi_capacity"
    TIME_WINDOWS = "time_windows"
    MULTI_WINDOWS = "multi_windows"
    SOFT_WINDOWS = "soft_windows"
    SETUP = "setup"
    HETEROGENEOUS = "heterogeneous"
    TIME_COST = "time_cost"
    MULTI_DEPOT = "multi_depot"
    OPEN_ROUTES = "open_routes"
    SHIFTS = "shifts"
    BREAKS = "breaks"
    OVERTIME = "overtime"
    MAX_DISTANCE = "max_distance"
    MAX_DURATION = "max_duration"
    MAX_STOPS = "max_stops"
    SKILLS = "skills"
    INCOMPATIBLE = "incompatible"
    SHIPMENTS = "shipments"
    PICKUPS = "pickups"
    BACKHAUL = "backhaul"
    RELOAD = "reload"
    RELEASE = "release"
    OPTIONAL = "optional"
    LOCKS = "locks"
    PREFERENCES = "preferences"
    GROUPS = "groups"
    BALANCE = "balance"
    MIN_LOAD = "min_load"
    PROFILES = "profiles"
    RUSH_HOURS = "rush_hours"


@dataclass(frozen=True, slots=True)
class TravelPeriod:
    """Travel from `start` up to, but excluding, `end` takes `factor` thousandths of its normal duration."""

    start: int
    end: int
    factor: int


@dataclass(frozen=True, slots=True)
class BreakSpec:
    """A break of `duration` that starts inside `window`, anywhere on the route, at no location of its own."""

    window: tuple[int, int]
    duration: int

    @property
    def earliest_end(self) -> int:
        """When it is over at the earliest."""
        return self.window[0] + self.duration


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """One vehicle with its driver."""

    id: str
    capacity: tuple[int, ...]
    start: int | None = None
    end: int | None = None
    shift: tuple[int, int] = (0, 0)
    fixed_cost: int = 0
    distance_cost: int = 1
    time_cost: int = 0
    max_distance: int | None = None
    max_duration: int | None = None
    max_stops: int | None = None
    min_load: tuple[int, ...] = ()
    """Least that a used agent serves, by dimension: deliveries and pickups of all trips, a shipment once. Empty: no
    such limit."""
    overtime: int = 0
    """Time units by which the route may end after `shift[1]`; each costs `overtime_cost`."""
    overtime_cost: int = 0
    breaks: tuple[BreakSpec, ...] = ()
    reload_at: tuple[int, ...] = ()
    """Locations where the vehicle may unload and load again during its route."""
    max_reloads: int = 0
    profile: int = 0
    """Index of the travel matrices this vehicle uses."""
    locked: tuple[int, ...] = ()
    """Tickets this agent must serve before all others, in this order."""

    @property
    def latest_end(self) -> int:
        """When the route ends at the latest, overtime included."""
        return self.shift[1] + self.overtime

    @property
    def reload_depots(self) -> tuple[int, ...]:
        """The distinct locations where the agent may reload; empty where it may not."""
        return tuple(dict.fromkeys(self.reload_at)) if self.max_reloads else ()


@dataclass(frozen=True, slots=True)
class TicketSpec:
    """One work order at one location."""

    id: str
    location: int
    demand: tuple[int, ...]
    load: LoadKind = LoadKind.DELIVERY
    windows: tuple[tuple[int, int], ...] = ()
    """Hard time windows of the service start, sorted and disjoint; empty means any time."""
    soft_close: int | None = None
    lateness_cost: int = 0
    service: int = 0
    setup: int = 0
    release: int = 0
    """The trip that carries it leaves its depot (or reload) at or after this time."""
    penalty: int = 0
    """Cost of leaving it unassigned. For wanted tickets it exceeds the cost of any detour."""
    is_priced: bool = False
    """True where the caller set the penalty: the better plan may then leave the ticket out."""
    agents: frozenset[int] | None = None
    """Agents that may serve it (skills, pre-assignment, forbidden pairs); None means all."""
    preferred: int | None = None
    """The agent that should serve it; service by any other agent costs `switch_cost`."""
    switch_cost: int = 0
    pickup: int | None = None
    """For the delivery of a shipment: the pickup ticket, visited earlier on the same route."""

    def admits(self, agent: int) -> bool:
        """Return whether an agent may serve it."""
        return self.agents is None or agent in self.agents

    def switch_price(self, agent: int) -> int:
        """Return what service by an agent costs, because another one should serve it."""
        return self.switch_cost if self.preferred not in (None, agent) else 0

    def start_from(self, ready: int) -> int | None:
        """Return the earliest start of service at or after a time; None after the last window."""
        if not self.windows:
            return ready
        return next((max(ready, opens) for opens, closes in self.windows if ready <= closes), None)


class GroupKind(StrEnum):
    """How many tickets of a group may be served."""

    ONE_OF = "one_of"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class GroupSpec:
    """Tickets chosen together: at most one of them, or all or none (on any routes)."""

    kind: GroupKind
    tickets: tuple[int, ...]
    penalty: int = 0
    """For ONE_OF: cost when no ticket is served (the tickets of such a group have penalty 0 themselves)."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Problem:
    """A compiled scenario; see the module docstring for units and meaning."""

    agents: tuple[AgentSpec, ...]
    tickets: tuple[TicketSpec, ...]
    locations: tuple[str, ...]
    """Ids by index."""
    distances: tuple[Matrix, ...]
    """One (L, L) matrix per profile."""
    durations: tuple[Matrix, ...]
    """One (L, L) matrix per profile."""
    dimensions: tuple[str, ...] = ("load",)
    """Names of the capacity dimensions, in the order of `capacity` and `demand`."""
    scale: int = 1
    cost_scale: int = 1
    amount_scale: int = 1
    incompatible: frozenset[tuple[int, int]] = frozenset()
    """Pairs (low, high) of tickets that must not share a route."""
    groups: tuple[GroupSpec, ...] = ()
    backhaul: bool = False
    """On each trip every DELIVERY comes before every PICKUP."""
    span_cost: int = 0
    travel_periods: tuple[TravelPeriod, ...] = ()
    """Sorted by time, disjoint."""
    frozen_until: int = 0
    """No agent sets out before this time, except for a locked visit. Shifts and service times enforce it."""
    features: frozenset[Feature] = frozenset()
    """What this problem requires of an engine; set by `compilation/scenario_compiler.py`."""
    assumptions: tuple[str, ...] = ()
    frozen_prefix_assumptions: tuple[str, ...] = ()
    """The subset of `assumptions` that follows from the executed part of an earlier plan."""
    positions: tuple[tuple[float, float], ...] = ()
    """(lat, lon) or (x, y) by location, empty when unknown. For drawing only."""
    provenance: Json = field(default_factory=dict)
    """Source of the travel matrices: source, speed, detour, crs."""
    off_network: dict[int, str] = field(default_factory=dict)
    """Locations that no road leads to or from, each with why in a clause. No agent may serve a ticket there."""
    open_addresses: dict[int, str] = field(default_factory=dict)
    """Locations whose address gave no position, each with what it is. No agent may serve a ticket there."""
    partner_of: dict[int, int] = field(init=False, repr=False)
    """The other half of each ticket of a shipment."""

    def __post_init__(self) -> None:
        """Pair the halves of shipments."""
        pickup_of = {index: ticket.pickup for index, ticket in enumerate(self.tickets) if ticket.pickup is not None}
        object.__setattr__(self, "partner_of", pickup_of | {pickup: index for index, pickup in pickup_of.items()})

    def amounts(self, ticket: int, load: LoadKind) -> tuple[int, ...]:
        """Return what a ticket delivers, or picks up, by dimension; nothing for half a shipment."""
        spec = self.tickets[ticket]
        return spec.demand if spec.load is load and ticket not in self.partner_of else (0,) * len(spec.demand)


class StopKind(StrEnum):
    """Kinds of stops."""

    TICKET = "ticket"
    RELOAD = "reload"
    BREAK = "break"


@dataclass(frozen=True, slots=True)
class Stop:
    """One element of a route. `index`: ticket index, location index of a reload, or index into `agent.breaks`."""

    kind: StopKind
    index: int


@dataclass(frozen=True, slots=True)
class Route:
    """The stops of one agent, in order."""

    agent: int
    stops: tuple[Stop, ...]

    @property
    def tickets(self) -> list[int]:
        """Indexes of its tickets, in order."""
        return [stop.index for stop in self.stops if stop.kind is StopKind.TICKET]

    def without(self, kind: StopKind) -> "Route":
        """Return it without its stops of a kind."""
        return Route(self.agent, tuple(stop for stop in self.stops if stop.kind is not kind))

    def with_stop(self, place: int, stop: Stop) -> "Route":
        """Return it with one more stop, before that at a place."""
        return Route(self.agent, (*self.stops[:place], stop, *self.stops[place:]))

    @property
    def trips(self) -> list[list[int]]:
        """Indexes of the tickets between reloads, in order."""
        trips: list[list[int]] = [[]]
        for stop in self.stops:
            if stop.kind is StopKind.RELOAD:
                trips.append([])
            elif stop.kind is StopKind.TICKET:
                trips[-1].append(stop.index)
        return trips

    @property
    def reloads(self) -> int:
        """Number of reloads."""
        return sum(stop.kind is StopKind.RELOAD for stop in self.stops)


@dataclass(frozen=True, slots=True)
class Candidate:
    """Routes found by an engine. Times, loads and cost are computed and verified elsewhere."""

    routes: tuple[Route, ...]
    found_by: tuple[str, ...] = field(default=(), compare=False)
    """Engines that contributed to it, where several share a solve."""

    @property
    def tickets(self) -> set[int]:
        """Indexes of the served tickets."""
        return {ticket for route in self.routes for ticket in route.tickets}

    @staticmethod
    def of_tickets(routes: dict[int, list[int]]) -> "Candidate":
        """Build a candidate from ticket indexes by agent index."""
        return Candidate(
            tuple(
                Route(agent, tuple(Stop(StopKind.TICKET, ticket) for ticket in tickets))
                for agent, tickets in sorted(routes.items())
                if tickets
            )
        )
