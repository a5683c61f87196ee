"""A finished plan: timed routes in the caller's units, and the unassigned tickets with their reasons.

Owns the data and its JSON form. `evaluation/plan_builder.py` builds a plan, and it is published only after
`verification/plan_verification.py` accepted it. Times are seconds after midnight of the planning date, distances are
metres (or plane units), amounts are in the caller's units.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from planner_mcp.text import Json, known_fields, plain_fields, share_at_most

CENT: Final = 0.01
"""Costs and bounds closer than this are equal: prices are rounded, and days may round them differently."""
UNIT_LEGS: Final = "unit legs"
"""Source of travel where no location has a position: a distance counts legs."""
NO_TRAVEL: Final = (
    "Travel is not known: no location has a position, so each leg between two different locations counts 1."
)
"""What the reader of such a plan is told."""
PlanJson = Json
"""A plan as `Plan.as_json` writes it. So it goes from a solver process to the store, past readers of its figures."""


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
    late_s: float | None = 0.0
    """Lateness at a soft close; None in a plan of a version that did not record it."""


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
    cost: float | None
    """None where it must not be seen, or is not known at the prices in question."""
    overtime_s: float | None = 0.0
    """Part of the duration after the end of the agent's shift."""

    @property
    def tickets(self) -> list[str]:
        """Ids of its tickets, in order."""
        return [visit.ticket_id for visit in self.visits if visit.ticket_id is not None]


@dataclass(frozen=True, slots=True)
class Unassigned:
    """A ticket that no route serves."""

    ticket_id: str
    code: str
    """An `InfeasibilityReason`; of plans stored by older versions another word."""
    detail: str


@dataclass(frozen=True, slots=True)
class RecombinationRecord:
    """What OR-Tools did with the routes of all searches of a solve."""

    columns: int = 0
    """Most routes that it chose from."""
    solves: int = 0
    """Models solved, relaxations included."""
    seconds: float = 0.0
    """Time it took."""
    gain_percent: float = 0.0
    """Cost that it saved, relative to the plans before it; penalties count as cost."""


def gap_at_most(cost: float, lower_bound: float) -> float | None:
    """Return how far a cost is above a bound: a share of the cost, rounded up to thousandths.

    It is 0 only where they meet; None for a cost of 0 or less that is above its bound.
    """
    if cost <= lower_bound:
        return 0.0
    return share_at_most((cost - lower_bound) / cost) if cost > 0 else None


@dataclass(frozen=True, slots=True)
class ProofRecord:
    """What is proved about the cost of a plan that serves every wanted ticket."""

    lower_bound: float
    """No plan that serves every wanted ticket costs less, in the caller's currency."""
    is_optimal: bool = False
    """Whether the plan costs no more than that, and an independent check of the proof agreed."""
    columns: int = 0
    """Routes of the last linear program."""
    seconds: float = 0.0
    """Time it took."""
    relaxed: tuple[str, ...] = ()
    """Features of the scenario that the bound leaves out, wholly or in part: the true optimum may be above it."""

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "ProofRecord":
        """Rebuild a proof from its fields. Those that this version does not know are left out."""
        return ProofRecord(**{**known_fields(ProofRecord, data), "relaxed": tuple(data.get("relaxed", ()))})

    def gap(self, cost: float) -> float:
        """Return how far a plan of this cost is above the bound at most, as a share of its cost, in thousandths."""
        return gap_at_most(cost, self.lower_bound) or 0.0


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
    is_masked: bool = False
    """Whether it was timed on rounded positions, for a reader who sees no cost."""
    recombination: RecombinationRecord | None = None
    """None where its solve recombined no routes."""
    proof: ProofRecord | None = None
    """None where nothing is proved."""

    def as_json(self) -> PlanJson:
        """Return the plan as plain JSON. (`asdict` would copy every value, at four times the cost.)"""
        routes = [_route_json(route) for route in self.routes]
        fields = {
            **plain_fields(self),
            "routes": routes,
            "unassigned": [plain_fields(entry) for entry in self.unassigned],
        }
        left_out = ["cost", "penalty", "input_hash"] if self.is_masked else ["is_masked"]
        for name in ("recombination", "proof"):
            if (record := getattr(self, name)) is None:
                left_out.append(name)
            else:
                fields[name] = plain_fields(record)
        return {name: value for name, value in fields.items() if name not in left_out}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Plan":
        """Rebuild a plan from `as_json()`. Fields that this version does not know are left out."""
        known = known_fields(Plan, data)
        known["status"] = PlanStatus(data["status"])
        known["routes"] = tuple(_route_of(route) for route in data["routes"])
        known["unassigned"] = tuple(Unassigned(**known_fields(Unassigned, entry)) for entry in data["unassigned"])
        known["assumptions"] = tuple(data.get("assumptions", ()))
        if (record := data.get("recombination")) is not None:
            known["recombination"] = RecombinationRecord(**known_fields(RecombinationRecord, record))
        if (proof := data.get("proof")) is not None:
            known["proof"] = ProofRecord.from_json(proof)
        return Plan(**known)


def _route_json(route: PlannedRoute) -> Json:
    visits = [_recorded(plain_fields(visit), "late_s") for visit in route.visits]
    return _recorded({**plain_fields(route), "visits": visits}, "overtime_s")


def _recorded(fields: Json, name: str) -> Json:
    """Return fields without the named one where it was not recorded."""
    if fields[name] is None:
        del fields[name]
    return fields


def _route_of(data: Mapping[str, Any]) -> PlannedRoute:
    visits = tuple(Visit(**{"late_s": None, **known_fields(Visit, visit)}) for visit in data["visits"])
    return PlannedRoute(**{"overtime_s": None, **known_fields(PlannedRoute, data), "visits": visits})
