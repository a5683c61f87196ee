"""Redis goes away, refuses, and comes back (SPEC J7)."""

import os
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from redis.exceptions import ReadOnlyError

from planner_mcp.errors import StoreError, StoreUnavailableError
from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.job_events import Event
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.store.connection.redis_clients import single_client
from planner_mcp.jobs.store.connection.script_client import ANSWER_S
from planner_mcp.jobs.store.embedded_server import EmbeddedServer
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.shared.processes.stopwatch import Stopwatch

pytestmark = pytest.mark.anyio


@pytest.fixture
def server() -> Iterator[EmbeddedServer]:
    """A server of the test's own, to be killed."""
    with tempfile.TemporaryDirectory(prefix="planner-") as folder, EmbeddedServer(Path(folder)) as server:
        yield server


@pytest.fixture
async def store(server: EmbeddedServer) -> AsyncIterator[RedisStore]:
    async with connect(Settings(redis_url=server.url)) as store:
        yield store


def kill(server: EmbeddedServer) -> None:
    """SIGKILL the server and see it dead."""
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)
    while server.is_alive():
        pass


async def until_blocked(store: RedisStore) -> None:
    """Return when the server holds somebody's call."""
    while not int((await store.redis.info("clients"))["blocked_clients"]):  # noqa: ASYNC110 only the server knows
        await anyio.sleep(0.01)


async def test_everything_acknowledged_is_there_after_a_crash_of_the_server(
    harness: Any, server: EmbeddedServer, plan: dict[str, Any], half: Progress
) -> None:
    """SPEC J7: jobs, claims, events and idempotency resume where they stood."""
    claim = await harness.solving()
    waiting = await harness.submit()
    await harness.store.report(claim, half, plan)
    kill(server)
    with pytest.raises(StoreUnavailableError):
        await harness.store.get_job("ann", waiting.id)
    with pytest.raises(StoreUnavailableError):
        await harness.store.complete(claim, half, plan)
    server.start()
    assert (await harness.store.renew(claim)).is_held
    await harness.store.complete(claim, half, plan)
    assert (await harness.store.submit("ann", waiting.request, waiting.id)).id == waiting.id
    assert (await harness.claim()).job.id == waiting.id
    assert await harness.kinds(claim.job.id) == ["queued", "started", "progress", "completed"]


async def test_a_follower_waits_an_outage_out_and_misses_nothing(
    harness: Any, server: EmbeddedServer, plan: dict[str, Any]
) -> None:
    """SPEC J4."""
    claim = await harness.solving()
    seen: list[Event] = []

    async def follow(feed: EventFeed, started: anyio.Event) -> None:
        async with aclosing(feed.follow("ann", claim.job.id)) as events:
            async for event in events:
                seen.append(event)
                started.set()

    async with aclosing(EventFeed(harness.store)) as feed:
        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                started = anyio.Event()
                group.start_soon(follow, feed, started)
                await started.wait()
                kill(server)
                server.start()
                await harness.store.report(claim, Progress(percent=10), None)
                await harness.store.complete(claim, Progress(), plan)
    assert seen == await harness.events(claim.job.id)


async def test_a_claim_that_waits_reports_the_outage_and_works_after_it(harness: Any, server: EmbeddedServer) -> None:
    """SPEC J7: the worker hears of it and tries again."""
    await harness.workers()

    async def kill_under_it() -> None:
        await until_blocked(harness.store)
        kill(server)

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(kill_under_it)
            with pytest.raises(StoreUnavailableError):
                await harness.store.claim("w1", 10)
        server.start()
        job = await harness.submit()
        assert (await harness.claim()).job.id == job.id


async def test_a_blocked_read_is_unavailable_when_a_primary_becomes_a_replica(harness: Any) -> None:
    """SPEC J7: a failover interrupts reads that block; a worker must take it for an outage and not die of it."""
    redis, outcomes = harness.store.redis, list[str]()

    async def wait() -> None:
        with pytest.raises(StoreUnavailableError):
            await harness.store.wait_control(30)
        outcomes.append("away")

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            await until_blocked(harness.store)
            await redis.execute_command("REPLICAOF", "127.0.0.1", "1")
    await redis.execute_command("REPLICAOF", "NO", "ONE")
    assert outcomes == ["away"]


async def test_a_paused_server_is_not_ready_within_two_seconds(harness: Any, server: EmbeddedServer) -> None:
    """SPEC J7: half-open is as bad as closed."""
    await harness.store.ping()
    assert server.pid is not None
    os.kill(server.pid, signal.SIGSTOP)
    try:
        watch = Stopwatch()
        with pytest.raises(StoreUnavailableError):
            await harness.store.ping()
        assert watch.spent_s < 2
    finally:
        os.kill(server.pid, signal.SIGCONT)
    with anyio.fail_after(30):
        await harness.store.ping()


async def test_a_delivery_that_could_not_be_claimed_is_claimed_when_the_store_is_back(
    harness: Any, server: EmbeddedServer
) -> None:
    """SPEC J7: it does not wait for its lease to end, and no crash is counted."""
    await harness.workers()
    job = await harness.submit()
    await harness.store.script_client.read_group("{p0}:ready", group="workers", consumer="w1", block_s=1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(harness.store.script_client.commands, "execute_command", _refuse)
        with pytest.raises(StoreUnavailableError):
            await harness.store.claim("w1", 0.1)
    claim = await harness.claim(wait_s=0)
    assert (claim.job.id, claim.job.crashes) == (job.id, 0)


async def _refuse(*_words: Any) -> None:
    raise ReadOnlyError("READONLY")


async def test_a_pooled_connection_to_a_demoted_primary_is_dialled_anew(harness: Any, server: EmbeddedServer) -> None:
    """SPEC J7: the store's name may lead elsewhere by now, so a connection refused a write for that is left."""
    client = single_client(server.url, timeout_s=2.0, connections=1)
    try:
        first = await client.execute_command("CLIENT", "ID")
        assert await client.execute_command("CLIENT", "ID") == first
        await harness.store.redis.execute_command("REPLICAOF", "127.0.0.1", "1")
        with pytest.raises(ReadOnlyError):
            await client.set("x", "1")
        assert await client.execute_command("CLIENT", "ID") != first
    finally:
        await harness.store.redis.execute_command("REPLICAOF", "NO", "ONE")
        await client.aclose()


@pytest.mark.parametrize(
    "refusal",
    [
        ("CONFIG", "SET", "maxmemory", "1"),
        ("REPLICAOF", "127.0.0.1", "1"),
        ("CONFIG", "SET", "min-replicas-to-write", "1"),
    ],
    ids=["OOM", "READONLY", "NOREPLICAS"],
)
async def test_a_server_that_refuses_writes_is_unavailable_and_half_a_step_never_stands(
    harness: Any, refusal: tuple[str, ...]
) -> None:
    """SPEC J7."""
    request = await harness.request()
    await harness.store.redis.execute_command(*refusal)
    with pytest.raises(StoreUnavailableError):
        await harness.store.ping()
    with pytest.raises(StoreUnavailableError):
        await harness.store.submit("ann", request, "job-0-" + "a" * 26)
    for undo in (("CONFIG", "SET", "maxmemory", "0"), ("REPLICAOF", "NO", "ONE")):
        await harness.store.redis.execute_command(*undo)
    await harness.store.redis.execute_command("CONFIG", "SET", "min-replicas-to-write", "0")
    assert (await harness.store.stats()).queued == 0
    assert (await harness.store.submit("ann", request, "job-0-" + "a" * 26)).state is JobState.QUEUED


@pytest.mark.slow
async def test_a_process_waits_for_a_server_that_is_slow_when_it_starts(server: EmbeddedServer) -> None:
    """SPEC J7: longer than anybody is made to wait for an answer."""
    assert server.pid is not None
    os.kill(server.pid, signal.SIGSTOP)

    async def go_on() -> None:
        await anyio.sleep(1.2 * ANSWER_S)  # what is tested is that time passes
        os.kill(server.pid or 0, signal.SIGCONT)

    async with anyio.create_task_group() as group:
        group.start_soon(go_on)
        async with connect(Settings(redis_url=server.url)) as store:
            assert await store.ping() == [0]


async def test_a_server_that_may_evict_jobs_is_refused(server: EmbeddedServer, store: RedisStore) -> None:
    """Our choice: start refused on an evicting maxmemory-policy."""
    await store.redis.config_set("maxmemory-policy", "allkeys-lru")
    with pytest.raises(StoreError, match="noeviction"):
        async with connect(Settings(redis_url=server.url)):
            pass


@pytest.mark.parametrize(("query", "hint"), [("", "asks for a password"), ("?password=s3cret", "refuses the password")])
async def test_a_missing_or_wrong_password_is_reported(
    query: str, hint: str, server: EmbeddedServer, store: RedisStore
) -> None:
    """SPEC O3: an operator mends the URL; trying again mends nothing."""
    await store.redis.config_set("requirepass", "another")
    with pytest.raises(StoreUnavailableError, match=f"{hint}.* PLANNER_REDIS_URL") as refused:
        async with connect(Settings(redis_url=f"{server.url}{query}")):
            pass
    await store.redis.execute_command("AUTH", "another")
    await store.redis.config_set("requirepass", "")
    assert "s3cret" not in refused.value.message


async def test_a_url_without_a_store_is_reported_at_once() -> None:
    """SPEC J7."""
    with anyio.fail_after(30), pytest.raises(StoreUnavailableError):
        async with connect(Settings(redis_url="unix:///nowhere/at.all")):
            pass


async def test_a_running_process_restarts_its_embedded_server(tmp_path: Path) -> None:
    """SPEC J7: `serve` on one machine needs nobody to restart the store."""
    settings = Settings(data_dir=tmp_path)
    async with connect(settings) as store:
        await store.ping()
        kill(EmbeddedServer(tmp_path))
        with anyio.fail_after(30):
            while True:
                with suppress(StoreUnavailableError):
                    await store.ping()
                    break
                await anyio.sleep(0.02)


async def test_a_read_that_was_given_up_holds_up_nobody(store: RedisStore) -> None:
    """SPEC J7: the next reader does not wait behind it on the same connection."""
    with anyio.move_on_after(0.05):
        await store.script_client.read_stream("{p0}:ev:silent", "0", count=1, block_s=120)
    await store.redis.xadd("{p0}:ev:told", {"of": "told"})
    await store.redis.expire("{p0}:ev:told", 60)
    with anyio.fail_after(30):
        entries = await store.script_client.read_stream("{p0}:ev:told", "0", count=1, block_s=5)
    assert [fields for _id, fields in entries] == [{"of": "told"}]
