"""Streams of keys that are revoked, while others come and go."""

import asyncio
from collections.abc import Sequence

import anyio
import pytest

from planner_mcp.server.auth import revocation_watch
from planner_mcp.server.auth.revocation_watch import RevocationWatch

pytestmark = pytest.mark.anyio


class Ring:
    """Credentials, all of which hold but those that were revoked; a look takes until it is let go."""

    def __init__(self) -> None:
        self.revoked: set[str] = set()
        self.is_asked, self.may_answer = asyncio.Event(), asyncio.Event()
        self.may_answer.set()

    async def known(self, ids: Sequence[str], /) -> set[str]:
        """Return those that hold when the look ends."""
        self.is_asked.set()
        await self.may_answer.wait()
        return set(ids) - self.revoked


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revocation_watch, "CHECK_S", 0.001)


async def cancelled(task: "asyncio.Task[None]") -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_stream_that_ends_during_a_look_leaves_the_others_watched() -> None:
    """SPEC A1: the look failed for a revoked key whose stream had gone, and no other revocation was noticed."""
    ring = Ring()
    watch = RevocationWatch(ring)
    ring.may_answer.clear()
    with anyio.fail_after(5):
        first, second = (asyncio.create_task(watch.until_revoked(name)) for name in ("first", "second"))
        await ring.is_asked.wait()
        ring.revoked = {"first"}
        await cancelled(first)
        ring.may_answer.set()
        await asyncio.sleep(0.01)
        ring.revoked |= {"second"}
        await second


async def test_a_stream_that_begins_as_the_last_one_ends_is_watched() -> None:
    """SPEC A1: the look that was being ended counted as one that goes on."""
    ring = Ring()
    watch = RevocationWatch(ring)
    with anyio.fail_after(5):
        last = asyncio.create_task(watch.until_revoked("last"))
        await ring.is_asked.wait()
        last.cancel()
        next_one = asyncio.create_task(watch.until_revoked("next"))  # begins in the pass in which the last one ends
        with pytest.raises(asyncio.CancelledError):
            await last
        ring.revoked = {"next"}
        await next_one
