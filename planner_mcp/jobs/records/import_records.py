"""What a principal keeps for its imports: mappings of columns by name, and files on their way (SPEC T5).

Owns the records. A mapping is data: which header is which field. Nothing of it is run.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from planner_mcp.text import Json

MAX_MAPPINGS: Final = 100
"""Mappings of one principal."""
MAX_SAMPLE: Final = 4000
"""Characters of a table that are kept with a mapping: its header and the first rows."""
MAX_FILES: Final = 10
"""Uploaded files of one principal at a time."""


@dataclass(frozen=True, slots=True)
class StoredMapping:
    """A mapping that has a name."""

    headers: tuple[str, ...]
    """Of the tables it was made for, in the order of the alphabet; it is proposed again for exactly these."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Field by header; an empty field leaves the column out."""
    decimal: str = ""
    sample: str = ""
    """Header and first rows, for examples and to try later versions on."""
    has_failed: bool = False
    """Whether the sample could not be imported: it is kept to be corrected, and never proposed."""

    def as_json(self) -> Json:
        """Return the record as it is stored."""
        return {**asdict(self), "headers": list(self.headers)}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "StoredMapping":
        """Return a record that was stored."""
        return cls(**{**record, "headers": tuple(record["headers"])})


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file on its way into a scenario."""

    data: bytes
    is_confidential: bool
    """Whether it was uploaded with `planner:sensitive`: without the scope nothing of it may be shown (ADR 0035)."""
