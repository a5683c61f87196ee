"""Pages of what several shards list together (SPEC T5, J7)."""

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from planner_mcp.jobs import ids
from planner_mcp.jobs.job_model import SolveRequest, StoredScenario
from planner_mcp.jobs.store.connection import shard_pages
from planner_mcp.jobs.store.connection.script_client import ScriptClient
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.webhooks.outbox import NewDelivery, Outbox
from planner_mcp.jobs.store.webhooks.webhook_store import RedisWebhookStore
from planner_mcp.jobs.webhooks.endpoint_policy import endpoint_id
from planner_mcp.settings import Settings

pytestmark = pytest.mark.anyio
SHARDS = 3
FIRST_MS = 1_700_000_000_000


@pytest.fixture
async def spread(settings: Settings) -> AsyncIterator[RedisStore]:
    """A store of several shards."""
    async with connect(settings.model_copy(update={"pools": SHARDS})) as store:
        await store.redis.flushdb()
        yield store


async def put_scenario(store: RedisStore, shard: int) -> str:
    name = ids.random_id("scn", shard)
    await store.put_scenario(StoredScenario(name, "ann", {"name": "a day"}, datetime.now(UTC), "h"))
    return name


async def put_job(store: RedisStore, shard: int) -> str:
    request = SolveRequest(await put_scenario(store, shard), 30)
    return (await store.submit("ann", request, ids.random_id("job", shard))).id


async def put_delivery(store: RedisStore, shard: int) -> str:
    name, url = ids.random_test_id(shard), "https://ann.example/hook"
    scheduled = NewDelivery(name, "ann", url, endpoint_id("ann", url), "completed", name, "{}")
    await Outbox(store.script_client, shard, store._settings).take([scheduled])
    return name


async def jobs(store: RedisStore, offset: int, count: int) -> tuple[list[str], int]:
    found, total = await store.list_jobs("ann", None, offset=offset, count=count)
    return [job.id for job in found], total


async def scenarios(store: RedisStore, offset: int, count: int) -> tuple[list[str], int]:
    found, total = await store.list_scenarios("ann", offset=offset, count=count)
    return [card.id for card in found], total


async def deliveries(store: RedisStore, offset: int, count: int) -> tuple[list[str], int]:
    hooks = RedisWebhookStore(store.script_client, store._settings)
    found, total = await hooks.deliveries("ann", None, offset=offset, count=count)
    return [one.id for one in found], total


@dataclass
class Rows:
    """What is listed of one kind, and how it is kept."""

    put: Callable[[RedisStore, int], Awaitable[str]]
    """Puts one row into a shard."""
    page: Callable[[RedisStore, int, int], Awaitable[tuple[list[str], int]]]
    index: str
    key: str
    made: str
    """The field that says when."""

    async def fill(self, store: RedisStore, shard: int, times_ms: Sequence[int]) -> None:
        """Put a row into a shard, and rows like it that were made at other times before, the oldest first."""
        first = await self.put(store, shard)
        kept = await store.redis.hgetall(f"{{p{shard}}}:{self.key}:{first}")
        async with store.redis.pipeline(transaction=False) as pipe:
            for number, at_ms in enumerate(times_ms):
                name = ids.random_id("job", shard)
                identity = {field: word for field, word in {"id": name, self.made: str(at_ms)}.items() if field in kept}
                pipe.hset(key := f"{{p{shard}}}:{self.key}:{name}", mapping=kept | identity)
                pipe.expire(key, 1000)
                pipe.zadd(f"{{p{shard}}}:{self.index}", {name: number - len(times_ms) if self.key == "job" else at_ms})
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
    """SPEC T5: however the shards are filled, and with several rows of one millisecond."""
    chance = random.Random(0)
    for shard, size in enumerate((0, 4, 17)):
        await rows.fill(spread, shard, sorted(FIRST_MS + chance.randrange(12) for _ in range(size)))
    whole, total = await rows.page(spread, 0, 99)
    assert len({*whole}) == total == SHARDS + 21
    ages = [await rows.age(spread, name) for name in whole]
    assert ages == sorted(ages, reverse=True)
    for size in (1, 5, 7):
        shown = [name for offset in range(0, total + size, size) for name in (await rows.page(spread, offset, size))[0]]
        assert shown == whole


def brought_by(script_client: ScriptClient, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many rows each step and each command brings from now on."""
    brought: list[int] = []
    step, command = script_client.step, script_client.command

    async def noting_step(*words: Any) -> Any:
        reply = await step(*words)
        brought.append(len(reply[-1]))
        return reply

    async def noting_command(*words: Any) -> Any:
        reply = await command(*words)
        brought.append(len(reply) // 2 if words[0] == "ZREVRANGE" else 0)
        return reply

    monkeypatch.setattr(script_client, "step", noting_step)
    monkeypatch.setattr(script_client, "command", noting_command)
    return brought


@EVERY
async def test_a_page_far_behind_brings_little_in_each_step(
    spread: RedisStore, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our choice: others wait for each step; of what a page does not show, little more than the ages is read."""
    for shard in range(2):
        await rows.fill(spread, shard, range(FIRST_MS + shard, FIRST_MS + shard + 2400, 2))
    brought = brought_by(spread.script_client, monkeypatch)
    found, total = await rows.page(spread, 2390, 10)
    assert (len(found), total) == (10, 2402)
    assert max(brought) <= shard_pages.AT_ONCE
    assert sum(brought) < 2390 + 2 * shard_pages.AT_ONCE
    brought.clear()
    assert await rows.page(spread, 49_999_950, 50) == ([], total)
    assert max(brought) <= shard_pages.AT_ONCE


@EVERY
async def test_a_page_far_behind_of_one_pool_brings_what_it_shows(
    store: RedisStore, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our choice: others wait for each step."""
    await rows.fill(store, 0, range(FIRST_MS, FIRST_MS + 1200))
    brought = brought_by(store.script_client, monkeypatch)
    found, total = await rows.page(store, 1190, 10)
    assert (len(found), total) == (10, 1201)
    assert sum(brought) == 10
    assert await rows.page(store, 49_999_950, 50) == ([], total)
    assert sum(brought) == 10
