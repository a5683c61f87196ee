"""What of a plan its reader has already: `read_view` sends a route once.

Owns the position that a reader sends back: the last event it was told of, then a digest of each route it holds, in
their order. A route that the reader holds is answered by its place among those, so nothing is kept between calls, any
replica can answer, and a reader without a position gets everything.
"""

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final

from planner_mcp.errors import Fault, input_error
from planner_mcp.jobs.job_events import position_key
from planner_mcp.text import compact

Json = dict[str, Any]
MAX_ROUTES: Final = 1000
"""Of a plan with more, each change is sent whole."""
_DIGEST_BYTES: Final = 9
"""A reader compares some thousand routes with each other, never with those of strangers."""
_DIGEST: Final = re.compile(r"[A-Za-z0-9_-]{12}")
MAX_LENGTH: Final = 41 + MAX_ROUTES * 12
"""Characters of the longest position: an event id, a dot, the digests."""


@dataclass(frozen=True, slots=True)
class ViewPosition:
    """How far a reader has come."""

    event_id: str
    digests: tuple[str, ...] = ()
    """Of the routes that it holds, in their order."""

    @staticmethod
    def parse(text: str, path: str) -> "ViewPosition":
        """Return the position that a text says.

        Raises:
            InputError: It is none.
        """
        event_id, dot, rest = text.partition(".")
        position_key(event_id, path)
        digests = tuple(_DIGEST.findall(rest))
        if "".join(digests) != rest or bool(dot) != bool(digests):
            raise input_error([Fault(path, "The position is not one of this server's.", "position of an answer")])
        return ViewPosition(event_id, digests)

    def __str__(self) -> str:
        return f"{self.event_id}.{''.join(self.digests)}" if self.digests else self.event_id

    def at(self, event_id: str) -> "ViewPosition":
        """Return the position of a reader that holds the same routes after another event."""
        return replace(self, event_id=event_id)

    def with_plan(self, plan: Json) -> "tuple[ViewPosition, Json]":
        """Return the position behind a plan, and the plan with the place of each route that the reader holds."""
        digests = [_digest(route) for route in plan["routes"]]
        held = {digest: at for at, digest in enumerate(self.digests)}
        routes = [held.get(digest, route) for digest, route in zip(digests, plan["routes"], strict=True)]
        return replace(self, digests=_bounded(digests)), {**plan, "routes": routes}


def _bounded(digests: Sequence[str]) -> tuple[str, ...]:
    return tuple(digests) if len(digests) <= MAX_ROUTES else ()


def _digest(route: Json) -> str:
    return base64.urlsafe_b64encode(blake2b(compact(route).encode(), digest_size=_DIGEST_BYTES).digest()).decode()
