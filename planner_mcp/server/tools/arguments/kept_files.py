"""What a principal keeps for its imports: mappings of columns, and the file that a call names (SPEC T5).

Owns how both are found: by the event loop, or for a process that reads arguments which are still text and asks its
caller.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from planner_mcp.bounded_calls.call_server import ask_caller
from planner_mcp.errors import NotFoundError
from planner_mcp.jobs.job_ports import ImportStore
from planner_mcp.jobs.principals import SENSITIVE, Principal
from planner_mcp.jobs.records.import_records import StoredMapping

MAX_FILE_NAME: Final = 500


@dataclass(frozen=True, slots=True)
class Kept:
    """What the principal keeps, for a file that is read apart."""

    known: Mapping[str, StoredMapping] = field(default_factory=dict)
    """Mappings by name."""
    uploaded: bytes | None = None
    """The file that the call names, where it was uploaded."""
    files_dir: Path | None = None


@dataclass(frozen=True, slots=True)
class KeptQuestion:
    """The file that a process for one call has found in its arguments, and asks its caller for."""

    file: str | None


def kept_apart(file: str | None) -> Kept:
    """Return what the principal keeps; in a process of its own, whose caller answers by `find_kept`."""
    kept: Kept = ask_caller(KeptQuestion(file))
    return kept


async def find_kept(imports: ImportStore, principal: Principal, files_dir: Path | None, file: str | None) -> Kept:
    """Return what a principal keeps: its mappings, and the upload that a call names.

    Raises:
        ForbiddenError: The upload holds what is masked from the principal.
    """
    known, uploaded = await imports.mappings(principal.id), None
    if file is not None:
        with suppress(NotFoundError):
            kept = await imports.file(principal.id, file)
            if kept.is_confidential:  # what is made of it, and every fault of it, would reveal what is masked
                principal.require(SENSITIVE, what="A file that was uploaded with it")
            uploaded = kept.data
    return Kept(dict(known), uploaded, files_dir)
