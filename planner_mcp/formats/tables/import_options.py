"""The reading of a file of another program: what is asked of it, and what comes of it (SPEC T5)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from planner_mcp.errors import Fault
from planner_mcp.formats.tables.cells.cell_text import Decimal
from planner_mcp.formats.tables.columns.column_mapping import IN_COLUMNS, MAX_HEADER_SHOWN, ColumnMapping
from planner_mcp.formats.tables.sheets.source_rows import SourceRows, in_file
from planner_mcp.formats.tables.sheets.text_tables import Table
from planner_mcp.routing.scenario.checks.position_checks import SWAP, SWAP_END
from planner_mcp.routing.scenario.scenario_body import ScenarioBody
from planner_mcp.text import Json, plain

Form = Literal["csv", "xlsx", "geojson", "vroom", "vrplib", "solomon", "li_lim"]


@dataclass(frozen=True, slots=True)
class KnownMapping:
    """A mapping of an earlier file."""

    name: str
    headers: frozenset[str]
    """Of all its tables: it is used for exactly these."""
    columns: Mapping[str, str]
    decimal: str = ""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What the file does not say itself."""

    name: str
    planning_date: str
    """Empty: the one that rows of a table name, where it is one for all, else `default_date`."""
    depot: str = ""
    """Where all agents start and end: `lat,lon` or a location. For tables, as all that follows."""
    depot_name: str = field(default="Depot", kw_only=True)
    """What a depot given as `lat,lon` is called, in the language of the reader."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Field by header, of tickets or agents, where the proposal is wrong."""
    sheet: str = ""
    agents: tuple[Json, ...] = ()
    """Agents of the day, instead of those of a file."""
    fleet: Table | None = None
    """Agents of the day as a table, instead of those of a file."""
    default_agents: tuple[Json, ...] = ()
    """Agents of a table where nobody named any."""
    decimal: Decimal = ""
    """The mark before decimals, where the file does not show it."""
    default_date: str = ""
    known_mappings: tuple[KnownMapping, ...] = ()
    """Mappings of earlier files, the preferred one first."""


@dataclass(frozen=True, slots=True)
class ImportedScenario:
    """A day that was read."""

    body: ScenarioBody
    proposals: dict[str, ColumnMapping]
    """What the columns of `tickets` and of `agents` were taken for, where the file was a table."""
    assumptions: list[str]
    origins: SourceRows = field(default_factory=dict)
    """The rows of the day, where the file was a table."""

    def in_file(self, fault: Fault) -> Fault | None:
        """Return a fault of the day as one of the file or of a wish; None where its place is in neither."""
        return in_file(replace(fault, hint=self._with_headers(fault.hint)), self.origins)

    def _with_headers(self, hint: str) -> str:
        """Return a hint to swap lat and lon with the headers of these columns, which may be exchanged."""
        fields = self.proposals["tickets"].fields if "tickets" in self.proposals else {}
        axes = {name: plain(header, MAX_HEADER_SHOWN) for header, name in fields.items() if name in ("lat", "lon")}
        if hint not in (SWAP, SWAP_END) or len(axes) < 2:
            return hint
        lat, lon = axes["lat"], axes["lon"]
        return (
            f'Swap lat and lon; if their headers are exchanged, name them {IN_COLUMNS}: "{lat}" as lon, "{lon}" as lat.'
        )
