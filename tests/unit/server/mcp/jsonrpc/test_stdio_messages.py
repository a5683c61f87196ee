"""Answers on standard output: put together by batch, complete, and waited for at the end."""

import json
from typing import Any

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from planner_mcp.server.mcp.jsonrpc import stdio_messages
from planner_mcp.server.mcp.jsonrpc.jsonrpc_messages import parse_line
from planner_mcp.server.mcp.jsonrpc.stdio_messages import AnswerWriter

pytestmark = pytest.mark.anyio


def answer(request_id: Any) -> SessionMessage:
    """Return an answer as the SDK sends it."""
    body = json.dumps({"jsonrpc": "2.0", "id": request_id, "result": {}})
    return SessionMessage(jsonrpc_message_adapter.validate_json(body, by_name=False))


async def test_what_is_cancelled_in_a_batch_is_not_waited_for() -> None:
    """Spec 2025-03-26, cancellation and batches: no response to it, one array for the rest."""
    writer, heard = anyio.create_memory_object_stream[SessionMessage](4)
    answers = AnswerWriter()
    answers.writer = writer
    pings = [{"jsonrpc": "2.0", "id": each, "method": "ping"} for each in (1, "1")]
    batch, _is_batch = parse_line(json.dumps(pings).encode())
    (note,), _is_batch = parse_line(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}')
    answers.expect(batch, is_batch=True)
    await answers.send(answer("1"))
    assert heard.statistics().current_buffer_used == 0
    await answers.send(answer(9))
    await answers.forget(note)
    sent = [heard.receive_nowait().message.model_dump_json(by_alias=True, exclude_unset=True) for _ in range(2)]
    assert [json.loads(each) for each in sent] == [
        {"jsonrpc": "2.0", "id": 9, "result": {}},
        [{"jsonrpc": "2.0", "id": "1", "result": {}}],
    ]
    await answers.aclose()
    await heard.aclose()


async def test_what_is_open_at_the_end_of_input_is_waited_for_and_what_never_ends_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SPEC T7: an answer that is on its way comes; a client that listens does not hold the process up."""
    monkeypatch.setattr(stdio_messages, "FINAL_ANSWERS_S", 60.0)
    writer, heard = anyio.create_memory_object_stream[SessionMessage](4)
    answers = AnswerWriter()
    answers.writer = writer
    for request_id, method in ((1, "tools/list"), (2, "subscriptions/listen"), (3, "ping")):
        asked = {"jsonrpc": "2.0", "id": request_id, "method": method}
        answers.expect(parse_line(json.dumps(asked).encode())[0], is_batch=False)
    (note,), _is_batch = parse_line(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}')
    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(answers.wait_for_all)
            await anyio.wait_all_tasks_blocked()
            await answers.forget(note)
            await answers.send(answer(1))
    monkeypatch.setattr(stdio_messages, "FINAL_ANSWERS_S", 0.01)
    answers.expect(parse_line(b'{"jsonrpc": "2.0", "id": 4, "method": "ping"}')[0], is_batch=False)
    with anyio.fail_after(30):
        await answers.wait_for_all()
    await answers.aclose()
    await heard.aclose()


async def test_an_error_of_the_sdk_has_the_data_that_every_error_has() -> None:
    """SPEC T7: what the end of input cut off may be asked again."""
    writer, heard = anyio.create_memory_object_stream[SessionMessage](1)
    answers = AnswerWriter()
    answers.writer = writer
    cut = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "Connection closed"}}
    await answers.send(SessionMessage(jsonrpc_message_adapter.validate_python(cut, by_name=False)))
    sent = json.loads(heard.receive_nowait().message.model_dump_json(by_alias=True, exclude_unset=True))
    data = sent["error"]["data"]
    assert (data["type"], data["retryable"], data["message"]) == ("AbandonedRequest", True, "Connection closed")
    await answers.aclose()
    await heard.aclose()
