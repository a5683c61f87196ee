"""A finished plan: timed routes in the caller's units, with what was left out and why.

Owns the data and its JSON form. A plan is laid out by `layout/schedule.py` and shown only after `proof/verify.py`
agreed. Times are seconds after midnight of the planning date, distances metres (or plane units), amounts as the caller
wrote.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class PlanStatus(StrEnum):
    """What is known about a plan. A heuristic never says optimal."""

    FEASIBLE = "feasible"
    """Verified; every wanted ticket is served."""
    PARTIAL = "partial"
    """Verified; some wanted tickets are unassigned, each with its reason."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One stop of a route."""

    kind: str
    """`ticket`, `reload` or `break`."""
    ticket_id: str | None
    location: str | None
    arrival_s: float
    start_s: float
    """When service (or the break) starts; `start_s - arrival_s` is waiting and setup."""
    departure_s: float
    load: dict[str, float]
    """On board when leaving, by capacity dimension."""
    distance_m: float
    """From the stop before."""
    late_s: float = 0.0


@dataclass(frozen=True, slots=True)
class PlannedRoute:
    """What one agent does."""

    agent_id: str
    visits: tuple[Visit, ...]
    start_location: str | None
    end_location: str | None
    start_s: float
    end_s: float
    distance_m: float
    travel_s: float
    waiting_s: float
    cost: float
    overtime_s: float = 0.0
    """What of it is after the agent's shift."""


@dataclass(frozen=True, slots=True)
class Unassigned:
    """A ticket that no route serves."""

    ticket_id: str
    code: str
    """A reason from `layout/explain.py`."""
    detail: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A verified plan. The better of two has the lower `penalty`, then the lower `cost`."""

    status: PlanStatus
    cost: float
    """Routes, the span, and what the caller said it costs to leave a ticket out."""
    routes: tuple[PlannedRoute, ...]
    unassigned: tuple[Unassigned, ...]
    distance_m: float
    duration_s: float
    agents_used: int
    tickets_served: int
    tickets_total: int
    assumptions: tuple[str, ...] = ()
    engine: str = ""
    """Who found it: `sisr+pyvrp` where the second improved on the first."""
    seed: int = 0
    versions: dict[str, str] = field(default_factory=dict)
    input_hash: str = ""
    travel: dict[str, Any] = field(default_factory=dict)
    """Where distances and times came from: `source`, and of a road engine its name, profile, version, map."""
    penalty: float = 0.0
    """What the wanted tickets left out weigh: more than any cost, doubled by each level of priority. Nobody pays it."""

    def as_json(self) -> dict[str, Any]:
        """Return the plan as plain JSON. (`asdict` would copy every value, at four times the cost.)"""
        routes = [{**_fields(route), "visits": [_fields(visit) for visit in route.visits]} for route in self.routes]
        return {**_fields(self), "routes": routes, "unassigned": [_fields(entry) for entry in self.unassigned]}

    @staticmethod
    def from_json(data: dict[str, Any]) -> "Plan":
        """Rebuild a plan from `as_json()`."""
        routes = tuple(
            PlannedRoute(**{**route, "visits": tuple(Visit(**visit) for visit in route["visits"])})
            for route in data["routes"]
        )
        unassigned = tuple(Unassigned(**entry) for entry in data["unassigned"])
        fields = {"status": PlanStatus(data["status"]), "routes": routes, "unassigned": unassigned}
        return Plan(**{**data, **fields, "assumptions": tuple(data["assumptions"])})


def _fields(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__slots__}
