"""What a worker hears of its children, whatever becomes of those who wait for it (SPEC J6)."""

import asyncio
import os
import signal

import anyio
import pytest

from planner_mcp.store.redis_store import RedisStore
from tests.integration.store.conftest import Desk
from tests.integration.workers.conftest import Shop
from tests.shared.processes import LONGEST_S
from workers.attempt import Attempt
from workers.nursery import KILLED, Child, Nursery

pytestmark = pytest.mark.anyio


def _stop(nursery: Nursery, signum: int) -> None:
    assert nursery.pid is not None
    os.kill(nursery.pid, signum)


async def _told_exit(child: Child) -> int:
    with anyio.fail_after(LONGEST_S):
        return (await asyncio.shield(child.exit)).code


async def test_a_job_that_ends_before_its_child_was_forked_leaves_the_nursery_hearing(
    shop: Shop, store: RedisStore
) -> None:
    """SPEC J6: on a busy machine a fork takes longer than a job that is handed back; later deaths are still told."""
    claim = await Desk(store).solving()
    async with Nursery() as nursery:
        _stop(nursery, signal.SIGSTOP)
        late = await nursery.take()
        attempt = Attempt(claim, late, store, shop.settings, trace_id="0" * 32)
        running = asyncio.create_task(attempt.run())
        with anyio.fail_after(LONGEST_S):
            while not attempt._watching:  # noqa: ASYNC110 - it tells nobody that it has begun to watch
                await anyio.sleep(0.01)
            await asyncio.sleep(0)
            attempt.hand_back()
            await running
        _stop(nursery, signal.SIGCONT)
        assert await _told_exit(late) == KILLED.code
        next_one = await nursery.take()
        with anyio.fail_after(LONGEST_S):
            os.kill(await next_one.pid, signal.SIGKILL)
        assert await _told_exit(next_one) == KILLED.code


@pytest.mark.parametrize("news", ["pid", "exit"])
async def test_news_that_nobody_waits_for_any_more_deafens_no_nursery(news: str) -> None:
    """SPEC J6: whoever awaits a child and is cancelled takes nothing from the children that come after."""
    async with Nursery() as nursery:
        _stop(nursery, signal.SIGSTOP)
        child = await nursery.take()
        getattr(child, news).cancel()
        child.kill()
        _stop(nursery, signal.SIGCONT)
        next_one = await nursery.take()
        next_one.kill()
        assert await _told_exit(next_one) == KILLED.code
        assert nursery.pid is not None
