"""Cursors of paged lists: opaque and encrypted, valid for one list of one principal.

Owns the encryption. Any replica with the same key (`PLANNER_SECRET_KEY`) reads the cursors of another. Cursors are
not stored, so one may be used again and never expires.
"""

from collections.abc import Sequence
from typing import Final, TypeVar

import mcp_types as types

from planner_mcp.errors import Fault, StoreError, input_error
from planner_mcp.jobs.store.security.encryption import SecretCipher
from planner_mcp.server.mcp.request_context import Context, principal_in

T = TypeVar("T")
PAGE: Final = 50
"""Entries of a page; more than there are tools."""


class Cursors:
    """Makes and reads cursors.

    Args:
        cipher: With the key of the deployment.
    """

    def __init__(self, cipher: SecretCipher) -> None:
        self._cipher = cipher

    def make(self, ctx: Context, place: str) -> str:
        """Return a cursor for a place in the list that a request asks for."""
        return self._cipher.encrypt(place, _owner(ctx))

    def read(self, ctx: Context, params: types.PaginatedRequestParams | None) -> str | None:
        """Return the place where the page that is asked for begins; None for the first page.

        Raises:
            InvalidParameterError: The cursor is forged, damaged, of another list, or of another principal.
        """
        if params is None or params.cursor is None:
            return None
        try:
            return self._cipher.decrypt(params.cursor, _owner(ctx))
        except StoreError as error:
            problem = "This cursor belongs to no page of this list."
            raise input_error([Fault("/cursor", problem, "nextCursor of the page before, or none")]) from error

    def page(
        self, ctx: Context, params: types.PaginatedRequestParams | None, items: Sequence[T]
    ) -> tuple[list[T], str | None]:
        """Return the page that is asked for of a list that is all in memory, and the cursor of the next."""
        start = int(self.read(ctx, params) or 0)
        end = start + PAGE
        return list(items[start:end]), self.make(ctx, str(end)) if end < len(items) else None


def _owner(ctx: Context) -> str:
    return f"cursor {ctx.method} {principal_in(ctx).id}"
