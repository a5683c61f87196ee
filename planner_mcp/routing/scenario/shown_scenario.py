"""The JSON of a scenario as its readers take it: what pictures, pages, tables and exports read, with its types.

Owns these keys and nothing at run time: a type checker holds every reader against them, and a test holds them against
the schema of `Scenario`. A reader has no `Scenario`: it may be shown a masked form, in which a text is `***` and a
price null, and an export takes files of older versions. Fields that nothing reads in this form are left out.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Required, TypedDict, cast

AmountJson = float | Mapping[str, float]
"""A number, or numbers by dimension."""
TimeJson = str | float
"""`08:30`, an ISO 8601 time, or seconds after midnight of the planning date."""


class ShownResolvedPosition(TypedDict):
    """How a position was found from an address."""

    accuracy: str


class ShownLocation(TypedDict, total=False):
    """A location; a masked position is rounded."""

    id: Required[str]
    lat: float | None
    lon: float | None
    x: float | None
    y: float | None
    name: str | None
    address: str | None
    resolved: ShownResolvedPosition | None


class ShownAgent(TypedDict, total=False):
    """An agent; masked prices are null."""

    id: Required[str]
    capacity: AmountJson
    cost_per_km: float | None
    cost_per_hour: float | None
    name: str | None
    phone: str | None


class ShownTicketFields(TypedDict, total=False):
    """What a ticket says beside its id and its place; empty for a stop without a ticket."""

    demand: AmountJson
    kind: str | None
    time_windows: Sequence[Sequence[TimeJson]] | None
    service_time_s: float | None
    setup_time_s: float | None
    release_time: TimeJson | None
    soft_close: TimeJson | None
    lateness_cost_per_hour: float | None
    priority: int | None
    penalty: float | None
    skills: Sequence[str] | None
    agents: Sequence[str] | None
    not_agents: Sequence[str] | None
    preferred_agent: str | None
    switch_cost: float | None
    pickup: str | None
    name: str | None
    address: str | None
    phone: str | None
    notes: str | None


class ShownTicket(ShownTicketFields):
    """A ticket. One that has an address alone is given its location before it is stored."""

    id: str
    location: str


class ShownTravel(TypedDict, total=False):
    """What the source of distances and times says of positions."""

    crs: str | None


class ShownOptions(TypedDict, total=False):
    """Settings of the whole scenario."""

    currency: str | None


class ShownScenario(TypedDict, total=False):
    """A scenario."""

    name: Required[str]
    planning_date: Required[str]
    agents: Required[Sequence[ShownAgent]]
    tickets: Required[Sequence[ShownTicket]]
    locations: Sequence[ShownLocation] | None
    travel: ShownTravel | None
    options: ShownOptions | None


NO_TICKET: ShownTicketFields = {}
"""Of a stop without a ticket."""


def as_shown(body: Mapping[str, Any]) -> ShownScenario:
    """Return the JSON of a scenario as its readers take it; it is neither copied nor checked."""
    return cast(ShownScenario, body)
