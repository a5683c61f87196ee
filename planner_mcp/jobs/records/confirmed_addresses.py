"""Addresses that a principal confirmed: what a text means to them from then on.

Owns the record and the interface of its store. A text is known by its digest: the store does not keep what was typed.
"""

import hashlib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from planner_mcp.addresses.structured_address import PlacePosition, StructuredAddress


def address_key(text: str) -> str:
    """Return the digest of an address text; width of characters, case, blanks and commas do not count."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return hashlib.sha256("".join(char for char in plain if char not in " ,\t\n").encode(errors="replace")).hexdigest()[
        :32
    ]


@dataclass(frozen=True, slots=True)
class ConfirmedAddress:
    """What a text means to a principal."""

    address: StructuredAddress
    position: PlacePosition | None


class ConfirmedAddressStore(Protocol):
    """Keeps confirmed addresses by principal."""

    async def confirm(self, principal_id: str, text: str, meant: ConfirmedAddress) -> None:
        """Keep what a text means to a principal, in place of an earlier meaning."""
        ...

    async def confirmed(self, principal_id: str, texts: Sequence[str]) -> Mapping[str, ConfirmedAddress]:
        """Return what is known of some texts, by text."""
        ...
