"""Any body within the limits: what it costs the event loop (ADR 0036). Full sizes are in `tests/chaos`."""

import json
import time
from collections.abc import Iterator
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message, Receive, Scope, Send

from planner_mcp.jobs.limits.reading_limits import LARGEST_BYTES
from planner_mcp.server.http.bodies import body_intake
from planner_mcp.server.http.bodies.body_intake import BLOCK_BYTES, BodyIntake, decoded_in
from planner_mcp.server.http.bodies.json_reading import LARGE_BYTES, MOST_OUTLINE, DecodedBody, UnreadableJsonError
from planner_mcp.settings import Settings
from tests.shared.http.hostile_bodies import generated_bodies
from tests.shared.property_tests.example_counts import examples

pytestmark = pytest.mark.anyio
MOST_CPU_S = 0.5
"""Of the event loop's thread for one body: ten times what is meant, since other tests run beside this one."""


class Served:
    """What came of one request."""

    def __init__(self) -> None:
        self.decoded: DecodedBody | None = None
        self.status = 0

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        assert len(message["body"]) <= max(LARGE_BYTES, MOST_OUTLINE)
        self.decoded = decoded_in(scope)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def send(self, message: Message) -> None:
        self.status = message.get("status", self.status)


async def _serve(body: bytes) -> tuple[Served, float]:
    """Return what came of a body, and the CPU seconds it took on the thread of the event loop."""
    chunks = [body[at : at + 65536] for at in range(0, len(body), 65536)] or [b""]

    async def receive() -> Message:
        return {"type": "http.request", "body": chunks.pop(0), "more_body": bool(chunks)}

    served = Served()
    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": []}
    began = time.thread_time()
    await BodyIntake(served.app, Settings(), {})(scope, receive, served.send)
    return served, time.thread_time() - began


@given(generated_bodies(st.sampled_from((LARGE_BYTES // 2, LARGE_BYTES, 4 * LARGE_BYTES))))
@examples(200)
async def test_any_body_leaves_the_event_loop_or_is_small(body: bytes) -> None:
    """SPEC A3, X3: whatever is repeated, wherever, however deep: decoded in bounds, elsewhere, or refused."""
    seen: list[int] = []

    def decoded_body(small: bytes, limits: Any) -> DecodedBody:
        seen.append(len(small))
        return original(small, limits)

    original, body_intake.decoded_body = body_intake.decoded_body, decoded_body  # type: ignore[attr-defined]
    try:
        served, cpu_s = await _serve(body)
    finally:
        body_intake.decoded_body = original  # type: ignore[attr-defined]
    assert seen == ([len(body)] if len(body) <= LARGE_BYTES else [])
    assert served.status in (200, 400, 413)
    assert cpu_s < MOST_CPU_S


def _values(decoded: DecodedBody) -> Iterator[Any]:
    try:
        yield decoded.value
    except UnreadableJsonError:
        return


@given(generated_bodies(st.just(2 * LARGE_BYTES)))
@examples(200)
async def test_what_is_left_of_a_large_body_is_small(body: bytes) -> None:
    """ADR 0036: arguments aside, which stay text."""
    served, _ = await _serve(body)
    if served.decoded is not None:
        for value in _values(served.decoded):
            messages = value if isinstance(value, list) else [value]
            for message in messages:
                params = message.get("params") if isinstance(message, dict) else None
                if isinstance(params, dict) and isinstance(params.get("arguments"), dict):
                    params["arguments"] = {}
            assert len(json.dumps(messages)) <= MOST_OUTLINE + 2


@pytest.mark.parametrize("block_bytes", [BLOCK_BYTES, 1 << 30])
async def test_blocks_of_a_body_are_bounded(block_bytes: int) -> None:
    """ADR 0036: a matrix goes through in blocks; any other body is one."""
    chunks = [b"x" * 65536 for _ in range(40)]

    async def receive() -> Message:
        return {"type": "http.request", "body": chunks.pop(0), "more_body": bool(chunks)}

    blocks = await body_intake._read(receive, 1 << 30, anyio.lowlevel.checkpoint, block_bytes)
    assert b"".join(blocks) == 40 * 65536 * b"x"
    assert max(map(len, blocks)) <= block_bytes + 65536
    assert (len(blocks) == 1) == (block_bytes > 40 * 65536)


@pytest.mark.parametrize(("size", "at_once"), [(LARGEST_BYTES // 16, 2), (LARGEST_BYTES + 1, 1)])
async def test_the_largest_bodies_are_decoded_one_at_a_time(
    monkeypatch: pytest.MonkeyPatch, size: int, at_once: int
) -> None:
    """SPEC A3, X3: four children for bodies of 4 MiB took 240 MiB at once."""
    decoding, most = 0, 0

    async def read(*_: Any) -> DecodedBody:
        nonlocal decoding, most
        decoding += 1
        most = max(most, decoding)
        await anyio.lowlevel.checkpoint()
        decoding -= 1
        return DecodedBody(None, None, b"{}")

    monkeypatch.setattr(body_intake, "read_bounded", read)
    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(_serve, b" " * size)
    assert most == at_once
