"""Addresses that a principal confirmed: what a text means to them from then on.

Owns the record. A text is known by its digest: the store does not keep what was typed.
"""

import hashlib
import unicodedata
from dataclasses import dataclass

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
