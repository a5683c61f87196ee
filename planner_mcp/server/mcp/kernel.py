"""The official SDK, wrapped: one server that validates and dispatches every revision.

The only importer of the SDK's runner and connection. Owns capabilities, cache hints, the error boundary of handlers,
and the entry points: `answer` for one request over HTTP, with or without a session; `sdk_entry` for everything else
that may be posted without a session; `serve_stdio`. Handlers are in `methods` and `notifications`.
"""

import logging
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

from mcp.server.caching import CacheHint
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import Server
from mcp.server.runner import ServerRunner
from mcp.server.streamable_http import check_accept_headers
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import x_mcp_header_map
from mcp_types.version import LATEST_HANDSHAKE_VERSION
from pydantic import ValidationError
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

import planner_mcp
from planner_mcp.errors import Fault, InputError, PlannerError, input_error
from planner_mcp.server.mcp.client_requests import ClientRequests
from planner_mcp.server.mcp.dispatch_context import DispatchContext, Emit, ReleaseConnection, RequestClient
from planner_mcp.server.mcp.jsonrpc import jsonrpc_errors
from planner_mcp.server.mcp.jsonrpc.sdk_errors import with_error_data
from planner_mcp.server.mcp.jsonrpc.stdio_messages import stdio_message_streams
from planner_mcp.server.mcp.request_context import Context, session_in_scope
from planner_mcp.server.tools.tool_registry import OFFERS, ServerOffer
from planner_mcp.telemetry import new_trace_id, trace_context, trace_id
from planner_mcp.text import Json
from planner_mcp.translation import Language, translated

LIST_TTL_MS: Final = 300_000
"""How long a client may reuse a list."""
UNION_MEMBERS: Final = frozenset({"str", "int"})
"""What pydantic appends to the place of a value that may be either, as a progress token; no place in the message."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Peer:
    """The other side of a handshake session."""

    version: str = LATEST_HANDSHAKE_VERSION
    client: Mapping[str, Any] | None = None
    """Parameters of its `initialize`; None before that."""

    def connection(self) -> Connection:
        """Return the SDK's view of the session, built anew for one message."""
        client = self.client or {}
        return Connection.from_envelope(self.version, client.get("clientInfo"), client.get("capabilities"))


class ServerFeature(Protocol):
    """Something the server does, such as listing and calling its tools."""

    def install(self, server: Server[Json]) -> None:
        """Add methods, layers and capabilities."""
        ...


class Kernel:
    """The MCP server behind every transport.

    Args:
        features: What it does; each adds its own methods.
        offer: Its name, and what it offers its clients.
        language: Of its instructions.
        client_requests: How handshake clients are asked; None where there is no way.
    """

    def __init__(
        self,
        features: Sequence[ServerFeature],
        offer: ServerOffer = OFFERS["planner"],
        language: Language = "en",
        client_requests: ClientRequests | None = None,
    ) -> None:
        self._server: Server[Json] = Server(
            offer.name,
            version=planner_mcp.__version__,
            title=offer.title,
            description=offer.description,
            instructions=translated(offer.instructions, language),
            cache_hints={"tools/list": CacheHint(LIST_TTL_MS, "private"), "server/discover": CacheHint(LIST_TTL_MS)},
        )
        self._client_requests = client_requests
        # instead of the SDK's spans, which would go on with a trace that the client names
        self._server.middleware[:] = [_error_middleware]
        for feature in features:
            self.add(feature)

    def add(self, feature: ServerFeature) -> None:
        """Let a feature add its methods, over those that are there."""
        feature.install(self._server)

    async def answer(
        self,
        request: Mapping[str, Any],
        peer: Peer,
        *,
        http: Request,
        emit: Emit,
        release: ReleaseConnection | None = None,
    ) -> tuple[Json, Peer]:
        """Answer one request.

        Args:
            request: The JSON-RPC request, well-formed.
            peer: Who asks, and in which revision.
            http: The HTTP request that carried it.
            emit: Sends a notification to the caller before the answer.
            release: Ends the connection that carries the answer; its client then resumes the stream.

        Returns:
            The JSON-RPC response, and the peer as it stands after it (`initialize` fills it).
        """
        params = request.get("params")
        channel = DispatchContext(
            http, emit, request["id"], _progress_token(params), release, ask=self._client_request_sender(http, emit)
        )
        connection = peer.connection()
        try:
            with self._runner(connection) as runner:
                result = await runner.on_request(channel, request["method"], params)
        except MCPError as error:
            return _error(request["id"], error), peer
        if request["method"] == "initialize":
            peer = Peer(connection.protocol_version, dict(params or {}))
        return {"jsonrpc": "2.0", "id": request["id"], "result": result}, peer

    def _client_request_sender(self, http: Request, emit: Emit) -> RequestClient | None:
        session_id = session_in_scope(http.scope)
        if self._client_requests is None or session_id is None:
            return None
        return partial(self._client_requests.ask, session_id, emit)

    async def take_response(self, session_id: str, response: Mapping[str, Any]) -> None:
        """Take a client's answer to something it was asked, perhaps on another replica."""
        if self._client_requests is not None:
            await self._client_requests.take_response(session_id, response)

    async def take_notification(
        self, notification: Mapping[str, Any], peer: Peer, *, http: Request, emit: Emit
    ) -> None:
        """Take one notification of a handshake session."""
        with self._runner(peer.connection()) as runner:
            await runner.on_notify(DispatchContext(http, emit), notification["method"], notification.get("params"))

    @contextmanager
    def _runner(self, connection: Connection) -> Iterator[ServerRunner[Json]]:
        """Yield what takes one message. We attach nothing to the connection, so it needs no close."""
        runner = ServerRunner(self._server, connection, {})
        try:
            yield runner
        finally:
            for name in ("on_request", "on_notify"):  # cached, they hold the runner: a reference cycle per message
                vars(runner).pop(name, None)

    def has_header_arguments(self, tool: Any) -> bool:
        """Return whether a client of 2026-07-28 repeats arguments of a tool in headers (`x-mcp-header`)."""
        schema_of = self._server.get_tool_input_schema
        schema = schema_of(tool) if schema_of is not None and isinstance(tool, str) else None
        return schema is not None and bool(x_mcp_header_map(schema))

    @asynccontextmanager
    async def sdk_entry(self, max_body_bytes: int) -> AsyncIterator[ASGIApp]:
        """Yield the SDK's own entry for revisions without handshake; callers route only those here."""
        manager = StreamableHTTPSessionManager(self._server, stateless=True, max_request_body_size=max_body_bytes)

        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            await manager.handle_request(scope, receive, with_error_data(send))

        async with manager.run():
            yield serve

    async def serve_stdio(self) -> None:
        """Serve standard input and output, in the revision the client opens with, until the client closes."""
        async with stdio_message_streams() as (reader, writer):
            await self._server.run(reader, writer, self._server.create_initialization_options())


def accepts_json_and_stream(request: Request) -> bool:
    """Return whether the caller accepts plain JSON and a stream, as each POST must (spec, transports)."""
    return all(check_accept_headers(request))


async def _error_middleware(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Give every protocol fault the same `data`, and let nothing internal out (SPEC T7, T8)."""
    with trace_context(trace_id() or new_trace_id()):
        return await _answer_or_fault(ctx, call_next)


async def _answer_or_fault(ctx: Context, call_next: CallNext) -> HandlerResult:
    try:
        _check_progress_token(ctx.params)
        return await call_next(ctx)
    except MCPError as error:
        if isinstance(error.data, dict):
            raise
        raise MCPError(error.code, error.message, jsonrpc_errors.data_for(error.code, error.message)) from error
    except ValidationError as error:
        raise _as_mcp(_params_error(error)) from error
    except PlannerError as error:
        raise _as_mcp(error) from error
    except Exception as error:  # the border of the protocol: what is left is a bug and stays inside
        log.exception("request handler failed", extra={"method": ctx.method})
        raise _as_mcp(PlannerError()) from error


def _params_error(error: ValidationError) -> InputError:
    """Return what is wrong with a request's params, quoting nothing the caller sent."""
    found: dict[str, Fault] = {}
    for each in error.errors(include_url=False, include_context=False, include_input=False):
        path = "/" + "/".join(str(part) for part in each["loc"] if part not in UNION_MEMBERS)
        problem = f"{found[path].problem}; {each['msg']}" if path in found else each["msg"]
        found[path] = Fault(path, problem, kind="missing" if each["type"] == "missing" else "invalid")
    return input_error(list(found.values()), most=20)


def _as_mcp(error: PlannerError) -> MCPError:
    return MCPError(jsonrpc_errors.rpc_code(error), error.message, jsonrpc_errors.rpc_data(error))


def _error(request_id: int | str, error: MCPError) -> Json:
    body = error.error.model_dump(by_alias=True, mode="json", exclude_none=True)
    return {"jsonrpc": "2.0", "id": request_id, "error": body}


def _progress_token(params: Any) -> Any:
    """Return the token as it came, None where there is none."""
    meta = params.get("_meta") if isinstance(params, Mapping) else None
    return meta.get("progressToken") if isinstance(meta, Mapping) else None


def _check_progress_token(params: Any) -> None:
    """Check what the SDK takes for a number, such as `true` (spec 2025-11-25, progress).

    Raises:
        InputError: The token is neither text nor a whole number.
    """
    token = _progress_token(params)
    if token is not None and (isinstance(token, bool) or not isinstance(token, int | str)):
        raise input_error([Fault("/params/_meta/progressToken", "The value is no token.", "text or a whole number")])
