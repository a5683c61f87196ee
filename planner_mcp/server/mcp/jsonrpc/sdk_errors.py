"""Gives errors of the SDK's stateless entry the `data` and the status that they have on every transport (SPEC T7, J7).

Owns plain answers that are errors; results and streams pass unchanged. An error with `data` of its own, such as the
list of supported revisions, keeps it. The SDK has no HTTP status for an unavailable store.
"""

import json
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Send

from planner_mcp.server.mcp.jsonrpc.http_envelope import RETRY_AFTER_S
from planner_mcp.server.mcp.jsonrpc.jsonrpc_errors import data_for, is_unavailable


def with_error_data(send: Send) -> Send:
    """Return a `send` that completes the JSON-RPC error of a refusal."""
    start: list[Message] = []
    body = bytearray()

    async def complete(message: Message) -> None:
        if message["type"] == "http.response.start" and _is_plain(message):
            start.append(message)
        elif not start:
            await send(message)
        else:
            body.extend(message.get("body", b""))
            if not message.get("more_body", False):
                first = start.pop()
                whole = _completed(bytes(body), first)
                MutableHeaders(scope=first)["content-length"] = str(len(whole))
                await send(first)
                await send({"type": "http.response.body", "body": whole})

    return complete


def _is_plain(start: MutableMapping[str, Any]) -> bool:
    return MutableHeaders(scope=start).get("content-type", "").startswith("application/json")


def _completed(body: bytes, start: MutableMapping[str, Any]) -> bytes:
    answer = json.loads(body) if body else {}  # nothing is what a notification is answered with
    error = answer.get("error")
    if not isinstance(error, dict):
        return body
    if is_unavailable(answer):
        start["status"] = 503
        MutableHeaders(scope=start)["retry-after"] = str(RETRY_AFTER_S)
    if "data" in error:
        return body
    error["data"] = data_for(error["code"], error["message"])
    return json.dumps(answer, separators=(",", ":")).encode()  # in ASCII, whatever the id of the request holds
