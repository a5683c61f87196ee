"""`Idempotency-Key` of requests that create something: the second answer is the first one's, and nothing is made twice.

Owns the reading of the header and what counts as the same request. `POST /v1/jobs` hands its key to the tool, which
binds the job to it for MCP too.
"""

import asyncio
import hashlib
import logging
import re
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from planner_mcp.errors import Fault, StoreError, input_error
from planner_mcp.jobs.principals import Principal
from planner_mcp.jobs.records.repeated_requests import RENEW_S, KeptAnswer, KeyedRequest
from planner_mcp.jobs.store.security.repeated_request_store import RepeatedRequestStore
from planner_mcp.server.http.responses.media_types import JSON
from planner_mcp.server.http.rest.rest_operations import IDEMPOTENCY_KEY, MAX_KEY_CHARS
from planner_mcp.task_cancellation import cancel_until_done

REPLAYED: Final = "Idempotency-Replayed"
"""`true` on an answer that was kept."""
KEEP_S: Final = 30.0
"""Longest time in which it is tried to keep an answer; its client waits meanwhile, and gets it in any case."""
KEEP_AGAIN_S: Final = 0.5
_KEPT_HEADERS: Final = ("location", "preference-applied")

log = logging.getLogger("planner.rest")


def key_in(request: Request) -> str | None:
    """Return the key of a request, without the quotes that the draft of the header has around it."""
    value = request.headers.get(IDEMPOTENCY_KEY)
    return value[1:-1] if value is not None and re.fullmatch('".*"', value) else value


async def answered_once(
    requests: RepeatedRequestStore, principal: Principal, request: Request, make: Callable[[], Awaitable[Response]]
) -> Response:
    """Return the answer of a request with a key: made now, or kept from the first time.

    Args:
        requests: What was answered before.
        principal: Who asks.
        request: The whole request.
        make: Makes the answer; a refusal is not kept, so the request may come again corrected.

    Raises:
        IdempotencyConflictError: The key came with another request.
        InputError: It is no key.
        RequestUnderWayError: The first request has no answer yet.
    """
    key = key_in(request) or ""
    if not 1 <= len(key) <= MAX_KEY_CHARS:
        fault = Fault(f"/{IDEMPOTENCY_KEY}", "This is no key.", f"1 to {MAX_KEY_CHARS} characters")
        raise input_error([fault])
    owner = "\n".join([principal.id, *sorted(principal.scopes)])
    asked = KeyedRequest(owner, key, await _fingerprint(request))
    if (kept := await requests.begin(asked)) is not None:
        return Response(kept.body, kept.status, {**kept.headers, REPLAYED: "true"}, JSON)
    renewing = asyncio.create_task(_renewed(requests, asked), name="keyed request")
    try:
        try:
            response = await make()
        except BaseException:
            await requests.forget(asked)
            raise
        await _kept(requests, asked, response)
    finally:
        await cancel_until_done([renewing])
    return response


async def _kept(requests: RepeatedRequestStore, asked: KeyedRequest, response: Response) -> None:
    """Keep an answer. A store that fails is asked again: without the answer the same request would be made twice."""
    headers = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
    answer = KeptAnswer(response.status_code, headers, bytes(response.body).decode())
    gives_up_at = time.monotonic() + KEEP_S
    while True:
        try:
            return await requests.keep(asked, answer)
        except StoreError as error:
            if time.monotonic() >= gives_up_at:
                log.warning("an answer could not be kept; its request may be made again: %s", error.type)
                return None
        await asyncio.sleep(KEEP_AGAIN_S)


async def _renewed(requests: RepeatedRequestStore, asked: KeyedRequest) -> None:
    """Say that a request is under way, until cancelled: one whose server is killed may soon be made again."""
    while True:
        await asyncio.sleep(RENEW_S)
        with suppress(StoreError):
            await requests.renew(asked)


async def _fingerprint(request: Request) -> str:
    """Return the digest of what is asked: method, path, query and body to the letter, a large one by its own digest."""
    head = "\n".join((request.method, request.url.path, request.url.query)).encode()
    return hashlib.sha256(head + b"\n" + await request.body()).hexdigest()
