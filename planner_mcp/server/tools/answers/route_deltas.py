"""What of a plan its reader has already: `read_view` sends a route once, and what is left out when it is another.

Owns the position that a reader sends back: the last event it has read, then a digest of the tickets left out in the
plan that it holds, and one of each route, in their order. A route that the reader holds is answered by its place among
those, so nothing is kept between calls, any replica can answer, and a reader without a position gets everything.
"""

import base64
import re
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final

from planner_mcp.errors import Fault, input_error
from planner_mcp.jobs.job_events import position_key
from planner_mcp.routing.plan import PlanJson
from planner_mcp.text import Json, compact

MAX_ROUTES: Final = 1000
"""Of a plan with more, each change is sent whole."""
_DIGEST_BYTES: Final = 9
"""A reader compares some thousand routes with each other, never with those of strangers."""
_DIGEST: Final = re.compile(r"[A-Za-z0-9_-]{12}")
MAX_LENGTH: Final = 41 + (1 + MAX_ROUTES) * 12
"""Characters of the longest position: an event id, a dot, the digests."""


@dataclass(frozen=True, slots=True)
class ViewPosition:
    """How far a reader has come."""

    event_id: str
    digests: tuple[str, ...] = ()
    """Of the plan that it holds: of what is unassigned, then of the routes, in their order."""

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

    def with_plan(self, plan: PlanJson) -> "tuple[ViewPosition, Json]":
        """Return the position behind a plan, and the plan as it is sent.

        A route that the reader holds is its place there; `unassigned` is absent where the reader holds the same.
        """
        unassigned, digests = _digest(plan["unassigned"]), [_digest(route) for route in plan["routes"]]
        held = {digest: at for at, digest in enumerate(self.digests[1:])}
        routes = [held.get(digest, route) for digest, route in zip(digests, plan["routes"], strict=True)]
        is_held = self.digests[:1] == (unassigned,)
        sent = {name: value for name, value in plan.items() if name != "unassigned" or not is_held}
        known = (unassigned, *digests) if len(digests) <= MAX_ROUTES else ()
        return replace(self, digests=known), {**sent, "routes": routes}


def _digest(part: Any) -> str:
    return base64.urlsafe_b64encode(blake2b(compact(part).encode(), digest_size=_DIGEST_BYTES).digest()).decode()
