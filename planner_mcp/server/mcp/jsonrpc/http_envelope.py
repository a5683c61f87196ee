"""Checks of an HTTP request before its JSON-RPC messages are read, and their refusals.

Owns media types, the routing header and the reading of the body. Sessions and methods of HTTP belong to
`transports/streamable_http.py`.
"""

from typing import Any, Final

from mcp_types.jsonrpc import HEADER_MISMATCH, INVALID_REQUEST, PARSE_ERROR
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from planner_mcp.errors import CapacityError, InvalidMessageError, PlannerError
from planner_mcp.server.http.bodies.body_intake import decoded_in, has_content_type
from planner_mcp.server.http.responses.http_responses import refusal
from planner_mcp.server.mcp.jsonrpc.jsonrpc_errors import rpc_error
from planner_mcp.server.mcp.jsonrpc.jsonrpc_messages import JsonRpcMessage, MalformedError, as_parse_error, messages_of

REVISIONS: Final = (*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS)
"""Those of MCP that this server supports, oldest first: all of the SDK's tables."""
RETRY_AFTER_S: Final = 2


class HttpFault(Exception):  # noqa: N818 - it carries an answer, not only an error
    """Ends a request with an HTTP answer.

    Args:
        status: HTTP status.
        error: What went wrong; None for an empty body.
        code: JSON-RPC code, where it is not the error's usual one.
        request_id: Id of the JSON-RPC request, where it is known.
        headers: Further response headers.
    """

    def __init__(
        self,
        status: int,
        error: PlannerError | None = None,
        *,
        code: int | None = None,
        request_id: Any = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(status)
        self.response: Response = (
            Response(status_code=status, headers=headers)
            if error is None
            else JSONResponse(rpc_error(error, request_id=request_id, code=code), status, headers)
        )


def too_many(error: CapacityError, *, request_id: Any = None) -> HttpFault:
    """Return the refusal of one more, with the time to come back."""
    headers = {"retry-after": str(max(1, round(error.retry_after_s or RETRY_AFTER_S)))}
    return HttpFault(429, error, request_id=request_id, headers=headers)


def validation_refusal(error: PlannerError, *, headers: dict[str, str] | None = None) -> Response:
    """Return a refusal by request validation as a JSON-RPC error with `id: null`: the body was not parsed."""
    code = PARSE_ERROR if isinstance(error, InvalidMessageError) else INVALID_REQUEST
    return refusal(error, headers=headers, body=rpc_error(error, code=code))


def is_stateless(request: Request) -> bool:
    """Return whether the revision named by the header has no handshake; unknown ones are refused by the same entry."""
    version = request.headers.get("mcp-protocol-version")
    return version is not None and version.strip() not in HANDSHAKE_PROTOCOL_VERSIONS


def check_revision(request: Request, *, request_id: Any = None) -> None:
    """Check that the revision named by the header is one of ours (spec 2025-06-18, transports).

    Raises:
        HttpFault: 400.
    """
    if request.headers.get("mcp-protocol-version", REVISIONS[0]).strip() not in REVISIONS:
        problem = f"The MCP-Protocol-Version header names no revision served here; these are: {', '.join(REVISIONS)}."
        raise HttpFault(400, MalformedError(problem), request_id=request_id)


def accept(request: Request, *media_types: str) -> None:
    """Check that the Accept header takes media types (RFC 9110 §12.5.1, quality values aside).

    Raises:
        HttpFault: 406.
    """
    ranges = {part.partition(";")[0].strip().lower() for part in request.headers.get("accept", "").split(",")}
    for media_type in media_types:
        if not {media_type, f"{media_type.partition('/')[0]}/*", "*/*"} & ranges:
            raise HttpFault(406, MalformedError(f"The Accept header does not take {' and '.join(media_types)}."))


def join_accept(scope: Scope) -> None:
    """Make several Accept headers of a request one, as RFC 9110 §5.3 allows: what is behind reads the first alone."""
    sent = [value for name, value in scope["headers"] if name == b"accept"]
    if len(sent) > 1:
        others = [header for header in scope["headers"] if header[0] != b"accept"]
        scope["headers"] = [*others, (b"accept", b", ".join(sent))]


def check_content_type(request: Request) -> None:
    """Check that a body is said to be JSON.

    Raises:
        HttpFault: 415.
    """
    if not has_content_type(request, "application/json"):
        raise HttpFault(415, MalformedError("The body is application/json; say so in the Content-Type header."))


async def read_messages(request: Request) -> tuple[list[JsonRpcMessage], bool]:
    """Return the messages of a POST of the handshake revisions, and whether they came as a batch.

    Raises:
        HttpFault: 415, or 400 with the JSON-RPC error.
    """
    check_content_type(request)
    try:
        with as_parse_error():
            messages, is_batch = messages_of(decoded_in(request.scope).value)
    except MalformedError as error:
        raise HttpFault(400, error, code=error.rpc_code, request_id=error.request_id) from error
    if any(message.claims_stateless_era for message in messages):
        problem = MalformedError("The MCP-Protocol-Version header does not name the revision in _meta.")
        raise HttpFault(400, problem, code=HEADER_MISMATCH, request_id=messages[0].body.get("id"))
    return messages, is_batch
