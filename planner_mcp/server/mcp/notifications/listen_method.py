"""`subscriptions/listen` of revision 2026-07-28: one long answer that tells what a client asked to hear.

Owns the method: who may listen, and how many streams a principal has open. What is asked for is `listen_filter`'s, the
telling `listen_stream`'s. Under the key of our own extension `planner-mcp/jobs` the events of jobs are told as
everywhere (SPEC J3); two of those have names that MCP uses for something else, so here they are
`notifications/jobs/progress` and `notifications/jobs/cancelled`. Ids that are unknown or somebody else's are left out
of the acknowledgement.
"""

from typing import Any

import mcp_types as types

from planner_mcp.errors import PlannerError
from planner_mcp.jobs.principals import READ
from planner_mcp.server.http.concurrency_limits import StreamLimit
from planner_mcp.server.mcp.methods.task_methods import EXTENSION as TASKS
from planner_mcp.server.mcp.notifications.listen_filter import JOBS, ListenFilter
from planner_mcp.server.mcp.notifications.listen_stream import ListenSources, ListenStream
from planner_mcp.server.mcp.request_context import Context, require, require_scope


class Listen:
    """Serves `subscriptions/listen`.

    Args:
        sources: Where its streams look.
        streams: How many streams each principal has open here.
    """

    def __init__(self, sources: ListenSources, streams: StreamLimit) -> None:
        self._sources = sources
        self._streams = streams

    def install(self, server: Any) -> None:
        """Add the method to the SDK's server."""
        server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, self.listen)
        server.extensions[JOBS] = {}

    async def listen(self, ctx: Context, params: types.SubscriptionsListenRequestParams) -> dict[str, Any]:
        """Answer `subscriptions/listen`, at its end."""
        principal = require_scope(ctx, READ)
        requested = ListenFilter.parse(params.notifications)
        if requested.tasks:
            require(ctx, TASKS)
        self._streams.check(principal.id)
        with self._streams.counted(principal.id):
            stream = ListenStream(self._sources, ctx, principal)
            try:
                await stream.run(requested)
            except ExceptionGroup as group:
                raise _cause(group) from group
        return {"resultType": "complete", "_meta": stream.meta}


def _cause(group: ExceptionGroup) -> Exception:
    """Return what ended a stream: the first error of the planner's own, else all that happened."""
    ours, _others = group.split(PlannerError)
    error: Exception = group if ours is None else ours
    while isinstance(error, ExceptionGroup) and ours is not None:
        error = error.exceptions[0]
    return error
