"""Answers on standard output, put together by batch."""

import json
from typing import Any

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from planner_mcp.protocol.messages import parse
from planner_mcp.protocol.stdio import Answers

pytestmark = pytest.mark.anyio


def answer(request_id: Any) -> SessionMessage:
    """Return an answer as the SDK sends it."""
    body = json.dumps({"jsonrpc": "2.0", "id": request_id, "result": {}})
    return SessionMessage(jsonrpc_message_adapter.validate_json(body, by_name=False))


async def test_what_is_cancelled_in_a_batch_is_not_waited_for() -> None:
    """Spec 2025-03-26, cancellation and batches: no response to it, one array for the rest."""
    writer, heard = anyio.create_memory_object_stream[SessionMessage](4)
    answers = Answers()
    answers.writer = writer
    pings = [{"jsonrpc": "2.0", "id": each, "method": "ping"} for each in (1, "1")]
    batch, _is_batch = parse(json.dumps(pings).encode())
    (note,), _is_batch = parse(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}')
    answers.expect(batch, is_batch=True)
    await answers.send(answer("1"))
    assert heard.statistics().current_buffer_used == 0
    await answers.send(answer(9))
    await answers.forget(note)
    told = [heard.receive_nowait().message.model_dump_json(by_alias=True, exclude_unset=True) for _ in range(2)]
    assert [json.loads(each) for each in told] == [
        {"jsonrpc": "2.0", "id": 9, "result": {}},
        [{"jsonrpc": "2.0", "id": "1", "result": {}}],
    ]
    await answers.aclose()
    await heard.aclose()
