"""Requests of the server to a client of a handshake session: written to a stream here, answered at any replica.

Owns how a request waits for its answer. Its id is random; the answer, posted as a message of its own, is stored and
wakes the replica that asked. One connection to Redis serves all that wait.
"""

import json
import secrets
from collections.abc import Mapping
from typing import Any, Final

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types.jsonrpc import REQUEST_TIMEOUT

from planner_mcp.jobs.events.pubsub_channels import stream_channel
from planner_mcp.jobs.store.sessions.elicitation_store import ElicitationStore
from planner_mcp.server.mcp.dispatch_context import Emit
from planner_mcp.server.mcp.mcp_sessions import ChangeNotifier
from planner_mcp.text import Json

ANSWER_TIMEOUT_S: Final = 120.0
"""How long a person may take to answer."""
ANSWER_CHECK_S: Final = 5.0
"""How often the store is looked at without a wake-up, in case one was lost."""


class ClientRequests:
    """Asks clients.

    Args:
        elicitations: Where requests are kept.
        notifier: Announces answers.
    """

    def __init__(self, elicitations: ElicitationStore, notifier: ChangeNotifier) -> None:
        self._elicitations = elicitations
        self._notifier = notifier

    async def ask(self, session_id: str, emit: Emit, method: str, params: Mapping[str, Any] | None) -> Json:
        """Send a request and return its result.

        Raises:
            MCPError: The client answered with an error, or not within `ANSWER_TIMEOUT_S`.
        """
        question_id = f"ask-{secrets.token_hex(8)}"
        await self._elicitations.expect(session_id, question_id, ANSWER_TIMEOUT_S + ANSWER_CHECK_S)
        try:
            async with self._notifier.watch(stream_channel(session_id)) as waiter:
                await emit({"jsonrpc": "2.0", "id": question_id, "method": method, "params": dict(params or {})})
                with anyio.move_on_after(ANSWER_TIMEOUT_S):
                    while not (text := await self._elicitations.answer(session_id, question_id)):
                        await waiter.wait(ANSWER_CHECK_S)
                    return _result(json.loads(text))
        finally:
            with anyio.CancelScope(shield=True):
                await self._elicitations.close(session_id, question_id)
        raise MCPError(REQUEST_TIMEOUT, f"The client did not answer {method}.")

    async def take_response(self, session_id: str, response: Mapping[str, Any]) -> None:
        """Take a response of a client."""
        if isinstance(response["id"], str):
            kept = {name: response[name] for name in ("result", "error") if name in response}
            await self._elicitations.put(session_id, response["id"], json.dumps(kept))


def _result(answer: Json) -> Json:
    if isinstance(error := answer.get("error"), dict):
        code = error.get("code")
        raise MCPError(code if isinstance(code, int) else REQUEST_TIMEOUT, str(error.get("message", ""))[:200])
    result = answer.get("result")
    return result if isinstance(result, dict) else {}
