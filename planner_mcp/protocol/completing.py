"""Gives the faults of the SDK's stateless entry the `data` that every other door gives (SPEC T7).

Owns the bodies of refusals alone: what was accepted, and streams, pass untouched. A fault that brings `data` of its
own, as the list of supported revisions, keeps it.
"""

import json
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Send

from planner_mcp.protocol.faults import data_for


def completing(send: Send) -> Send:
    """Return a `send` that completes the JSON-RPC error of a refusal."""
    start: list[Message] = []
    body = bytearray()

    async def complete(message: Message) -> None:
        if message["type"] == "http.response.start" and _is_refusal(message):
            start.append(message)
        elif not start:
            await send(message)
        else:
            body.extend(message.get("body", b""))
            if not message.get("more_body", False):
                whole = _completed(bytes(body))
                MutableHeaders(scope=start[0])["content-length"] = str(len(whole))
                await send(start.pop())
                await send({"type": "http.response.body", "body": whole})

    return complete


def _is_refusal(start: MutableMapping[str, Any]) -> bool:
    is_json = MutableHeaders(scope=start).get("content-type", "").startswith("application/json")
    return start["status"] >= 400 and is_json


def _completed(body: bytes) -> bytes:
    answer = json.loads(body)
    error = answer.get("error")
    if not isinstance(error, dict) or "data" in error:
        return body
    error["data"] = data_for(error["code"], error["message"])
    return json.dumps(answer, separators=(",", ":")).encode()  # in ASCII, whatever the id of the request holds
