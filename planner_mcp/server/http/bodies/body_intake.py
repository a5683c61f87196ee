"""The one place that reads request bodies (SPEC X3, ADR 0036): bounded before, while and after they arrive.

Owns how many bytes a principal may have open, and where a body is decoded: a small one at once, a large one in a
process of its own, when it is its principal's turn. Endpoints get the decoded body (`decoded_in`); of a large one they
can read the outline alone. A travel matrix is not decoded here: its blocks wait for the handler that takes them.
`slow_clients.py` deals with slow senders.
"""

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from planner_mcp.errors import Fault, PlannerError, TooLargeError, input_error
from planner_mcp.jobs.limits.reading_limits import BodyBudget, ReadingTurns, read_bounded
from planner_mcp.server.auth.request_principal import principal_of
from planner_mcp.server.http.bodies.asgi_receive import keep_blocks, replay_body
from planner_mcp.server.http.bodies.body_pacing import paced_parts
from planner_mcp.server.http.bodies.json_reading import (
    LARGE_BYTES,
    DecodedBody,
    JsonLimits,
    Outline,
    UnreadableJsonError,
    decoded_body,
    outline_arguments,
    outline_json,
)
from planner_mcp.server.http.responses.http_responses import REST_PREFIX, Refusal, plain_path, refusal_at
from planner_mcp.settings import Settings

JSON_PATHS: Final = frozenset({"/mcp", "/messages", "/ui/call", "/ui/sign-in"})
"""Where bodies are JSON, beside those under `/v1`."""
FILES_PATH: Final = "/files/"
MATRICES_PATH: Final = "/matrices"
BLOCK_BYTES: Final = 1 << 20
"""Size of the blocks in which a travel matrix is held."""
_DECODED: Final = "decoded_body"
_limiter: Final = ReadingTurns()
"""Large bodies decoded at the same time."""

log = logging.getLogger(__name__)


class BodyIntake:
    """The ASGI layer that reads bodies.

    Args:
        app: The application behind it.
        settings: Limits of bodies.
        refusals: By path, the refusal in the form of the protocol spoken there.
    """

    def __init__(self, app: ASGIApp, settings: Settings, refusals: Mapping[str, Refusal]) -> None:
        self._app = app
        self._settings = settings
        self._refusals = refusals
        self._json_limits = JsonLimits(settings.max_nesting, settings.max_values)
        self._budget = BodyBudget(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS"):
            await self._app(scope, receive, send)
            return
        with ExitStack() as counted:
            try:
                receive = await self._taken(scope, receive, counted)
            except ClientDisconnect:  # nobody is left to answer
                log.info("client left in mid-request", extra={"method": scope["method"], "path": scope["path"]})
                return
            except PlannerError as error:
                headers = {"Connection": "close"} if isinstance(error, TooLargeError) else None
                refuse = self._refusals.get(scope["path"]) or refusal_at(scope["path"])
                await refuse(error, headers=headers)(scope, receive, send)
                return
            await self._app(scope, receive, send)

    async def _taken(self, scope: Scope, receive: Receive, counted: ExitStack) -> Receive:
        """Return a `receive` that hands out a body that was read, which counts as open."""
        principal_id = principal_of(scope).id
        most = self._most(scope["path"])
        length = Headers(scope=scope).get("content-length")
        if length is not None and not (length.isdecimal() and int(length) <= most):
            raise TooLargeError(f"The body is larger than {most} bytes.")
        arrived = counted.enter_context(self._budget.opened(principal_id, most if length is None else int(length)))
        path = plain_path(scope["path"])
        is_matrix = path == MATRICES_PATH
        with paced_parts(principal_id) as pause:
            blocks = await _read(receive, most, pause, BLOCK_BYTES if is_matrix else most)
        arrived(sum(map(len, blocks)))
        if is_matrix:
            keep_blocks(scope, blocks)
            return replay_body(b"", receive)
        body = blocks.pop()
        is_rest = scope["path"].startswith(REST_PREFIX)
        if path.startswith(FILES_PATH) or not (is_rest or path in JSON_PATHS):
            return replay_body(body, receive)
        decoded = await self._decoded(principal_id, body, outline_arguments if is_rest else outline_json)
        scope.setdefault("state", {})[_DECODED] = decoded
        return replay_body(body if decoded.outline is None else decoded.outline, receive)

    def _most(self, path: str) -> int:
        """Return how many bytes a body may have."""
        path = plain_path(path)
        if path == MATRICES_PATH:
            return self._settings.max_matrix_bytes
        return self._settings.max_file_bytes if path.startswith(FILES_PATH) else self._settings.max_body_bytes

    async def _decoded(self, principal_id: str, body: bytearray, outline: Outline) -> DecodedBody:
        if len(body) <= LARGE_BYTES:
            return decoded_body(body, self._json_limits)
        async with _limiter.turn_of(principal_id, len(body)):
            return await read_bounded(principal_id, self._settings, outline, body, self._json_limits)


def decoded_in(scope: Scope) -> DecodedBody:
    """Return the body of a request to a path of `JSON_PATHS`."""
    decoded: DecodedBody = scope["state"][_DECODED]
    return decoded


def posted_json(request: Request, form: str) -> Any:
    """Return the body of a request of the dashboard; a refusal says by `form` what it should be.

    Raises:
        InputError: It is not said to be JSON, or is none.
    """
    if not has_content_type(request, "application/json"):
        raise input_error([Fault("/content-type", "Content-Type is not that of JSON.", "application/json")])
    try:
        return decoded_in(request.scope).value
    except UnreadableJsonError as error:
        raise input_error(error.errors or [Fault("", str(error), form)]) from None


def has_content_type(request: Request, *accepted: str) -> bool:
    """Return whether a body is said to be of one of some types.

    A page of another site can send some types without asking, but not JSON (CORS).
    """
    kinds = request.headers.getlist("content-type")
    return len(kinds) == 1 and kinds[0].partition(";")[0].strip().lower() in accepted


async def _read(
    receive: Receive, most: int, pause: Callable[[], Awaitable[None]], block_bytes: int
) -> deque[bytearray]:
    """Return a body in one block or more, with a pause after each part that came.

    A block is not copied: of fresh memory that is written the kernel clears each page, which costs as much as reading.

    Raises:
        TooLargeError: It has more bytes than allowed.
        ClientDisconnect: It did not end.
    """
    blocks, size = deque([bytearray()]), 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > most:
            raise TooLargeError(f"The body is larger than {most} bytes.")
        if len(blocks[-1]) > block_bytes:
            blocks.append(bytearray())
        blocks[-1].extend(chunk)
        if not message.get("more_body", False):
            return blocks
        await pause()
