"""The filter of `subscriptions/listen`, and its form in the acknowledgement.

Owns the reading of the filter. Beside the core kinds it has `taskIds` of the tasks extension and, under the key of
our own extension, ids of jobs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import mcp_types as types

from planner_mcp.errors import Fault, input_error
from planner_mcp.server.mcp.notifications.resource_subscriptions import LISTS
from planner_mcp.server.mcp.notifications.watched_resources import MAX_WATCHED
from planner_mcp.text import Json

JOBS: Final = "planner-mcp/jobs"
"""Our extension, and its key in the filter: a list of job ids."""


@dataclass(frozen=True, slots=True)
class ListenFilter:
    """What a client asks for, or what the acknowledgement grants."""

    lists: tuple[str, ...] = ()
    """Of `tools`, `resources`, `prompts`."""
    uris: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()

    @classmethod
    def parse(cls, requested: types.SubscriptionFilter) -> "ListenFilter":
        """Return what was asked for.

        Raises:
            InvalidParameterError: A list is none, or all together are too long.
        """
        extra = requested.model_extra or {}
        flags = {
            "tools": requested.tools_list_changed,
            "resources": requested.resources_list_changed,
            "prompts": requested.prompts_list_changed,
        }
        found = cls(
            lists=tuple(kind for kind in LISTS if flags[kind]),
            uris=tuple(dict.fromkeys(requested.resource_subscriptions or ())),
            tasks=_ids(extra, "taskIds"),
            jobs=_ids(extra, JOBS),
        )
        if len(found.uris) + len(found.tasks) + len(found.jobs) > MAX_WATCHED:
            raise input_error([Fault("/notifications", "Too many things for one stream.", f"at most {MAX_WATCHED}")])
        return found

    def as_json(self) -> Json:
        """Return the filter as an acknowledgement spells it: only what it holds."""
        lists = {f"{kind}ListChanged": True for kind in self.lists}
        named = {"resourceSubscriptions": self.uris, "taskIds": self.tasks, JOBS: self.jobs}
        return lists | {key: list(names) for key, names in named.items() if names}


def _ids(extra: Json, key: str) -> tuple[str, ...]:
    found = extra.get(key) or []
    if not isinstance(found, Sequence) or isinstance(found, str) or not all(isinstance(each, str) for each in found):
        raise input_error([Fault(f"/notifications/{key.replace('/', '~1')}", "This is a list of ids.", "[text, …]")])
    return tuple(dict.fromkeys(found))
