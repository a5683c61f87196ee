"""What arrives in a POST body: JSON, then JSON-RPC 2.0.

Owns the reading of one body into messages, and the refusal of what is none. Knows no session and no method.
"""

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NoReturn

from mcp_types import PROTOCOL_VERSION_META_KEY

from planner_mcp.errors import InvalidMessageError
from planner_mcp.server.mcp.jsonrpc.jsonrpc_errors import INVALID_REQUEST, PARSE_ERROR
from planner_mcp.text import LONG_NUMBER

BATCHES_IN: Final = "2025-03-26"
"""The one revision whose clients may send batches."""
MAX_BATCH: Final = 32
"""Messages of one batch."""


class MessageKind(StrEnum):
    """What a JSON-RPC message is."""

    REQUEST = "request"
    NOTIFICATION = "notification"
    RESPONSE = "response"


class MalformedError(InvalidMessageError):
    """The body is refused.

    Args:
        message: What is wrong.
        code: JSON-RPC code to answer with.
        request_id: Id of the request, where it could be read.
    """

    def __init__(self, message: str, *, code: int = INVALID_REQUEST, request_id: Any = None) -> None:
        super().__init__(message)
        self.rpc_code = code
        self.request_id = request_id


class NoJsonError(MalformedError):
    """The body is not JSON."""

    def __init__(self) -> None:
        super().__init__("The body is not JSON.", code=PARSE_ERROR)


class LongNumberError(MalformedError):
    """A number of the body is too long to be read."""

    def __init__(self) -> None:
        super().__init__(LONG_NUMBER, code=PARSE_ERROR)


@dataclass(frozen=True, slots=True)
class JsonRpcMessage:
    """One JSON-RPC message of a client."""

    kind: MessageKind
    body: dict[str, Any]

    @property
    def method(self) -> str:
        """The method, empty for a response."""
        return str(self.body.get("method", ""))

    @property
    def claims_stateless_era(self) -> bool:
        """Whether the message carries the envelope that only revisions without handshake have."""
        meta = (self.body.get("params") or {}).get("_meta") if self.kind is MessageKind.REQUEST else None
        return isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta and self.method != "initialize"


def parse(body: bytes) -> tuple[list[JsonRpcMessage], bool]:
    """Return the messages of a body, and whether they came as a batch.

    Raises:
        MalformedError: Not JSON, or not JSON-RPC 2.0.
    """
    decoded = decode_json(body)
    if not isinstance(decoded, list):
        return [_message(decoded)], False
    if not 0 < len(decoded) <= MAX_BATCH:
        raise MalformedError(f"A batch has 1 to {MAX_BATCH} messages.")
    messages = [_message(each) for each in decoded]
    if any(each.method == "initialize" for each in messages):  # spec 2025-03-26, lifecycle
        raise MalformedError("initialize is sent alone, never in a batch.")
    return messages, True


def decode_json(body: bytes) -> Any:
    """Return the value of a JSON text in UTF-8.

    Raises:
        NoJsonError: It is none.
        LongNumberError: It has a number of more digits than Python reads.
    """
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)
    except (json.JSONDecodeError, UnicodeError, RecursionError) as error:
        raise NoJsonError from error
    except ValueError as error:
        raise LongNumberError from error


def _refuse_constant(_name: str) -> NoReturn:
    """Refuse NaN and the infinities, which Python reads and JSON has not.

    Raises:
        NoJsonError: Always.
    """
    raise NoJsonError


def _message(decoded: Any) -> JsonRpcMessage:
    if not isinstance(decoded, dict) or decoded.get("jsonrpc") != "2.0":
        raise MalformedError('A message is an object with "jsonrpc": "2.0".')
    request_id = decoded.get("id")
    has_id = isinstance(request_id, int | str) and not isinstance(request_id, bool)
    if "method" not in decoded:
        if has_id and ("result" in decoded) != ("error" in decoded):
            return JsonRpcMessage(MessageKind.RESPONSE, decoded)
        raise MalformedError("A message has a method, or an id with a result or an error.")
    known_id = request_id if has_id else None
    if not isinstance(decoded["method"], str):
        raise MalformedError("method is text.", request_id=known_id)
    if not isinstance(decoded.get("params", {}), dict):
        raise MalformedError("params is an object.", request_id=known_id)
    if "id" not in decoded:
        return JsonRpcMessage(MessageKind.NOTIFICATION, decoded)
    if not has_id:
        raise MalformedError("id is text or a whole number.")
    return JsonRpcMessage(MessageKind.REQUEST, decoded)
