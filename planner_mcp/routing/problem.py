"""A scenario compiled to integers: the one shape every engine reads and the verifier judges by.

Owns the meaning of each number. Building it from a `Scenario` is `compile/compiler.py`'s work; finding routes is the
engines'; times are laid out by `layout/schedule.py`; `proof/verify.py` judges the result and trusts nobody.

Units. Distances and times are integers of `1 / scale` metre (or plane unit) and `1 / scale` second; times count from
midnight of the planning date and may run past 24 h. Costs are integers of `1 / cost_scale` of the caller's currency
(without prices the cost *is* the distance). Amounts are integers of `1 / amount_scale`.

The model.
A **route** is what one agent does: an ordered list of stops (tickets, reloads, breaks). It leaves `start` (if any) not
before `shift[0]`, may wait anywhere, serves each ticket inside one of its windows (the *start* of service counts),
and reaches `end` (if any) not after `shift[1]` (plus `overtime`). Without `start` it begins at its first stop, without
`end` it ends after its last. An agent with no stops is unused and costs nothing.
*Setup* is spent before service where the location differs from the stop before (always at the first stop).
*Load*, per dimension: a `DELIVERY` is on board from the start (or the last reload) until its stop; a `PICKUP` from its
stop until the end (or the next reload); a shipment (`delivery.pickup` names its pickup ticket) from one to the other.
At every moment 0 <= load <= capacity.
*Cost* = Σ used agents (fixed + distance_cost · distance + time_cost · duration + overtime_cost · overtime)
+ Σ lateness_cost · (service start − soft_close)⁺ + Σ switch_cost of tickets served by another than `preferred`
+ Σ penalties of unassigned tickets + Σ penalties of ONE_OF groups none of whose tickets is served
+ span_cost · longest duration.
Duration is from departure at the start to arrival at the end, waiting included.
A *trip* is the part of a route up to the end or the next reload; it leaves (the start, the reload, or without start the
first stop) not before the release of any ticket it serves. A shipment may stay on board through a reload.
A *break* may interrupt a leg: between two places the time is at least the travel plus the breaks between them. A used
agent takes each of its breaks, save one it can rest outside the route: where the route ends not after `window[1]`, or
starts not before `window[0] + duration`.
In a *rush* travel goes on at another pace: each unit of time that is driven counts 1000 / factor towards the leg, 1
outside. A leg is over at the first whole unit of time at which what was driven counts as much as its duration.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.int64]
"""(L, L) integers, row from, column to."""


class LoadKind(StrEnum):
    """Where the amount of a ticket is on board."""

    DELIVERY = "delivery"
    PICKUP = "pickup"


class Feature(StrEnum):
    """What a problem asks of an engine beyond capacity and plain tours. An engine names those it supports."""

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
    PROFILES = "profiles"
    RUSH_HOURS = "rush_hours"


@dataclass(frozen=True, slots=True)
class TravelPeriod:
    """Part of the day, from `start` up to but not at `end`, in which travel takes `factor` thousandths of its time."""

    start: int
    end: int
    factor: int


@dataclass(frozen=True, slots=True)
class Break:
    """A rest of `duration` that starts inside `window`, anywhere on the route, at no location of its own."""

    window: tuple[int, int]
    duration: int


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
    overtime: int = 0
    """Time units the route may end after `shift[1]`, each costing `overtime_cost`."""
    overtime_cost: int = 0
    breaks: tuple[Break, ...] = ()
    reload_at: tuple[int, ...] = ()
    """Locations where the vehicle may empty and refill during its route."""
    max_reloads: int = 0
    profile: int = 0
    """Index of the travel matrices this vehicle uses."""
    locked: tuple[int, ...] = ()
    """Tickets this agent must serve, first and in this order."""

    @property
    def reload_depots(self) -> tuple[int, ...]:
        """Locations where it may load again, each once; none where it may not."""
        return tuple(dict.fromkeys(self.reload_at)) if self.max_reloads else ()


@dataclass(frozen=True, slots=True)
class TicketSpec:
    """One work order at one location."""

    id: str
    location: int
    demand: tuple[int, ...]
    load: LoadKind = LoadKind.DELIVERY
    windows: tuple[tuple[int, int], ...] = ()
    """Hard windows, sorted and disjoint; empty means any time. The start of service lies in one of them."""
    soft_close: int | None = None
    lateness_cost: int = 0
    service: int = 0
    setup: int = 0
    release: int = 0
    """The trip that carries it leaves its depot (or reload) not before this time."""
    penalty: int = 0
    """Cost of leaving it unassigned. Chosen so large for wanted tickets that no detour outweighs it."""
    is_priced: bool = False
    """True where the caller set the penalty: leaving it out may be the better plan."""
    agents: frozenset[int] | None = None
    """Agents that may serve it (skills, pre-assignment, forbidden pairs); None means all."""
    preferred: int | None = None
    """The agent who should serve it; any other pays `switch_cost`."""
    switch_cost: int = 0
    pickup: int | None = None
    """For the delivery half of a shipment: the ticket to be visited earlier on the same route."""


class GroupKind(StrEnum):
    """How many tickets of a group may be served."""

    ONE_OF = "one_of"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Group:
    """Tickets chosen together: at most one of them, or all or none (on any routes)."""

    kind: GroupKind
    tickets: tuple[int, ...]
    penalty: int = 0
    """For ONE_OF: cost when none is served (the tickets of such a group have penalty 0 themselves)."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Problem:
    """A day as integers; see the module docstring for units and meaning."""

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
    groups: tuple[Group, ...] = ()
    backhaul: bool = False
    """On each trip every DELIVERY comes before every PICKUP."""
    span_cost: int = 0
    travel_periods: tuple[TravelPeriod, ...] = ()
    """In order, not overlapping."""
    frozen_until: int = 0
    """Nobody sets out for anything but a locked visit before. Shifts and services see to it; the proof looks again."""
    features: frozenset[Feature] = frozenset()
    """What this problem asks of an engine; set by `compile/compiler.py`."""
    assumptions: tuple[str, ...] = ()
    frozen_prefix_assumptions: tuple[str, ...] = ()
    """Those of them that what has happened asks for."""
    positions: tuple[tuple[float, float], ...] = ()
    """(lat, lon) or (x, y) by location, empty when unknown. For drawing only."""
    provenance: dict[str, Any] = field(default_factory=dict)
    """Where travel came from: source, speed, detour, crs."""


class StopKind(StrEnum):
    """What a stop is."""

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

    @property
    def reloads(self) -> int:
        """How often it loads again."""
        return sum(stop.kind is StopKind.RELOAD for stop in self.stops)


@dataclass(frozen=True, slots=True)
class Candidate:
    """What an engine hands over: routes only. Times, loads and cost are laid out and checked by others."""

    routes: tuple[Route, ...]
    found_by: tuple[str, ...] = field(default=(), compare=False)
    """Engines that took part in finding it, where several share a solve."""

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
