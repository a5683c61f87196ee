"""Test tools that answer, tell of progress and write log messages.

Owns the tools the suite needs of revisions before and after the handshake alike; those that ask the client something
are `asking`'s.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.jsonrpc import MISSING_REQUIRED_CLIENT_CAPABILITY

from tests.conformance.fixture_server.sample_content import answer, audio, embedded, image

PAUSE_S: Final = 0.05
"""Between two messages of one call, so that they travel apart."""
RECONNECT_S: Final = 0.2
"""How long the call goes on after its connection was closed."""

Context = ServerRequestContext[Any, Any]
Run = Callable[[Context, types.CallToolRequestParams], Awaitable[Any]]


async def simple_text(_ctx: Context, _params: types.CallToolRequestParams) -> types.CallToolResult:
    """Answer with text."""
    return answer("This is a simple text response for testing.")


async def one_image(_ctx: Context, _params: types.CallToolRequestParams) -> types.CallToolResult:
    """Answer with a picture."""
    return answer(image())


async def one_sound(_ctx: Context, _params: types.CallToolRequestParams) -> types.CallToolResult:
    """Answer with a sound."""
    return answer(audio())


async def one_resource(_ctx: Context, _params: types.CallToolRequestParams) -> types.CallToolResult:
    """Answer with an embedded resource."""
    return answer(embedded("test://embedded-resource", "This is an embedded resource content."))


async def mixed(_ctx: Context, _params: types.CallToolRequestParams) -> types.CallToolResult:
    """Answer with several kinds of content."""
    inside = embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json")
    return answer("Multiple content types test:", image(), inside)


async def failing(_ctx: Context, _params: types.CallToolRequestParams) -> types.CallToolResult:
    """Answer with a tool error."""
    return answer("This tool intentionally returns an error for testing", is_error=True)


async def logging(ctx: Context, _params: types.CallToolRequestParams) -> types.CallToolResult:
    """Write three log messages before the answer."""
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await _log(ctx, line)
        await anyio.sleep(PAUSE_S)
    return answer("Tool with logging executed successfully")


async def progress(ctx: Context, _params: types.CallToolRequestParams) -> types.CallToolResult:
    """Report progress three times before the answer."""
    for percent in (0, 50, 100):
        await ctx.session.report_progress(percent, 100, f"Completed step {percent} of 100")
        await anyio.sleep(PAUSE_S)
    return answer("Done")


async def reconnection(ctx: Context, _params: types.CallToolRequestParams) -> types.CallToolResult:
    """Close the connection in mid-call; the answer waits for whoever resumes the stream."""
    await _log(ctx, "Before the connection is closed")
    if ctx.close_sse_stream is not None:
        await ctx.close_sse_stream()
    await anyio.sleep(RECONNECT_S)
    await _log(ctx, "After it was closed")
    return answer("Reconnection test completed")


async def greet(_ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    """Answer at once, never as a task."""
    return answer(f"Hello, {(params.arguments or {}).get('name', '')}!")


async def echo_region(_ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    """Answer with the argument that a header repeats."""
    return answer(str((params.arguments or {}).get("region", "")))


async def needs_sampling(ctx: Context, _params: types.CallToolRequestParams) -> types.CallToolResult:
    """Refuse a client that did not declare sampling."""
    if not ctx.session.check_client_capability(types.ClientCapabilities(sampling=types.SamplingCapability())):
        data: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "This tool needs sampling.", data)
    return answer("The client can sample.")


async def _log(ctx: Context, line: str) -> None:
    await ctx.session.send_log_message("info", line, related_request_id=ctx.request_id)
