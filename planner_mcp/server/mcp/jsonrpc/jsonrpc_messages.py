"""What arrives in a POST body, decoded: JSON-RPC 2.0.

Owns the reading of a decoded body into messages, and the refusal of what is none. Knows no session and no method. The
JSON is read by `http/bodies/json_reading.py`.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from mcp_types import INVALID_REQUEST, PARSE_ERROR, PROTOCOL_VERSION_META_KEY

from planner_mcp.errors import Fault, InvalidMessageError
from planner_mcp.server.http.bodies.json_reading import decode_json
from planner_mcp.text import Json

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
        errors: What is wrong at which places, where that is known.
    """

    def __init__(
        self, message: str, *, code: int = INVALID_REQUEST, request_id: Any = None, errors: Sequence[Fault] = ()
    ) -> None:
        super().__init__(message, errors=errors)
        self.rpc_code = code
        self.request_id = request_id


@dataclass(frozen=True, slots=True)
class JsonRpcMessage:
    """One JSON-RPC message of a client."""

    kind: MessageKind
    body: Json

    @property
    def method(self) -> str:
        """The method, empty for a response."""
        return str(self.body.get("method", ""))

    @property
    def claims_stateless_era(self) -> bool:
        """Whether the message carries the envelope that only revisions without handshake have."""
        return self.kind is MessageKind.REQUEST and self.method != "initialize" and names_revision(self.body)


def parse_line(line: bytes) -> tuple[list[JsonRpcMessage], bool]:
    """Return the messages of a JSON text of any size, and whether they came as a batch.

    Raises:
        MalformedError: Not JSON, or not JSON-RPC 2.0.
    """
    with as_parse_error():
        decoded = decode_json(line)
    return messages_of(decoded)


def messages_of(decoded: Any) -> tuple[list[JsonRpcMessage], bool]:
    """Return the messages of a decoded body, and whether they came as a batch.

    Raises:
        MalformedError: Not JSON-RPC 2.0.
    """
    if not isinstance(decoded, list):
        return [_message(decoded)], False
    if not 0 < len(decoded) <= MAX_BATCH:
        raise MalformedError(f"A batch has 1 to {MAX_BATCH} messages.")
    messages = [_message(each) for each in decoded]
    if any(each.method == "initialize" for each in messages):  # spec 2025-03-26, lifecycle
        raise MalformedError("initialize is sent alone, never in a batch.")
    return messages, True


@contextmanager
def as_parse_error() -> Iterator[None]:
    """Raise what is wrong with a JSON text as the refusal of its message."""
    try:
        yield
    except MalformedError:
        raise
    except InvalidMessageError as error:
        raise MalformedError(error.message, code=PARSE_ERROR, errors=error.errors) from error


def request_id_in(decoded: Any) -> int | str | None:
    """Return the id of a message, of whatever form; None where it has none, or what is no id."""
    found = decoded.get("id") if isinstance(decoded, dict) else None
    return found if isinstance(found, int | str) and not isinstance(found, bool) else None


def names_revision(decoded: Any) -> bool:
    """Return whether a message, of whatever form, names its revision itself, as those without handshake do."""
    params = decoded.get("params") if isinstance(decoded, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta


def _message(decoded: Any) -> JsonRpcMessage:
    if not isinstance(decoded, dict) or decoded.get("jsonrpc") != "2.0":
        raise MalformedError('A message is an object with "jsonrpc": "2.0".')
    known_id = request_id_in(decoded)
    if "method" not in decoded:
        if known_id is not None and ("result" in decoded) != ("error" in decoded):
            return JsonRpcMessage(MessageKind.RESPONSE, decoded)
        raise MalformedError("A message has a method, or an id with a result or an error.")
    if not isinstance(decoded["method"], str):
        raise MalformedError("method is text.", request_id=known_id)
    if decoded.get("params", ...) is None:  # JSON-RPC has no null here, yet clients write it for "none"
        decoded = {name: value for name, value in decoded.items() if name != "params"}
    if not isinstance(decoded.get("params", {}), dict):
        raise MalformedError("params is an object.", request_id=known_id)
    if "id" not in decoded:
        return JsonRpcMessage(MessageKind.NOTIFICATION, decoded)
    if known_id is None:
        raise MalformedError("id is text or a whole number.")
    return JsonRpcMessage(MessageKind.REQUEST, decoded)
