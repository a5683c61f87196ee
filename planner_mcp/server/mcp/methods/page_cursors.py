"""Cursors of paged lists: opaque and encrypted, valid for one list of one principal.

Owns the encryption. Any replica with the same key (`PLANNER_SECRET_KEY`) reads the cursors of another. Cursors are
not stored, so one may be used again and never expires.
"""

from collections.abc import Sequence
from typing import Final, TypeVar

from planner_mcp.errors import Fault, StoreError, input_error
from planner_mcp.jobs.principals import Principal
from planner_mcp.server.auth.access_links import TextEncryption

T = TypeVar("T")
PAGE: Final = 50
"""Entries of a page; more than there are tools."""


class Cursors:
    """Makes and reads cursors.

    Args:
        encryption: With the key of the deployment.
    """

    def __init__(self, encryption: TextEncryption) -> None:
        self._encryption = encryption

    def make(self, method: str, principal: Principal, place: str) -> str:
        """Return a cursor for a place in a list."""
        return self._encryption.encrypt(place, _owner(method, principal))

    def read(self, method: str, principal: Principal, cursor: str) -> str:
        """Return the place.

        Raises:
            InvalidParameterError: Forged, damaged, of another list, or of another principal.
        """
        try:
            return self._encryption.decrypt(cursor, _owner(method, principal))
        except StoreError as error:
            problem = "This cursor belongs to no page of this list."
            raise input_error([Fault("/cursor", problem, "nextCursor of the page before, or none")]) from error

    def offset(self, method: str, principal: Principal, cursor: str | None) -> int:
        """Return where a page begins whose cursor is a number of items; 0 without one."""
        return int(self.read(method, principal, cursor)) if cursor is not None else 0

    def page(
        self, method: str, principal: Principal, items: Sequence[T], cursor: str | None, size: int = PAGE
    ) -> tuple[list[T], str | None]:
        """Return one page of a list that is all in memory, and the cursor of the next."""
        start = self.offset(method, principal, cursor)
        rest = len(items) - start - size
        following = self.make(method, principal, str(start + size)) if rest > 0 else None
        return list(items[start : start + size]), following


def _owner(method: str, principal: Principal) -> str:
    return f"cursor {method} {principal.id}"
