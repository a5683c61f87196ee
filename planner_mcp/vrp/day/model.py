"""The border model of a day: what a caller writes, after its schema has been checked.

Owns the fields, their defaults and their meaning. Reading is `day/fields.py`; faults are told by `day/faults.py`;
contradictions between fields are `checks/logic.py`; integers are made by `compile/compiler.py`. Amounts stay in the
caller's units, lengths are metres (or plane units), times are seconds after midnight of the planning date.
"""

from typing import Annotated, Any, Final, Literal

import numpy as np
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

from planner_mcp.vrp.day.fields import (
    Amount,
    Coordinate,
    Count,
    Day,
    Decimals,
    Duration,
    Factor,
    Identifier,
    Length,
    Matrix,
    Note,
    Pace,
    Price,
    Priority,
    Speed,
    Time,
    mistake,
    need_pair,
    need_pairs,
    need_some,
    told_briefly,
)
from planner_mcp.vrp.day.tables import Tables

_MAX_FIELDS: Final = 100
"""Fields of one object; none of the models has half as many."""
MAX_EXCLUSIONS: Final = 20_000
"""Lists of incompatible tickets; `checks/sizes.py` bounds the pairs they make."""

Briefly = WrapValidator(told_briefly)
Ids = Annotated[tuple[Identifier, ...], Field(max_length=20_000), Briefly]
Skills = Annotated[tuple[Identifier, ...], Field(max_length=100)]
Window = Annotated[tuple[Time, Time], BeforeValidator(need_pair)]
Windows = Annotated[tuple[Window, ...], Field(max_length=50), BeforeValidator(need_pairs)]


def _sensitive(*names: str) -> ConfigDict:
    """Return what declares fields that are masked for readers without `planner:sensitive` (SPEC R3)."""
    return ConfigDict(json_schema_extra={"x-sensitive-fields": list(names)})


class _Part(BaseModel):
    """An object of the scenario. Null stands for absent, save for the ends of an agent's route."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        if len(value) > _MAX_FIELDS:
            raise mistake(f"The object has {len(value)} fields.", f"at most {_MAX_FIELDS} fields")
        optional = {name for name, field in cls.model_fields.items() if not field.is_required()}
        keep = {"start_location", "end_location"}
        return {k: v for k, v in value.items() if v is not None or k not in optional or k in keep}


class Location(_Part):
    """A place: WGS-84 `lat`, `lon`, or plane `x`, `y`, or nothing but an id where matrices say the rest."""

    model_config = _sensitive("name", "address", "lat", "lon", "x", "y")

    id: Identifier
    lat: Coordinate | None = None
    lon: Coordinate | None = None
    x: Coordinate | None = None
    y: Coordinate | None = None
    name: Note | None = None
    address: Note | None = None


class Break(_Part):
    """A rest that starts between `earliest` and `latest`."""

    earliest: Time
    latest: Time
    duration_s: Duration


class Agent(_Part):
    """A vehicle with its driver. `name` and `phone` are the driver's; planning does not read them."""

    model_config = _sensitive("name", "phone", "fixed_cost", "cost_per_km", "cost_per_hour", "overtime_cost_per_hour")

    id: Identifier
    capacity: Amount
    start_location: Identifier | None = None
    end_location: Identifier | None = Field(None, description="null: ends at last ticket")
    shift_start: Time | None = None
    shift_end: Time | None = None
    fixed_cost: Price = 0.0
    cost_per_km: Price | None = None
    cost_per_hour: Price | None = None
    max_distance_km: Length | None = None
    max_distance_m: Length | None = None
    max_duration_s: Duration | None = None
    max_tickets: Count | None = None
    overtime_s: Duration = 0.0
    overtime_cost_per_hour: Price = 0.0
    breaks: Annotated[tuple[Break, ...], Field(max_length=10)] = ()
    reload_locations: Annotated[tuple[Identifier, ...], Field(max_length=20)] = ()
    max_reloads: Count | None = None
    skills: Skills = ()
    speed_factor: Factor = 1.0
    locked_tickets: Ids = Field((), description="served first, in this order")
    name: Note | None = None
    phone: Note | None = None


class Ticket(_Part):
    """A work order at a location. Planning does not read `name`, `address`, `phone` and `notes`."""

    model_config = _sensitive("name", "address", "phone", "notes", "penalty", "lateness_cost_per_hour", "switch_cost")

    id: Identifier
    location: Identifier
    demand: Amount
    kind: Literal["delivery", "pickup"] = "delivery"
    time_windows: Windows = Field((), description="[open, close] for start of service")
    soft_close: Time | None = None
    lateness_cost_per_hour: Price = 0.0
    service_time_s: Duration = 0.0
    setup_time_s: Duration = 0.0
    release_time: Time | None = None
    priority: Priority = 5
    penalty: Price | None = Field(None, description="cost of leaving it out")
    skills: Skills = ()
    agents: Ids | None = None
    not_agents: Ids = ()
    preferred_agent: Identifier | None = None
    switch_cost: Price = Field(0.0, description="cost of service by another than preferred_agent")
    pickup: Identifier | None = Field(None, description="id of the ticket where it is picked up")
    name: Note | None = None
    address: Note | None = None
    phone: Note | None = None
    notes: Note | None = None


class Rush(_Part):
    """Hours in which travel takes `factor` times as long; `end` itself is outside."""

    start: Time
    end: Time
    factor: Pace


class Travel(_Part):
    """How distances and times come about: from positions, as matrices, or asked of a road engine."""

    speed_kmh: Speed = 40.0
    detour: Factor = 1.0
    crs: Literal["wgs84", "gcj02", "bd09"] = "wgs84"
    distances: Matrix | None = None
    durations: Matrix | None = None
    matrix_locations: Ids | None = None
    matrix: Identifier | None = Field(None, description="id of uploaded matrices")
    router: Identifier | None = Field(None, description="road engine of this deployment, by name")
    rush_hours: Annotated[tuple[Rush, ...], Field(max_length=50)] = ()
    plane_speed: Speed = 1.0
    rounding: Literal["nearest", "floor", "ceil"] = "nearest"
    decimals: Decimals | None = None


class Group(_Part):
    """Tickets of which at most one, or all or none, are served."""

    model_config = _sensitive("penalty")

    kind: Literal["one_of", "all"]
    tickets: Ids
    penalty: Price | None = Field(None, description="one_of: cost of serving none")


class Options(_Part):
    """What holds for the whole day."""

    model_config = _sensitive("balance_cost_per_hour")

    backhaul: StrictBool = False
    balance_cost_per_hour: Price = 0.0


class Scenario(_Part):
    """A day of work."""

    name: Identifier
    planning_date: Day
    agents: Annotated[tuple[Annotated[Agent, Briefly], ...], BeforeValidator(need_some)]
    tickets: Annotated[tuple[Annotated[Ticket, Briefly], ...], BeforeValidator(need_some)]
    locations: Annotated[tuple[Annotated[Location, Briefly], ...], Field(max_length=20_000)] = ()
    depot: Identifier | None = Field(None, description="start and end of all agents")
    travel: Travel = Travel()
    groups: Annotated[tuple[Annotated[Group, Briefly], ...], Field(max_length=5000)] = ()
    incompatible: Annotated[tuple[Ids, ...], Field(max_length=MAX_EXCLUSIONS)] = Field(
        (), description="tickets never on one route"
    )
    options: Options = Options()
    _tables: Tables | None = PrivateAttr(None)

    @override
    def model_post_init(self, context: Any, /) -> None:
        """Take the tables that came along (`tables` of the context), or those written into the scenario."""
        self._tables = (context or {}).get("tables") or _by_value(self)

    @property
    def tables(self) -> Tables | None:
        """Tables of travel, where they are at hand."""
        return self._tables

    def with_tables(self, tables: Tables | None) -> "Scenario":
        """Return the same day with other tables at hand."""
        twin = self.model_copy()
        twin._tables = tables
        return twin

    @property
    def refers_to_tables(self) -> bool:
        """Whether travel is known only with tables that lie elsewhere."""
        return self.travel.matrix is not None or self.travel.router is not None


def _by_value(scenario: Scenario) -> Tables | None:
    """Return the matrices of the scenario itself; None where there are none, or they have no sound shape."""
    travel = scenario.travel
    rows = matrix_order(scenario)
    given = {name: table for name in ("distances", "durations") if (table := getattr(travel, name)) is not None}
    is_square = all(len(table) == len(rows) == len(row) for table in given.values() for row in table)
    if not given or not rows or not is_square or len(set(rows)) < len(rows):
        return None
    tables = {name: np.array(table, dtype=np.float64) for name, table in given.items()}
    return Tables(rows, **tables, provenance={"source": "matrices", "given": sorted(given)})


def matrix_order(scenario: Scenario) -> tuple[str, ...]:
    """Return the location ids of the rows of the scenario's own matrices."""
    named = scenario.travel.matrix_locations
    return tuple(place.id for place in scenario.locations) if named is None else named


def start_of(scenario: Scenario, agent: Agent) -> str | None:
    """Return where the agent's route starts; None where it starts at its first ticket."""
    return agent.start_location if "start_location" in agent.model_fields_set else scenario.depot


def end_of(scenario: Scenario, agent: Agent) -> str | None:
    """Return where the agent's route ends; None where it ends at its last ticket."""
    return agent.end_location if "end_location" in agent.model_fields_set else scenario.depot
