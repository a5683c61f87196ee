"""What a published instance says, whatever dialect it is written in.

Owns the words all dialects share. Numbers are the file's own: lengths in its plane, travel of one unit takes one unit
of time. What they are rounded to is the set's rule: `instance_scenario.py` takes the usual one,
`benchmarks/benchmark_instances.py` each set's own.
"""

from dataclasses import dataclass
from typing import Literal

Rounding = Literal["nearest", "floor", "ceil"]


@dataclass(frozen=True, slots=True)
class Vehicle:
    """One vehicle of the fleet."""

    depot: int
    """Node where it starts and ends."""
    capacity: float | None = None
    """None where it carries any amount."""
    max_duration: float | None = None
    fixed_cost: float = 0
    distance_cost: float = 1
    reloads: tuple[int, ...] = ()
    """Nodes where it may empty and refill."""


@dataclass(frozen=True, slots=True)
class InstanceVisit:
    """A node to be visited."""

    node: int
    demand: float
    service: float = 0
    release: float = 0
    window: tuple[float, float] | None = None
    prize: float | None = None
    """What leaving it out costs; None where it must be served."""
    is_pickup: bool = False
    pickup: int | None = None
    """For a delivery: the visit, by its place in the list, that picks it up."""
    vehicles: frozenset[int] | None = None
    """Vehicles that may serve it; None means all."""


@dataclass(frozen=True, slots=True)
class PublishedInstance:
    """An instance."""

    name: str
    nodes: tuple[str, ...]
    """Names as the file has them, depots included."""
    places: tuple[tuple[float, float], ...]
    """(x, y) by node; empty where there is only a table."""
    vehicles: tuple[Vehicle, ...]
    visits: tuple[InstanceVisit, ...]
    choices: tuple[tuple[int, ...], ...] = ()
    """Visits, by their places in the list, of which one is made."""
    shift: tuple[float, float] | None = None
    backhaul: bool = False
    is_fleet_given: bool = True
    """False where the file limits no fleet, so that each visit has a vehicle."""
    table: tuple[tuple[float, ...], ...] | None = None
    """Lengths between nodes where the file has them, row from, column to."""
    rounding: Rounding = "nearest"
    decimals: int = 0
    """Digits a length keeps by the usual rule of the dialect."""
