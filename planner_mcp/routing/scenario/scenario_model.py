"""The pydantic model of a scenario: its fields as callers write them.

Owns the fields, their defaults and their meaning. Values are read by `scenario/field_types.py`, schema faults are
worded by `scenario/schema_faults.py`, contradictions between fields are found by `scenario/checks/`, and integers are
made by `compilation/scenario_compiler.py`. Amounts stay in the caller's units, lengths are metres (or plane units),
times are seconds after midnight of the planning date.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    StrictBool,
    WrapValidator,
    model_validator,
)
from typing_extensions import override

from planner_mcp import arrays as np
from planner_mcp.errors import Fault
from planner_mcp.routing.scenario.field_types import (
    SHOWS_NAMES,
    WRITTEN_TIMES,
    Amount,
    CalendarDate,
    Coordinate,
    Count,
    Decimals,
    Duration,
    Factor,
    FreeText,
    Identifier,
    Latitude,
    Length,
    LocationId,
    Longitude,
    MatrixField,
    Price,
    Priority,
    Share,
    Speed,
    Time,
    TravelTimeFactor,
    WrittenTimes,
    field_error,
    need_pair,
    need_pairs,
    need_some,
    report_within_budget,
)
from planner_mcp.routing.scenario.travel_matrices import NAMES, TravelMatrices
from planner_mcp.text import Json

_MAX_FIELDS: Final = 100
"""Fields of one object, more than twice the number of any model; bounds the work for hostile input."""
MAX_EXCLUSIONS: Final = 20_000
"""Lists of incompatible tickets; `scenario/checks/size_checks.py` limits the pairs they make."""

USUAL_DETOUR: Final = 1.3
"""Road distance divided by great circle where a scenario says nothing: what cities usually have."""
_USUAL_RELOADS: Final = 5
"""Default of `max_reloads` for an agent with `reload_locations`."""
NULLABLE: Final = ("start_location", "end_location")
"""Fields in which null is a value: the route has no such end."""

WithinErrorBudget = WrapValidator(report_within_budget)
Ids = Annotated[tuple[Identifier, ...], Field(max_length=20_000), WithinErrorBudget]
Skills = Annotated[tuple[Identifier, ...], Field(max_length=100)]
Pairs = Annotated[dict[Identifier, Identifier], Field(max_length=20_000)]
Window = Annotated[tuple[Time, Time], BeforeValidator(need_pair)]
Windows = Annotated[tuple[Window, ...], Field(max_length=50), BeforeValidator(need_pairs)]


def _sensitive(*names: str, at_times_absent: tuple[str, ...] = ()) -> ConfigDict:
    """Return the config that declares fields masked for readers without `planner:sensitive` (SPEC R3).

    Args:
        names: The fields.
        at_times_absent: Fields that the schema does not require, as a day in which nothing is carried leaves amounts
            out, and an address may stand for a location.
    """

    def extend(schema: Json) -> None:
        schema["x-sensitive-fields"] = list(names)
        schema["required"] = [name for name in schema["required"] if name not in at_times_absent]

    return ConfigDict(json_schema_extra=extend if at_times_absent else {"x-sensitive-fields": list(names)})


class _Part(BaseModel):
    """An object of the scenario. Null equals absent, except for the ends of an agent's route."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        if len(value) > _MAX_FIELDS:
            raise field_error(f"The object has {len(value)} fields.", f"at most {_MAX_FIELDS} fields")
        if None not in value.values():
            return value
        optional = {name for name, field in cls.model_fields.items() if not field.is_required()}
        return {k: v for k, v in value.items() if v is not None or k not in optional or k in NULLABLE}


AREAS: Final = frozenset({"town", "district", "city"})
"""Accuracies of a position that is the centre of an area, kilometres from the door."""


class ResolvedPosition(_Part):
    """How `lat` and `lon` of a location were found from its address; written by the planner."""

    source: Identifier = Field(description="offline, confirmed, or the name of a geocoding service")
    accuracy: Identifier = Field(description="point, interpolated, street, town, district or city")
    radius_m: Length = Field(description="the place lies within so many metres of the position")
    confidence: Share = Field(description="0 to 1")


class OpenAddress(_Part):
    """Why the address of a location gave no position; written by the planner."""

    model_config = _sensitive("candidates")

    status: Identifier = Field(description="ambiguous, partial or not_found")
    candidates: Annotated[tuple[FreeText, ...], Field(max_length=10)] = Field(
        (), description="places that the address may mean"
    )


class Location(_Part):
    """A place: WGS-84 `lat`, `lon`, or plane `x`, `y`, or only an id where matrices are given."""

    model_config = _sensitive("name", "address", "lat", "lon", "x", "y")

    id: Identifier = Field(description="unique among locations")
    lat: Latitude | None = Field(None, description="degrees")
    lon: Longitude | None = Field(None, description="degrees")
    x: Coordinate | None = Field(None, description="plane units")
    y: Coordinate | None = Field(None, description="plane units")
    name: FreeText | None = Field(None, description="for display")
    address: FreeText | None = Field(None, description="gives the position where lat, lon, x and y are absent")
    resolved: ResolvedPosition | None = Field(
        None, description="how the address gave the position; written by the planner"
    )
    open_address: OpenAddress | None = Field(
        None,
        description="why the address gave no position, so that nobody serves what is there; written by the planner",
    )


class Break(_Part):
    """A break that starts between `earliest` and `latest`."""

    earliest: Time = Field(description="earliest start")
    latest: Time = Field(description="latest start")
    duration_s: Duration = Field(description="length in seconds")


class Agent(_Part):
    """A vehicle with its driver. `name` and `phone` are the driver's; planning does not read them."""

    model_config = _sensitive(
        *("name", "phone", "fixed_cost", "cost_per_km", "cost_per_hour", "overtime_cost_per_hour"),
        at_times_absent=("capacity",),
    )

    id: Identifier = Field(description="unique among agents")
    capacity: Amount = Field(
        description="most on board at any moment, by dimension; absent where no ticket of the day has a demand"
    )
    start_location: LocationId | None = Field(
        None, description="where its route starts; absent: the depot; null, in a patch too: at its first ticket"
    )
    end_location: LocationId | None = Field(
        None, description="where its route ends; absent: the depot; null, in a patch too: at its last ticket"
    )
    shift_start: Time | None = Field(None, description="earliest departure; absent: midnight")
    shift_end: Time | None = Field(None, description="latest arrival at its end, before overtime_s")
    fixed_cost: Price = Field(0.0, description="cost of using it at all")
    cost_per_km: Price | None = Field(
        None,
        description="price per 1000 m or plane units; absent: 1000, or 0 where any agent has a price by km or hour",
    )
    cost_per_hour: Price | None = Field(None, description="price per hour from departure to end, waiting included")
    max_distance_km: Length | None = Field(
        None, description="longest route in km; give this or max_distance_m, not both"
    )
    max_distance_m: Length | None = Field(
        None, description="longest route in metres; give this or max_distance_km, not both"
    )
    max_duration_s: Duration | None = Field(None, description="longest time from departure to end, in seconds")
    max_tickets: Count | None = Field(None, description="most tickets served")
    min_load: Amount | None = Field(
        None,
        description="least amount by dimension that its route must serve, if it has one; deliveries and pickups add up",
    )
    overtime_s: Duration = Field(0.0, description="seconds by which its route may end after shift_end")
    overtime_cost_per_hour: Price = Field(0.0, description="price per hour after shift_end")
    breaks: Annotated[tuple[Break, ...], Field(max_length=10)] = Field(
        (), description="breaks it takes if it is on its route at that time"
    )
    reload_locations: Annotated[tuple[LocationId, ...], Field(max_length=20)] = Field(
        (), description="locations where it may unload and load again between trips"
    )
    max_reloads: Count | None = Field(None, description="most reloads of a route; absent: 5")
    skills: Skills = Field((), description="skills it has")
    speed_factor: Factor = Field(1.0, description="divides its travel times: 2 halves them")
    locked_tickets: Ids = Field((), description="tickets it serves first, in this order")
    name: FreeText | None = Field(None, description="name of the driver")
    phone: FreeText | None = Field(None, description="phone number of the driver")

    @property
    def longest_m(self) -> float | None:
        """The longest route in metres; None without such a limit."""
        return self.max_distance_m if self.max_distance_km is None else self.max_distance_km * 1000


class Ticket(_Part):
    """A work order at a location. Planning does not read `name`, `phone` and `notes`."""

    model_config = _sensitive(
        "name",
        "address",
        "phone",
        "notes",
        "penalty",
        "lateness_cost_per_hour",
        "switch_cost",
        at_times_absent=("location", "demand"),
    )

    id: Identifier = Field(description="unique among tickets")
    location: LocationId = Field(
        description="id of a location, or any name where none has a position; absent where address gives the place"
    )
    demand: Amount = Field(
        description="amount by dimension, in the units of capacity; absent where no agent of the day has a capacity"
    )
    kind: Literal["delivery", "pickup"] = Field(
        "delivery", description="delivery: on board until its stop; pickup: from its stop on"
    )
    time_windows: Windows = Field((), description="[open, close] for start of service")
    soft_close: Time | None = Field(None, description="service that starts later costs lateness_cost_per_hour")
    lateness_cost_per_hour: Price = Field(0.0, description="price per hour that service starts after soft_close")
    service_time_s: Duration = Field(0.0, description="seconds a visit takes")
    setup_time_s: Duration = Field(
        0.0, description="extra seconds before service, once for consecutive tickets at one location"
    )
    release_time: Time | None = Field(
        None, description="the trip that carries it leaves the depot or reload no earlier"
    )
    priority: Priority = Field(
        5, description="each step doubles the weight of leaving it out; ignored where a penalty is set"
    )
    penalty: Price | None = Field(None, description="cost of leaving it out")
    skills: Skills = Field((), description="skills its agent must have, all of them")
    agents: Ids | None = Field(None, description="the only agents that may serve it")
    not_agents: Ids = Field((), description="agents that may not serve it")
    preferred_agent: Identifier | None = Field(
        None, description="agent who should serve it; any other costs switch_cost"
    )
    switch_cost: Price = Field(0.0, description="cost of service by an agent other than preferred_agent")
    pickup: Identifier | None = Field(None, description="id of the ticket where it is picked up")
    name: FreeText | None = Field(None, description="for display")
    address: FreeText | None = Field(None, description="gives the position of a location that has none")
    phone: FreeText | None = Field(None, description="for display")
    notes: FreeText | None = Field(None, description="for display")


class Rush(_Part):
    """Hours in which travel takes `factor` times as long; `end` itself is outside."""

    start: Time = Field(description="when it begins")
    end: Time = Field(description="when it ends")
    factor: TravelTimeFactor = Field(description="multiplies travel times: 2 doubles them")


class Travel(_Part):
    """The source of distances and times: positions, matrices, or a road engine."""

    speed_kmh: Speed = Field(40.0, description="speed between lat/lon positions")
    detour: Factor | None = Field(
        None, description="road distance divided by straight line; absent: 1.3 of lat/lon, 1 of x/y"
    )
    crs: Literal["wgs84", "gcj02", "bd09"] = Field("wgs84", description="coordinate system of lat and lon")
    distances: MatrixField | None = Field(None, description="metres, row from, column to")
    durations: MatrixField | None = Field(None, description="seconds, row from, column to")
    matrix_locations: Ids | None = Field(None, description="location ids of the rows; absent: locations in order")
    matrix: Identifier | None = Field(None, description="id of uploaded matrices")
    router: Identifier | None = Field(None, description="road engine of this deployment, by name")
    rush_hours: Annotated[tuple[Rush, ...], Field(max_length=50)] = Field((), description="when travel takes longer")
    plane_speed: Speed = Field(1.0, description="plane units per second, between x/y positions")
    rounding: Literal["nearest", "floor", "ceil"] = Field("nearest", description="how lengths and times are rounded")
    decimals: Decimals | None = Field(
        None, description="decimals kept of lengths and times; absent: 0 with lat/lon, 3 with x/y, all with matrices"
    )

    @property
    def tables(self) -> dict[str, tuple[tuple[float, ...], ...]]:
        """The inline matrices, by name."""
        return {name: table for name in NAMES if (table := getattr(self, name)) is not None}

    @property
    def globe_detour(self) -> float:
        """Road distance divided by great circle, between lat/lon positions."""
        return USUAL_DETOUR if self.detour is None else self.detour

    @property
    def plane_detour(self) -> float:
        """Distance divided by straight line, between x/y positions: published instances are Euclidean."""
        return 1.0 if self.detour is None else self.detour


class Group(_Part):
    """Tickets of which at most one, or all or none, are served."""

    model_config = _sensitive("penalty")

    kind: Literal["one_of", "all"] = Field(description="one_of: at most one is served; all: all or none")
    tickets: Ids = Field(description="ids of the tickets")
    penalty: Price | None = Field(None, description="one_of: cost of serving none")


class HeldVisit(_Part):
    """A visit or break that has begun. Times are seconds after midnight, as in a plan."""

    ticket: Identifier | None = Field(None, description="id of the ticket; absent: a break")
    start_s: Duration = Field(description="when it began")
    departure_s: Duration = Field(description="when the agent goes on")


class HeldReload(_Part):
    """A reload that has begun, or that the agent drives over to its next visit."""

    location: LocationId = Field(description="where it reloads")
    after: Count = Field(description="number of tickets visited before it")


class HeldRoute(_Part):
    """The part of an earlier route executed by `until_s`, and the visit the agent is driving to."""

    agent: Identifier = Field(description="id of the agent")
    start_s: Duration = Field(description="when it set out")
    visits: Annotated[tuple[HeldVisit, ...], Field(max_length=10_000)] = Field(
        (), description="visits that have begun, in order"
    )
    reloads: Annotated[tuple[HeldReload, ...], Field(max_length=10_000)] | None = Field(
        None, description="reloads made, in order; absent: not recorded"
    )
    next_ticket: Identifier | None = Field(None, description="ticket it is driving to")
    arrival_s: Duration = Field(0.0, description="arrival at that ticket")
    end_s: Duration | None = Field(None, description="arrival at its end; set once it drives there or has arrived")


class Held(_Part):
    """The frozen part of an earlier plan, written by `resolve_vrp` beside the caller's fields; null removes it.

    Names that the scenario no longer has are ignored; begun tickets among them are reported.
    """

    model_config = _sensitive("switch_cost")

    until_s: Duration = Field(0.0, description="no agent sets out and no new visit begins before this time; 0: not set")
    routes: Annotated[tuple[Annotated[HeldRoute, WithinErrorBudget], ...], Field(max_length=20_000)] = Field(
        (), description="routes of agents that have set out by until_s"
    )
    stay: Pairs = Field({}, description="ticket id → the only agent that may serve it")
    prefer: Pairs = Field({}, description="ticket id → preferred agent; any other costs switch_cost")
    switch_cost: Price = Field(0.0, description="cost of service by an agent other than the one in prefer")
    promised: Ids = Field((), description="planned tickets; each weighs more than all other wanted tickets together")

    def as_json(self) -> Json:
        """Return the fields that were given, as a scenario has them."""
        return self.model_dump(mode="json", exclude_unset=True, exclude_none=True, warnings=False)


class Options(_Part):
    """Settings of the whole scenario."""

    model_config = _sensitive("balance_cost_per_hour")

    backhaul: StrictBool = Field(False, description="deliveries before pickups on every trip")
    balance_cost_per_hour: Price = Field(0.0, description="price per hour of the longest route")
    currency: Identifier | None = Field(None, description="currency of all prices, shown with costs")


class Scenario(_Part):
    """The work of one planning date."""

    name: Identifier = Field(description="shown in lists")
    planning_date: CalendarDate = Field(description="date whose midnight is time 0")
    agents: Annotated[tuple[Annotated[Agent, WithinErrorBudget], ...], BeforeValidator(need_some)] = Field(
        description="vehicles with drivers", json_schema_extra={"minItems": 1}
    )
    tickets: Annotated[tuple[Annotated[Ticket, WithinErrorBudget], ...], BeforeValidator(need_some)] = Field(
        description="visits", json_schema_extra={"minItems": 1}
    )
    locations: Annotated[tuple[Annotated[Location, WithinErrorBudget], ...], Field(max_length=20_000)] = Field(
        (), description="places by id"
    )
    depot: LocationId | None = Field(None, description="start and end of all agents")
    travel: Travel = Field(Travel(), description="where distances and times come from")
    groups: Annotated[tuple[Annotated[Group, WithinErrorBudget], ...], Field(max_length=10_000)] = Field(
        (), description="tickets chosen together: at most one of them, or all or none"
    )
    incompatible: Annotated[tuple[Ids, ...], Field(max_length=MAX_EXCLUSIONS)] = Field(
        (), description="lists of tickets that never share a route"
    )
    options: Options = Field(Options(), description="settings of the whole scenario")
    held: Held | None = Field(None, description="frozen part of an earlier plan; written by resolve_vrp")
    strict: StrictBool = Field(False, description="refuse tickets that nobody can serve")
    _travel_matrices: TravelMatrices | None = PrivateAttr(None)
    _written_times: WrittenTimes = PrivateAttr(default_factory=WrittenTimes)
    _shows_names: bool = PrivateAttr(False)
    _findings: tuple[Fault, ...] = PrivateAttr(())

    @model_validator(mode="before")
    @classmethod
    def _fill_absent_amounts(cls, value: Any) -> Any:
        """Read a day in which nobody carries anything, such as one of technicians, as one of zero amounts."""
        amounts = {"agents": "capacity", "tickets": "demand"}
        if not isinstance(value, dict) or not all(isinstance(value.get(kind), list) for kind in amounts):
            return value
        parts = [part for kind in amounts for part in value[kind]]
        if any(not isinstance(part, dict) or not part.keys().isdisjoint(amounts.values()) for part in parts):
            return value
        return value | {kind: [{**part, name: 0} for part in value[kind]] for kind, name in amounts.items()}

    @override
    def model_post_init(self, context: Any, /) -> None:
        """Take matrices and findings from the validation context; inline matrices are the fallback."""
        context = context or {}
        self._travel_matrices = context.get("travel_matrices") or _inline_matrices(self)
        self._written_times = context.get(WRITTEN_TIMES) or WrittenTimes()
        self._shows_names = context.get(SHOWS_NAMES, False)

    @property
    def travel_matrices(self) -> TravelMatrices | None:
        """The travel matrices, None where they are not loaded."""
        return self._travel_matrices

    @property
    def written_times(self) -> WrittenTimes:
        """How its times were written."""
        return self._written_times

    @property
    def shows_names(self) -> bool:
        """Whether error messages may contain names of people: their reader wrote them or may read them."""
        return self._shows_names

    @property
    def findings(self) -> tuple[Fault, ...]:
        """The tickets that provably nobody can serve, as found when the scenario was checked; each has a `reason`."""
        return self._findings

    def with_findings(self, findings: Iterable[Fault]) -> "Scenario":
        """Return a copy with these findings."""
        twin = self.model_copy()
        twin._findings = tuple(findings)
        return twin

    def with_travel_matrices(self, travel_matrices: TravelMatrices | None) -> "Scenario":
        """Return a copy with these travel matrices."""
        twin = self.model_copy()
        twin._travel_matrices = travel_matrices
        return twin

    @property
    def open_places(self) -> Mapping[str, OpenAddress]:
        """Locations whose address gave no position, by id; none where travel is known without positions."""
        travel = self.travel
        if travel.matrix is not None or travel.tables:
            return {}
        without = (place for place in self.locations if place.lat is None and place.x is None)
        return {place.id: place.open_address for place in without if place.open_address is not None}

    @property
    def refers_to_matrices(self) -> bool:
        """Whether travel is defined by matrices stored elsewhere."""
        return self.travel.matrix is not None or self.travel.router is not None


def _inline_matrices(scenario: Scenario) -> TravelMatrices | None:
    """Return the inline matrices of a scenario; None where there are none, or their shape is invalid."""
    rows, given = matrix_row_ids(scenario), scenario.travel.tables
    is_square = all(len(table) == len(rows) == len(row) for table in given.values() for row in table)
    if not given or not rows or not is_square or len(set(rows)) < len(rows):
        return None
    tables: dict[str, Any] = {name: np.array(table, dtype=np.float64) for name, table in given.items()}
    return TravelMatrices(rows, **tables, provenance={"source": "matrices", "given": sorted(given)})


def matrix_row_ids(scenario: Scenario) -> tuple[str, ...]:
    """Return the location ids of the rows of the inline matrices."""
    named = scenario.travel.matrix_locations
    return tuple(place.id for place in scenario.locations) if named is None else named


BY_ID: Final[dict[str, type[BaseModel]]] = {"agents": Agent, "tickets": Ticket, "locations": Location}
"""Lists whose entries have ids, with the model of these."""


def start_of(scenario: Scenario, agent: Agent) -> str | None:
    """Return the location where the agent's route starts; None where it starts at its first ticket."""
    return agent.start_location if "start_location" in agent.model_fields_set else scenario.depot


PRICE_OF_METRES: Final = 1000.0
"""What a km costs where no agent has a price by km or hour: cost is distance."""


def has_travel_price(scenario: Scenario) -> bool:
    """Return whether any agent has a price by km or hour; without any, a km costs `PRICE_OF_METRES`."""
    return any(agent.cost_per_km is not None or agent.cost_per_hour is not None for agent in scenario.agents)


def end_of(scenario: Scenario, agent: Agent) -> str | None:
    """Return the location where the agent's route ends; None where it ends at its last ticket."""
    return agent.end_location if "end_location" in agent.model_fields_set else scenario.depot


def most_reloads(agent: Agent) -> int:
    """Return how often an agent may reload."""
    if not agent.reload_locations:
        return 0
    return _USUAL_RELOADS if agent.max_reloads is None else agent.max_reloads
