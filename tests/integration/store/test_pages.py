"""Pages of what several pools list together (SPEC T5, J7)."""

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from planner_mcp.jobs import ids
from planner_mcp.jobs.model import SolveRequest, StoredScenario
from planner_mcp.notify.endpoints import endpoint_id
from planner_mcp.settings import Settings
from planner_mcp.store import pages
from planner_mcp.store.connect import connect
from planner_mcp.store.link import Link
from planner_mcp.store.outbox import Outbox, Posting
from planner_mcp.store.outbox import test_id as new_delivery
from planner_mcp.store.redis_store import RedisStore
from planner_mcp.store.webhooks import RedisWebhooks

pytestmark = pytest.mark.anyio
POOLS = 3
FIRST_MS = 1_700_000_000_000


@pytest.fixture
async def spread(settings: Settings) -> AsyncIterator[RedisStore]:
    """A store of several pools."""
    async with connect(settings.model_copy(update={"pools": POOLS})) as store:
        await store.redis.flushdb()
        yield store


async def put_scenario(store: RedisStore, pool: int) -> str:
    name = ids.random_name("scn", pool)
    await store.put_scenario(StoredScenario(name, "ann", {"name": "a day"}, datetime.now(UTC), "h"))
    return name


async def put_job(store: RedisStore, pool: int) -> str:
    request = SolveRequest(await put_scenario(store, pool), 30)
    return (await store.submit("ann", request, ids.random_name("job", pool))).id


async def put_delivery(store: RedisStore, pool: int) -> str:
    name, url = new_delivery(pool), "https://ann.example/hook"
    posting = Posting(name, "ann", url, endpoint_id("ann", url), "completed", name, "{}")
    await Outbox(store.link, pool, store._settings).take([posting])
    return name


async def jobs(store: RedisStore, offset: int, count: int) -> tuple[list[str], int]:
    found, total = await store.list_jobs("ann", None, offset=offset, count=count)
    return [job.id for job in found], total


async def scenarios(store: RedisStore, offset: int, count: int) -> tuple[list[str], int]:
    found, total = await store.list_scenarios("ann", offset=offset, count=count)
    return [card.id for card in found], total


async def deliveries(store: RedisStore, offset: int, count: int) -> tuple[list[str], int]:
    hooks = RedisWebhooks(store.link, store._settings)
    found, total = await hooks.deliveries("ann", None, offset=offset, count=count)
    return [one.id for one in found], total


@dataclass
class Rows:
    """What is listed of one kind, and how it is kept."""

    put: Callable[[RedisStore, int], Awaitable[str]]
    """Puts one row into a pool."""
    page: Callable[[RedisStore, int, int], Awaitable[tuple[list[str], int]]]
    index: str
    key: str
    made: str
    """The field that says when."""

    async def fill(self, store: RedisStore, pool: int, times_ms: Sequence[int]) -> None:
        """Put a row into a pool, and rows like it that were made at other times before, the oldest first."""
        first = await self.put(store, pool)
        kept = await store.redis.hgetall(f"{{p{pool}}}:{self.key}:{first}")
        async with store.redis.pipeline(transaction=False) as pipe:
            for number, at_ms in enumerate(times_ms):
                name = ids.random_name("job", pool)
                told = {field: word for field, word in {"id": name, self.made: str(at_ms)}.items() if field in kept}
                pipe.hset(key := f"{{p{pool}}}:{self.key}:{name}", mapping=kept | told)
                pipe.expire(key, 1000)
                pipe.zadd(f"{{p{pool}}}:{self.index}", {name: number - len(times_ms) if self.key == "job" else at_ms})
            await pipe.execute()

    async def age(self, store: RedisStore, name: str) -> int:
        return int(await store.redis.hget(f"{{p{name.split('-')[1]}}}:{self.key}:{name}", self.made))


EVERY: Final = pytest.mark.parametrize(
    "rows",
    [
        Rows(put_job, jobs, "jobs:ann", "job", "submitted_ms"),
        Rows(put_scenario, scenarios, "scns:ann", "scn", "created_ms"),
        Rows(put_delivery, deliveries, "wh:all:ann", "wh:d", "created_ms"),
    ],
    ids=["jobs", "scenarios", "deliveries"],
)


@EVERY
async def test_pages_of_several_pools_show_everything_once_and_the_newest_first(spread: RedisStore, rows: Rows) -> None:
    """SPEC T5: however the pools are filled, and with several rows of one millisecond."""
    chance = random.Random(0)
    for pool, size in enumerate((0, 4, 17)):
        await rows.fill(spread, pool, sorted(FIRST_MS + chance.randrange(12) for _ in range(size)))
    whole, total = await rows.page(spread, 0, 99)
    assert len({*whole}) == total == POOLS + 21
    ages = [await rows.age(spread, name) for name in whole]
    assert ages == sorted(ages, reverse=True)
    for size in (1, 5, 7):
        shown = [name for offset in range(0, total + size, size) for name in (await rows.page(spread, offset, size))[0]]
        assert shown == whole


def brought_by(link: Link, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many rows each step and each command brings from now on."""
    brought: list[int] = []
    step, command = link.step, link.command

    async def noting_step(*words: Any) -> Any:
        reply = await step(*words)
        brought.append(len(reply[-1]))
        return reply

    async def noting_command(*words: Any) -> Any:
        reply = await command(*words)
        brought.append(len(reply) // 2 if words[0] == "ZREVRANGE" else 0)
        return reply

    monkeypatch.setattr(link, "step", noting_step)
    monkeypatch.setattr(link, "command", noting_command)
    return brought


@EVERY
async def test_a_page_far_behind_brings_little_in_each_step(
    spread: RedisStore, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our choice: others wait for each step; of what a page does not show, little more than the ages is read."""
    for pool in range(2):
        await rows.fill(spread, pool, range(FIRST_MS + pool, FIRST_MS + pool + 2400, 2))
    brought = brought_by(spread.link, monkeypatch)
    found, total = await rows.page(spread, 2390, 10)
    assert (len(found), total) == (10, 2402)
    assert max(brought) <= pages.AT_ONCE
    assert sum(brought) < 2390 + 2 * pages.AT_ONCE
    brought.clear()
    assert await rows.page(spread, 49_999_950, 50) == ([], total)
    assert max(brought) <= pages.AT_ONCE


@EVERY
async def test_a_page_far_behind_of_one_pool_brings_what_it_shows(
    store: RedisStore, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our choice: others wait for each step."""
    await rows.fill(store, 0, range(FIRST_MS, FIRST_MS + 1200))
    brought = brought_by(store.link, monkeypatch)
    found, total = await rows.page(store, 1190, 10)
    assert (len(found), total) == (10, 1201)
    assert sum(brought) == 10
    assert await rows.page(store, 49_999_950, 50) == ([], total)
    assert sum(brought) == 10
