"""One replica of the protocol edge in this process, with a tool that is only slow."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server.context import ServerRequestContext
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from planner_mcp.jobs.principals import Principal
from planner_mcp.jobs.store.events.channel_notifier import ChannelNotifier
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.sessions.session_store import SessionStore
from planner_mcp.server.http.bodies.body_intake import BodyIntake
from planner_mcp.server.http.concurrency_limits import StreamLimit
from planner_mcp.server.mcp.jsonrpc.http_envelope import validation_refusal
from planner_mcp.server.mcp.kernel import Kernel
from planner_mcp.server.mcp.transports.stateless_http import StatelessHttpTransport
from planner_mcp.server.mcp.transports.streamable_http import StreamableHttpTransport
from planner_mcp.settings import Settings


class SlowToolHandler:
    """One tool: `count` counts to `to`, tells each number as progress, and waits for `gate` if asked.

    What became of its calls stands in `ended`.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.begun = anyio.Event()
        self.gate = anyio.Event()
        self.over = anyio.Event()
        self.ended: list[str] = []

    def install(self, server: Any) -> None:
        server.add_request_handler("tools/list", types.PaginatedRequestParams, self.list_tools)
        server.add_request_handler("tools/call", types.CallToolRequestParams, self.call_tool)

    async def list_tools(self, _ctx: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name="count", input_schema={"type": "object"})])

    async def call_tool(
        self, ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        if params.name == "broken":
            raise RuntimeError("/secret/path")
        args = params.arguments or {}
        self.begun.set()
        try:
            for number in range(1, args.get("to", 0) + 1):
                await ctx.session.report_progress(number, args["to"], "counting")
                await anyio.sleep(args.get("pause_s", 0))
            if args.get("wait"):
                await self.gate.wait()
        except asyncio.CancelledError:
            self.ended.append("cancelled")
            self.over.set()
            raise
        self.ended.append("answered")
        self.over.set()
        return types.CallToolResult(
            content=[types.TextContent(type="text", text="done")], structured_content={"counted": args.get("to", 0)}
        )


@dataclass
class Replica:
    """One server of the edge in this process."""

    url: str
    streamable_http: StreamableHttpTransport
    tool_handler: SlowToolHandler
    server: uvicorn.Server


async def _nothing(_session_id: str, _principal: Principal) -> None:
    """Forward nothing: sessions of this replica subscribe to nothing."""


Two = tuple[Replica, Replica]


@contextlib.asynccontextmanager
async def replica(store: RedisStore, max_streams: int = 8, grace_s: float = 16.0) -> AsyncIterator[Replica]:
    """Run a replica on a free port. `x-principal` stands in for what authorization would prove."""
    tool_handler, notifier = SlowToolHandler(), ChannelNotifier(store.redis)
    kernel = Kernel([tool_handler])
    async with kernel.sdk_entry(1 << 20) as sdk:
        streams = StreamLimit(max_streams)
        streamable_http = StreamableHttpTransport(
            kernel,
            SessionStore(store.redis),
            notifier,
            stateless=StatelessHttpTransport(kernel, sdk, streams=streams),
            drain=anyio.Event(),
            streams=streams,
            forward_events=_nothing,
            grace_s=grace_s,
        )
        notifier.on_cancel(streamable_http.cancelled)
        intake = BodyIntake(streamable_http, Settings(), {"/mcp": validation_refusal})

        class PrincipalHeader:
            async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
                if name := Request(scope).headers.get("x-principal"):
                    scope.setdefault("state", {})["principal"] = Principal(name)
                await intake(scope, receive, send)

        listener = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(
            Starlette(routes=[Route("/mcp", PrincipalHeader())]), http="h11", log_config=None, lifespan="off", ws="none"
        )
        server = uvicorn.Server(config)
        server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign]
        async with contextlib.AsyncExitStack() as stack:
            for work in (notifier.run(), server.serve(sockets=[listener])):
                stack.push_async_callback(_stop, asyncio.create_task(work))
            while not server.started:  # noqa: ASYNC110 uvicorn has no event for it
                await anyio.sleep(0.005)
            async with streamable_http.running():
                try:
                    yield Replica(
                        f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", streamable_http, tool_handler, server
                    )
                finally:
                    streamable_http.drain.set()
                    server.should_exit = True


async def _stop(task: asyncio.Task[None]) -> None:
    if task.get_coro().__qualname__.startswith("ChannelNotifier"):  # type: ignore[union-attr]
        task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
