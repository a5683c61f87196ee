"""The three servers of `benchmarks.protocol`: the same tool, which returns its argument, behind different transports.

`python -m benchmarks.echo_servers ours|sdk PORT FOLDER`. The third, FastMCP, is `peers/fastmcp_echo.py`.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import anyio
import mcp_types as types
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Route

from planner_mcp.app import open_application
from planner_mcp.http_app import open_streamable_http
from planner_mcp.server.http.bodies.body_intake import BodyIntake
from planner_mcp.server.http.slow_clients import SlowClientProtocol
from planner_mcp.settings import Settings

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
}
OUTPUT: Final[dict[str, Any]] = SCHEMA


class Echo:
    """A tool handler with one tool."""

    def input_schema(self, _name: str) -> Mapping[str, Any] | None:
        """Return the schema of the tool."""
        return SCHEMA

    async def list_tools(self, _ctx: Any, _params: Any) -> types.ListToolsResult:
        """Answer `tools/list`."""
        return types.ListToolsResult(tools=[types.Tool(name="echo", input_schema=SCHEMA, output_schema=OUTPUT)])

    async def call_tool(self, _ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Answer `tools/call`."""
        echoed = (params.arguments or {})["text"]
        words = [types.TextContent(type="text", text=echoed)]
        return types.CallToolResult(content=list(words), structured_content={"text": echoed})


@asynccontextmanager
async def ours(folder: Path) -> AsyncIterator[Starlette]:
    """Yield our front, with every layer of the kernel and sessions in the embedded store, around that tool."""
    drain, echo_tool = anyio.Event(), Echo()
    async with open_application(Settings(data_dir=folder), drain) as services:
        services.kernel.add(_Instead(echo_tool))
        async with open_streamable_http(services, drain) as mcp_endpoint:
            yield Starlette(routes=[Route("/mcp", BodyIntake(mcp_endpoint, services.settings, {}))])


class _Instead:
    def __init__(self, echo_tool: Echo) -> None:
        self._echo_server = echo_tool

    def install(self, server: Any) -> None:
        """Put the tool in place of the product's."""
        server.get_tool_input_schema = self._echo_server.input_schema
        server.add_request_handler("tools/list", types.PaginatedRequestParams, self._echo_server.list_tools)
        server.add_request_handler("tools/call", types.CallToolRequestParams, self._echo_server.call_tool)


@asynccontextmanager
async def sdk(_folder: Path) -> AsyncIterator[Starlette]:
    """Yield the SDK's own transport with its own sessions, in memory, around that tool."""
    echo_tool = Echo()
    server: Server[Any] = Server(
        "echo",
        get_tool_input_schema=echo_tool.input_schema,
        on_list_tools=echo_tool.list_tools,
        on_call_tool=echo_tool.call_tool,
    )
    manager = StreamableHTTPSessionManager(server)

    class PrincipalHeader:
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await manager.handle_request(scope, receive, send)

    async with manager.run():
        yield Starlette(routes=[Route("/mcp", PrincipalHeader())])


async def main(which: str, port: int, folder: Path) -> None:
    """Serve until killed."""
    async with (ours if which == "ours" else sdk)(folder) as app:
        http: Any = SlowClientProtocol if which == "ours" else "h11"
        config = uvicorn.Config(app, port=port, http=http, ws="none", lifespan="off", log_config=None, access_log=False)
        await uvicorn.Server(config).serve()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])))
