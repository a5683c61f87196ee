"""Messages between the processes of a worker."""

import asyncio

import pytest

from workers import message_frames

MESSAGES = [{"kind": "plan", "name": "北京"}, {}, {"n": [1, 2.5, None, True]}]


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_messages_come_out_whole_however_they_were_chopped(size: int) -> None:
    """Our choice: a stream socket keeps bytes in order and nothing else."""
    stream = b"".join(message_frames.pack(message) for message in MESSAGES)
    buffer = message_frames.FrameBuffer()
    found = [message for at in range(0, len(stream), size) for message in buffer.feed(stream[at : at + size])]
    assert found == MESSAGES


@pytest.mark.anyio
async def test_stream_that_ends_inside_a_message_has_ended() -> None:
    """SPEC J6: a child that is killed while it sends is a child that hung up."""
    reader = asyncio.StreamReader()
    reader.feed_data(message_frames.pack({"kind": "done"}) + message_frames.pack({"kind": "plan"})[:-1])
    reader.feed_eof()
    assert await message_frames.receive(reader) == {"kind": "done"}
    assert await message_frames.receive(reader) is None
