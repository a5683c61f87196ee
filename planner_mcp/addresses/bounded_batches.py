"""Resolves a batch of addresses in a process of its own (ADR 0036)."""

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from planner_mcp.addresses.place_data import place_data
from planner_mcp.addresses.street_register import located_by_register
from planner_mcp.addresses.structured_address import ResolvedAddress

PART_ROWS: Final = 100


def before_fork() -> None:
    """Read grammars and place data once, in the process that forks a child for each batch."""
    import planner_mcp.addresses.offline_resolver  # noqa: F401

    place_data()


def resolved_here(texts: Sequence[str], register: Path | None) -> list[ResolvedAddress]:
    """Return what each text says of a place.

    Args:
        register: The streets of a road extract, where the deployment has one.
    """
    from planner_mcp.addresses.offline_resolver import resolve_offline  # an idle server goes without grammars

    resolved = resolve_offline(texts)
    return resolved if register is None else located_by_register(register, resolved)


def resolved_in_parts(texts: Sequence[str], register: Path | None) -> list[bytes]:
    """Return what each text says of a place, pickled in parts, each of which is soon read."""
    resolved = resolved_here(texts, register)
    return [pickle.dumps(resolved[at : at + PART_ROWS]) for at in range(0, len(resolved), PART_ROWS)]
