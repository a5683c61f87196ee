"""A finished plan: timed routes in the caller's units, and the unassigned tickets with their reasons.

Owns the data and its JSON form. `evaluation/plan_builder.py` builds a plan, and it is published only after
`verification/plan_verification.py` accepted it. Times are seconds after midnight of the planning date, distances are
metres (or plane units), amounts are in the caller's units.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class PlanStatus(StrEnum):
    """What is known about a plan. Heuristics prove no optimality, so there is no status for it."""

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
    """Start of service (or of the break); `start_s - arrival_s` is waiting and setup."""
    departure_s: float
    load: dict[str, float]
    """Load on departure, by capacity dimension."""
    distance_m: float
    """From the previous stop."""
    late_s: float = 0.0


@dataclass(frozen=True, slots=True)
class PlannedRoute:
    """The route of one agent."""

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
    """Part of the duration after the end of the agent's shift."""


@dataclass(frozen=True, slots=True)
class Unassigned:
    """A ticket that no route serves."""

    ticket_id: str
    code: str
    """An `InfeasibilityReason`; of plans stored by older versions another word."""
    detail: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A verified plan. Of two plans the better has the lower `penalty`, then the lower `cost`."""

    status: PlanStatus
    cost: float
    """Cost of the routes, the span, and the penalties that the caller set for unassigned tickets."""
    routes: tuple[PlannedRoute, ...]
    unassigned: tuple[Unassigned, ...]
    distance_m: float
    duration_s: float
    agents_used: int
    tickets_served: int
    tickets_total: int
    assumptions: tuple[str, ...] = ()
    engine: str = ""
    """Engines that found it: `sisr+pyvrp` where the second improved the plan of the first."""
    seed: int = 0
    versions: dict[str, str] = field(default_factory=dict)
    input_hash: str = ""
    travel: dict[str, Any] = field(default_factory=dict)
    """Source of distances and times: `source`, and for a road engine its name, profile, version and map."""
    penalty: float = 0.0
    """Penalty of the wanted tickets left out: above any cost, doubled by each priority level. It is not a payment."""

    def as_json(self) -> dict[str, Any]:
        """Return the plan as plain JSON. (`asdict` copies every value and takes four times as long.)"""
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
