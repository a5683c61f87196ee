"""JSON asked of a configured service: bounded in time and size, no redirects followed, nothing quoted.

Owns the client and reading the answer. The caller gives the deadline, and says what the refusal means.
"""

import json
import ssl
from functools import cache
from typing import Any

import anyio
import httpx2 as httpx


class UpstreamError(Exception):
    """The service gave no usable answer; the text says why without quoting it."""


def http_client(timeout_s: float, **options: Any) -> httpx.AsyncClient:
    """Return a client that follows no redirect and takes no proxy, password or certificate from the environment.

    Args:
        timeout_s: Deadline of each request, with its answer.
        options: Others of `httpx.AsyncClient`.
    """
    return httpx.AsyncClient(timeout=timeout_s, follow_redirects=False, trust_env=False, verify=_trust(), **options)


@cache
def _trust() -> ssl.SSLContext:
    """Return the certificates of this system, read once: it takes 20 ms, in which a server answers nobody."""
    return httpx.create_ssl_context(trust_env=False)


async def fetch_json(http: httpx.AsyncClient, request: httpx.Request, *, max_bytes: int) -> Any:
    """Send a request and return the JSON of a good answer.

    Raises:
        UpstreamError: No answer in time, another status than 200, too many bytes, or no JSON.
    """
    try:
        # httpx holds the timeout against each step, and an answer may come byte by byte
        with anyio.fail_after(http.timeout.read):
            answer = await http.send(request, stream=True)
            try:
                body = await _read(answer, max_bytes)
            finally:
                await answer.aclose()
    except (httpx.HTTPError, TimeoutError) as error:
        raise UpstreamError("did not answer") from error
    if answer.status_code != httpx.codes.OK:
        raise UpstreamError(f"refused the question with HTTP status {answer.status_code}")
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UpstreamError("answered with something that is not JSON") from error


async def _read(answer: httpx.Response, max_bytes: int) -> bytes:
    body = bytearray()
    async for chunk in answer.aiter_bytes():
        body += chunk
        if len(body) > max_bytes:
            raise UpstreamError("answered with too many bytes")
    return bytes(body)
