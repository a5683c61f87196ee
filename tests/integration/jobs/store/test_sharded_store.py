"""Several shards on a three-node cluster: no step ever leaves its slot."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import anyio
import pytest

from planner_mcp.errors import (
    IdempotencyConflictError,
    NotFoundError,
    PlannerError,
    QueueFullError,
    QuotaExceededError,
    RateLimitedError,
    StoreUnavailableError,
)
from planner_mcp.jobs import ids
from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.events.pubsub_channels import LISTS_CHANNEL
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Progress, SolveRequest
from planner_mcp.jobs.job_ports import MatrixParts
from planner_mcp.jobs.store import store_keys
from planner_mcp.jobs.store.events.channel_notifier import ChannelNotifier
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.sessions.session_store import SessionStore
from planner_mcp.jobs.store.sessions.subscription_store import SubscriptionStore
from planner_mcp.settings import Settings
from planner_mcp.text import digest_of
from tests.integration.jobs.store.sharded_store import SHARDS, submit

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["one server", "cluster"])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[RedisStore]:
    url = request.getfixturevalue("cluster_url" if request.param == "cluster" else "database_url")
    async with connect(Settings(redis_url=url, pools=SHARDS)) as store:
        if request.param == "cluster":
            await store.redis.flushall()
        yield store


async def test_one_worker_serves_every_pool_and_every_job_completes(store: RedisStore, plan: dict[str, Any]) -> None:
    """Our choice: the job id names its shard; scenario, job, events and plan lie together."""
    jobs = [await submit(store, shard) for shard in range(SHARDS) for _ in range(2)]
    await store.register("w1", 1)
    served: Counter[int] = Counter()
    with anyio.fail_after(30):
        while (claim := await store.claim("w1", 0)) is not None:
            served[ids.shard_of("job", claim.job.id)] += 1
            assert (await store.renew(claim)).is_held
            await store.report(claim, Progress(percent=10), plan)
            await store.complete(claim, Progress(percent=10), plan)
    assert served == dict.fromkeys(range(SHARDS), 2)
    assert await store.reap() == 0
    pages = [await store.list_jobs("ann", JobState.COMPLETED, offset=at, count=5) for at in range(0, 2 * SHARDS, 5)]
    found = [job for page, _total in pages for job in page]
    assert {job.id for job in found} == {job.id for job in jobs}
    assert [job.submitted_at for job in found] == sorted((job.submitted_at for job in jobs), reverse=True)
    assert {total for _page, total in pages} == {2 * SHARDS}
    assert (await store.stats()).live_slots == 1
    await store.ping()


async def test_a_worker_that_knows_of_fewer_pools_does_not_count(store: RedisStore) -> None:
    """SPEC J6, O3: jobs of the others stay queued, so whoever looks is told that nobody lives who would take them."""
    for shard in range(SHARDS - 1):
        await store.script_client.step("register", shard, {"worker": "w1", "slots": 2})
    stats = await store.stats()
    assert (stats.live_workers, stats.live_slots) == (0, 0)
    await store.register("w1", 2)
    stats = await store.stats()
    assert (stats.live_workers, stats.live_slots) == (1, 2)


async def test_a_pool_that_never_runs_dry_does_not_keep_the_others_waiting(
    store: RedisStore, plan: dict[str, Any]
) -> None:
    """SPEC J6, J8: a worker looks into another shard first each time."""
    for shard in range(SHARDS):
        for _ in range(2):
            await submit(store, shard)
    await store.register("w1", 1)
    served = []
    with anyio.fail_after(30):
        for _ in range(SHARDS):
            claim = await store.claim("w1", 1)
            assert claim is not None
            served.append(ids.shard_of("job", claim.job.id))
            await store.complete(claim, Progress(percent=10), plan)
    assert sorted(served) == [*range(SHARDS)]


async def test_what_a_worker_holds_in_one_pool_is_not_taken_for_a_delivery_of_another(
    store: RedisStore, plan: dict[str, Any]
) -> None:
    """SPEC J6: deliveries are numbered in each shard alone, so two may have one name."""
    for shard in (0, 1):
        await submit(store, shard)
        await store.redis.xadd(f"{{p{shard}}}:ready", {"job": "none"}, id="9999999999999-0")  # the next is ...-1
    await store.register("w1", 3)
    first, second = await store.claim("w1", 0), await store.claim("w1", 0)
    assert first is not None
    assert second is not None
    assert first.ready_entry_id == second.ready_entry_id
    await store.complete(second, Progress(percent=10), plan)
    assert await store.claim("w1", 0) is None
    await store.complete(first, Progress(percent=10), plan)


@pytest.mark.slow
async def test_following_and_flags_work_in_every_shard(store: RedisStore, plan: dict[str, Any]) -> None:
    """SPEC J4, T4."""
    await store.register("w1", 1)
    await store.wait_control(0)
    async with aclosing(EventFeed(store)) as feed:
        for shard in range(SHARDS):
            job = await submit(store, shard)
            with anyio.fail_after(30):
                claim = await store.claim("w1", 5)
                assert claim is not None
                await store.cancel("ann", job.id, keep_best=True)
                assert await store.wait_control(5) == [job.id]
                await store.settle_cancel(claim)
                kinds = [event.kind.value async for event in feed.follow("ann", job.id)]
            assert kinds == ["queued", "started", "cancelled"]


async def test_an_idempotency_key_is_one_across_all_shards(store: RedisStore) -> None:
    """SPEC T2: the key's home shard knows its arguments."""
    first = await submit(store, 0, idempotency_key="k")
    assert (await store.submit("ann", first.request, ids.random_id("job", 0))).id == first.id
    with pytest.raises(IdempotencyConflictError):
        await submit(store, 1, idempotency_key="k")


@pytest.mark.parametrize(
    ("limits", "refusal"),
    [
        ({}, NotFoundError),
        ({"max_queued": 1}, QueueFullError),
        ({"max_queued_per_principal": 1}, QuotaExceededError),
        ({"submit_rate_per_s": 0.001, "submit_burst": 1}, RateLimitedError),
    ],
)
async def test_a_refused_submit_leaves_its_key_free(
    store: RedisStore, limits: dict[str, float], refusal: type[PlannerError]
) -> None:
    """SPEC T2: a key whose job was never made names nothing, whatever the reason."""
    async with connect(store._settings.model_copy(update=limits)) as narrow:
        first = await submit(narrow, 0)
        scenario = first.request.scenario_id if limits else ids.random_id("scn", 0)
        refused = SolveRequest(scenario, 31, idempotency_key="k")
        with pytest.raises(refusal):
            await narrow.submit("ann", refused, ids.random_id("job", 0))
        other = await submit(narrow, 1, idempotency_key="k")
        with pytest.raises(IdempotencyConflictError):
            await narrow.submit("ann", refused, ids.random_id("job", 0))
        assert (await narrow.submit("ann", other.request, ids.random_id("job", 1))).id == other.id


@asynccontextmanager
async def refused_late(store: RedisStore, request: SolveRequest) -> AsyncIterator[None]:
    """Have a call refused that takes its key back only at the end of the block."""
    take_back, waits, may = store._release_key, anyio.Event(), anyio.Event()

    async def late(args: dict[str, Any]) -> None:
        store._release_key = take_back  # type: ignore[method-assign]
        waits.set()
        await may.wait()
        await take_back(args)

    store._release_key = late  # type: ignore[method-assign]
    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(refused, store, request)
            await waits.wait()
            yield
            may.set()


async def refused(store: RedisStore, request: SolveRequest) -> None:
    with pytest.raises(QuotaExceededError):
        await store.submit("ann", request, ids.random_id("job", 0))


async def test_a_key_on_which_another_call_relies_is_not_taken_back(store: RedisStore) -> None:
    """SPEC T2: of two equal calls at once one may be refused and the other not; the key goes on naming its job."""
    async with connect(store._settings.model_copy(update={"max_queued_per_principal": 1})) as narrow:
        first = await submit(narrow, 0)
        request = SolveRequest(first.request.scenario_id, 31, idempotency_key="k")
        async with refused_late(narrow, request):
            await narrow.cancel("ann", first.id, keep_best=True)
            made = await narrow.submit("ann", request, ids.random_id("job", 0))
        assert (await narrow.submit("ann", request, ids.random_id("job", 0))).id == made.id
        with pytest.raises(IdempotencyConflictError):
            await submit(narrow, 1, idempotency_key="k")


async def test_a_key_whose_calls_were_all_refused_is_free(store: RedisStore) -> None:
    """SPEC T2: also when equal calls were under way at once, of which none was the first and the last."""
    async with connect(store._settings.model_copy(update={"max_queued_per_principal": 1})) as narrow:
        first = await submit(narrow, 0)
        request = SolveRequest(first.request.scenario_id, 31, idempotency_key="k")
        async with refused_late(narrow, request):
            await refused(narrow, request)
            with pytest.raises(IdempotencyConflictError):
                await submit(narrow, 1, idempotency_key="k")
        other = await submit(narrow, 1, idempotency_key="k")
        assert (await narrow.submit("ann", other.request, ids.random_id("job", 1))).id == other.id


@pytest.mark.parametrize("is_made", [False, True], ids=["lost", "made"])
async def test_a_key_whose_call_had_no_answer_names_what_was_made(store: RedisStore, is_made: bool) -> None:
    """SPEC T2: in doubt it stays with its arguments for as long as a call may take, and then only with a job."""
    async with connect(store._settings.model_copy(update={"max_queued_per_principal": 1})) as narrow:
        scenario_id = (await submit(narrow, 0)).request.scenario_id
        request = SolveRequest(scenario_id, 31, idempotency_key="k")
        if is_made:
            (queued,), _total = await narrow.list_jobs("ann", None, offset=0, count=1)
            await narrow.cancel("ann", queued.id, keep_best=True)
        step = narrow.script_client.safe_step

        async def unanswered(*args: Any) -> Any:
            if is_made:
                await step(*args)
            raise StoreUnavailableError

        narrow.script_client.safe_step = unanswered  # type: ignore[method-assign]
        with pytest.raises(StoreUnavailableError):
            await narrow.submit("ann", request, ids.random_id("job", 0))
        narrow.script_client.safe_step = step  # type: ignore[method-assign]
        if not is_made:
            with pytest.raises(QuotaExceededError):
                await narrow.submit("ann", request, ids.random_id("job", 0))
        with pytest.raises(IdempotencyConflictError):
            await submit(narrow, 1, idempotency_key="k")
        await _calls_are_over(narrow, "k")
        if is_made:
            with pytest.raises(IdempotencyConflictError):
                await submit(narrow, 1, idempotency_key="k")
        else:
            await submit(narrow, 1, idempotency_key="k")
            with pytest.raises(IdempotencyConflictError):
                await narrow.submit("ann", request, ids.random_id("job", 0))


async def _calls_are_over(store: RedisStore, idempotency_key: str) -> None:
    """Make the calls with a key as old as a call may become."""
    idem = f"key:{digest_of(idempotency_key)}"
    calls = store_keys.key(store._home({"idem": idem}), "calls", "ann", idem)
    assert await store.redis.zcard(calls)
    await store.redis.zadd(calls, dict.fromkeys(await store.redis.zrange(calls, 0, -1), 1))


async def test_a_share_of_the_slots_counts_over_all_shards(store: RedisStore) -> None:
    """SPEC J8: every shard has the same slots, so each gives a part of the share, and at least one."""
    async with connect(store._settings.model_copy(update={"max_share": 0.5})) as fair:
        for shard in range(SHARDS):
            for _ in range(3):
                await submit(fair, shard)
        for worker in ("w1", "w2"):
            await fair.register(worker, 2 * SHARDS)
            for _ in range(SHARDS):
                assert await fair.claim(worker, 0) is not None
            assert await fair.claim(worker, 0) is None


async def test_a_refusal_names_the_limit_of_the_pool_that_refused(store: RedisStore) -> None:
    """SPEC J8: what a principal may is divided among the shards; a day and its revisions lie in one."""
    limits = {"max_queued_per_principal": 12, "max_matrices": 20}
    async with connect(store._settings.model_copy(update=limits)) as narrow:
        for _ in range(2):
            await submit(narrow, 0)
        with pytest.raises(QuotaExceededError) as refused:
            await submit(narrow, 0)
        assert refused.value.errors[0].accepted == "max_queued_per_principal is 12, 2 in each of 8 pools"
        for _ in range(3):
            await narrow.put_matrix("ann", MatrixParts(ids.random_id("mat", 0)), {"locations": "[]"}, is_cache=False)
        with pytest.raises(QuotaExceededError) as refused:
            await narrow.put_matrix("ann", MatrixParts(ids.random_id("mat", 0)), {"locations": "[]"}, is_cache=False)
        assert refused.value.errors[0].accepted == "max_matrices is 20, 3 in each of 8 pools"
        await submit(narrow, 1)


async def test_sessions_keep_streams_and_watches_and_receive_changes(store: RedisStore) -> None:
    """SPEC X1, J7: what a session owns lies in one slot; its channels, which have none, reach every replica."""
    sessions, watches, notifier = (
        SessionStore(store.redis),
        SubscriptionStore(store.redis),
        ChannelNotifier(store.redis),
    )
    await sessions.create("s1", {"principal": "ann"})
    async with anyio.create_task_group() as group:
        group.start_soon(notifier.run)
        with anyio.fail_after(30):
            await anyio.wait_all_tasks_blocked()
            async with notifier.watch(LISTS_CHANNEL) as waiter:
                assert await waiter.wait(5)
                await watches.announce("ann", "tools")
                assert await waiter.wait(5)
            assert await sessions.take_standalone("s1", "token") is False
            assert await sessions.standalone_holder("s1") == "token"
            await watches.watch("s1", "job", "text", {"job": "1"})
            assert await watches.watched("s1") == ({"job": "text"}, {"job": "1"})
            assert set(await watches.list_versions("ann")) == {"tools"}
            await sessions.delete("s1")
        group.cancel_scope.cancel()
