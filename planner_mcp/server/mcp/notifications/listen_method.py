"""`subscriptions/listen` of revision 2026-07-28: one long answer with the notifications that a client asked for.

Owns the method: who may listen, and how many streams a principal has open. `listen_filter.py` reads what is asked
for, `listen_stream.py` sends it. Under the key of our own extension `planner-mcp/jobs` the events of jobs have their
usual form (SPEC J3), but two of them are named `notifications/jobs/progress` and `notifications/jobs/cancelled`,
because MCP uses the other names for something else. Ids that are unknown or belong to another principal are left out
of the acknowledgement.
"""

from typing import Any

import mcp_types as types

from planner_mcp.errors import ungrouped
from planner_mcp.jobs.principals import READ
from planner_mcp.server.http.concurrency_limits import StreamLimit
from planner_mcp.server.mcp.methods.task_methods import EXTENSION as TASKS
from planner_mcp.server.mcp.notifications.listen_filter import JOBS, ListenFilter
from planner_mcp.server.mcp.notifications.listen_stream import ListenSources, ListenStream
from planner_mcp.server.mcp.request_context import Context, require, require_scope
from planner_mcp.text import Json


class Listen:
    """Serves `subscriptions/listen`.

    Args:
        sources: The sources of its streams.
        streams: How many streams each principal has open here.
    """

    def __init__(self, sources: ListenSources, streams: StreamLimit) -> None:
        self._sources = sources
        self._streams = streams

    def install(self, server: Any) -> None:
        """Add the method to the SDK's server."""
        server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, self.listen)
        server.extensions[JOBS] = {}

    async def listen(self, ctx: Context, params: types.SubscriptionsListenRequestParams) -> Json:
        """Answer `subscriptions/listen`, at its end."""
        principal = require_scope(ctx, READ)
        requested = ListenFilter.parse(params.notifications)
        if requested.tasks:
            require(ctx, TASKS)
        with self._streams.counted(principal.id):
            stream = ListenStream(self._sources, ctx, principal)
            with ungrouped():
                await stream.run(requested)
        return {"resultType": "complete", "_meta": stream.meta}
