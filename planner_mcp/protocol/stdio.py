"""Standard input of a client: what is no message is answered, not passed over.

Owns that answer alone; reading lines and serving them is the SDK's, which drops a line it cannot read, so that a client
whose request was damaged would wait for ever.
"""

from typing import Any, Final

from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError
from pydantic import ValidationError

from planner_mcp.protocol.faults import INVALID_REQUEST, PARSE_ERROR, rpc_error
from planner_mcp.protocol.messages import MalformedError

NOT_JSON: Final = "json_invalid"
"""How pydantic names a text that is not JSON, half a surrogate pair included."""


class Answered:
    """The messages of a client, with every other line answered by an error.

    Args:
        reader: Messages and the exceptions that lines became, from the SDK.
        writer: Takes messages for the client.
    """

    def __init__(self, reader: Any, writer: Any) -> None:
        self._reader = reader
        self._writer = writer

    @property
    def last_context(self) -> Any:
        """Context the last message was sent in, as the SDK asks for it."""
        return getattr(self._reader, "last_context", None)

    async def receive(self) -> SessionMessage:
        """Return the next message."""
        while isinstance(item := await self._reader.receive(), Exception):
            await self._writer.send(SessionMessage(_refusal(item)))
        message: SessionMessage = item
        return message

    def __aiter__(self) -> "Answered":
        return self

    async def __anext__(self) -> SessionMessage:
        while isinstance(item := await anext(self._reader), Exception):
            await self._writer.send(SessionMessage(_refusal(item)))
        message: SessionMessage = item
        return message

    async def aclose(self) -> None:
        """Read no more."""
        await self._reader.aclose()

    async def __aenter__(self) -> "Answered":
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()


def _refusal(error: Exception) -> JSONRPCError:
    is_json = not (isinstance(error, ValidationError) and any(each["type"] == NOT_JSON for each in error.errors()))
    problem = "The line is no message of JSON-RPC 2.0." if is_json else "The line is not JSON."
    code = INVALID_REQUEST if is_json else PARSE_ERROR
    return JSONRPCError.model_validate(rpc_error(MalformedError(problem), code=code))
