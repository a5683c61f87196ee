"""`logging/setLevel` and `notifications/message`: log messages of a call (SPEC X2).

Owns the levels. A handshake client sets one for its session, at any replica; in 2026-07-28 a request names its level
(`_meta`, `io.modelcontextprotocol/logLevel`). A client that asked for no level receives nothing. A message holds
ids, codes and fixed sentences of the server.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, get_args

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult
from mcp_types import LOG_LEVEL_META_KEY
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from planner_mcp.jobs.store.sessions.elicitation_store import ElicitationStore
from planner_mcp.server.mcp.request_context import Context, session_of
from planner_mcp.text import Json

LEVELS: Final[tuple[types.LoggingLevel, ...]] = get_args(types.LoggingLevel)
"""From the least severe on."""
LOGGER: Final = "planner"
_IDS: Final = ("scenario_id", "job_id", "plan_id")


class LogNotifications:
    """Sends log messages to clients that set a level.

    Args:
        levels: Where sessions keep their level.
    """

    def __init__(self, levels: ElicitationStore) -> None:
        self._levels = levels
        self._own_level = ""
        """Of the one client of a process that speaks stdio."""

    def install(self, server: Any) -> None:
        """Add the method and the layer around `tools/call` to the SDK's server."""
        server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, self.set_level)
        server.middleware.append(self._layer)

    async def set_level(self, ctx: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
        """Answer `logging/setLevel`."""
        if (session_id := session_of(ctx)) is not None:
            await self._levels.set_level(session_id, params.level)
        else:
            self._own_level = params.level
        return types.EmptyResult()

    async def _layer(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method == "tools/call" and isinstance(result, dict) and (wanted := await self._wanted(ctx)) in LEVELS:
            tool = str((ctx.params or {}).get("name"))
            for level, data in log_lines(tool, result):
                if LEVELS.index(level) >= LEVELS.index(wanted):
                    await _send(ctx, level, data)
        return result

    async def _wanted(self, ctx: Context) -> Any:
        """Return the least severe level a client wants, something that is no level for none."""
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return ((ctx.params or {}).get("_meta") or {}).get(LOG_LEVEL_META_KEY)
        session_id = session_of(ctx)
        return await self._levels.level(session_id) if session_id is not None else self._own_level


def log_lines(tool: str, result: Mapping[str, Any]) -> Iterator[tuple[types.LoggingLevel, Json]]:
    """Yield what is worth logging of a tool's answer: its error, its warnings, and that it was called."""
    body = result.get("structuredContent") or {}
    fields = {"tool": tool, **{name: body[name] for name in _IDS if name in body}}
    if result.get("isError"):
        yield (
            "error",
            {**fields, **{name: body[name] for name in ("code", "type", "message", "traceId") if name in body}},
        )
        return
    for warning in body.get("warnings") or ():
        yield "warning", {**fields, "message": warning}
    status = {"status": body["status"]} if "status" in body else {}
    yield "info", {**fields, **status, "message": f"{tool} done"}


async def _send(ctx: Context, level: types.LoggingLevel, data: Json) -> None:
    """Send a message on the stream of the request."""
    params = types.LoggingMessageNotificationParams(level=level, data=data, logger=LOGGER)
    await ctx.session.send_notification(types.LoggingMessageNotification(params=params), ctx.request_id)
