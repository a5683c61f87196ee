"""One node of a cluster is away for long: what lies on the others goes on (SPEC J6, J7)."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

import anyio
import pytest

from planner_mcp.errors import StoreUnavailableError
from planner_mcp.jobs import ids
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_ports import Claim
from planner_mcp.jobs.store.connection import shard_cluster
from planner_mcp.jobs.store.connection.redis_clients import cluster_client
from planner_mcp.jobs.store.connection.shard_availability import ShardAvailability
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.integration.jobs.store.sharded_store import submit
from tests.shared.processes.wait_until import until
from tests.shared.store.redis_cluster import Cluster, cluster_of_three
from tests.shared.store.valkey_server import Valkey

pytestmark = pytest.mark.anyio
SHARDS = 6
LEASE_S = 1.0


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three nodes without replicas, each of which goes on when another is away."""
    folder = tmp_path_factory.mktemp("cluster")
    options = {"cluster_require_full_coverage": "no", "cluster_node_timeout": "5000"}
    durable = {"appendonly": "yes", "appendfsync": "always"}  # a node that is killed comes back with what it confirmed
    with cluster_of_three(folder, **options, **durable) as cluster:
        yield cluster


@pytest.fixture
async def store(cluster: Cluster) -> AsyncIterator[RedisStore]:
    cluster.until_whole()
    async with connect(Settings(redis_url=cluster.url, pools=SHARDS, lease_s=LEASE_S)) as store:
        await store.redis.flushall()
        yield store


@contextmanager
def away(node: Valkey) -> Iterator[None]:
    """A node is killed, and started again after the block."""
    node.kill()
    try:
        yield
    finally:
        node.start()


@contextmanager
def moving(cluster: Cluster, slot: int, here: Valkey, there: Valkey) -> Iterator[None]:
    """A slot is on its way for the length of the block, and has come after it.

    Who takes it says so under an epoch of its own: without one an older word of the other may still win.
    """
    names = here.ask("CLUSTER", "MYID"), there.ask("CLUSTER", "MYID")
    there.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", names[0])
    here.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", names[1])
    yield
    for node in (there, here, *cluster.primaries):
        node.ask("CLUSTER", "SETSLOT", slot, "NODE", names[1])


async def until_there(store: RedisStore, pools: set[int]) -> None:
    """Return when these shards and no others take writes, and the rest are counted as away."""

    async def are_there() -> bool:
        return {*await store.ping()} == pools and (await store.stats()).pools_away == SHARDS - len(pools)

    await until(are_there, 60)


async def until_reaped(store: RedisStore) -> None:
    """Return when the one job that is held was put back in the queue."""

    async def is_reaped() -> bool:
        return await store.reap() == 1

    await until(is_reaped, 30)


async def claimed(store: RedisStore) -> Claim:
    """Take the next job of the shards that are there. A worker that was held up says again that it lives."""
    with anyio.fail_after(30):
        while True:
            await store.register("w1", 1)
            if claim := await store.claim("w1", 0.2):
                return claim


@pytest.mark.parametrize("number", [0, *(pytest.param(other, marks=pytest.mark.slow) for other in (1, 2))])
async def test_what_lies_on_the_other_nodes_goes_on(
    cluster: Cluster, store: RedisStore, plan: dict[str, Any], number: int
) -> None:
    """SPEC J6, J7: submit, claim, cancel, stats and readiness, whichever node is away; its shards are back with it."""
    node = cluster.primaries[number]
    lost = cluster.pools_of(node, SHARDS)
    assert lost
    await store.register("w1", 1)
    await store.wait_control(0)
    scenarios = {shard: (await submit(store, shard)).request for shard in range(SHARDS)}
    served: list[int] = []
    with away(node):
        await store.register("w1", 1)
        for shard, request in scenarios.items():
            if shard in lost:
                with anyio.fail_after(30), pytest.raises(StoreUnavailableError):
                    await store.submit("ann", request, ids.random_id("job", shard))
        there = set(range(SHARDS)) - lost
        for _ in there:
            claim = await claimed(store)
            served.append(ids.shard_of("job", claim.job.id))
            await store.cancel("ann", claim.job.id, keep_best=True)
            assert await store.wait_control(30) == [claim.job.id]
            await store.settle_cancel(claim)
        assert {*served} == there
        await until_there(store, there)
    await until_there(store, set(range(SHARDS)))
    for _ in lost:
        claim = await claimed(store)
        served.append(ids.shard_of("job", claim.job.id))
        await store.complete(claim, claim.job.progress, plan)
    assert sorted(served) == [*range(SHARDS)]


async def test_more_commands_at_once_than_connections_wait_for_each_other(cluster: Cluster) -> None:
    """SPEC J7: as at a single server; a burst is no failure of a node. Plain commands and those run together."""
    cluster.until_whole()
    client = cluster_client(cluster.url, timeout_s=5, connections=4)
    try:
        plain = [client.execute_command("SET", *_words(at)) for at in range(40)]
        together = [client.run_together(_words(at)[0], [("SET", *_words(at))]) for at in range(40)]
        assert set(map(str, await asyncio.gather(*plain, *together))) == {"True", "[True]"}
    finally:
        await client.close_connections()


def _words(number: int) -> tuple[str, str]:
    return f"{{burst}}:{number}", "1"


async def test_a_plan_to_start_from_on_a_node_that_is_away_holds_up_nobody(
    cluster: Cluster, store: RedisStore, plan: dict[str, Any]
) -> None:
    """SPEC J6, J7: it counts as none, like one that has expired; its job is claimed once, and its shard stays there."""
    node = cluster.holder(0)
    shard = max({*range(SHARDS)} - cluster.pools_of(node, SHARDS))
    await store.register("w1", 2)
    earlier = await submit(store, 0)
    claim = await store.claim("w1", 1)
    assert claim is not None
    await store.complete(claim, claim.job.progress, plan)
    with away(node):
        await store.register("w1", 2)
        warm = await submit(store, shard, warm_plan_id=ids.plan_of(earlier.id))
        with anyio.fail_after(30):
            claim = await store.claim("w1", 5)
        assert claim is not None
        assert (claim.job.id, claim.job.fence, claim.best_plan) == (warm.id, 1, None)
        assert shard in store.availability.there()


async def test_a_job_of_a_lost_worker_runs_again_while_another_node_is_away(
    cluster: Cluster, store: RedisStore
) -> None:
    """SPEC J6: sweeping does not stop at the first shard that is away."""
    node = cluster.holder(0)
    shard = max({*range(SHARDS)} - cluster.pools_of(node, SHARDS))
    job = await submit(store, shard)
    await claimed(store)
    with away(node):
        await store.register("w1", 1)
        await until_reaped(store)
        assert (await store.get_job("ann", job.id)).state is JobState.QUEUED


@pytest.mark.slow
async def test_nobody_loses_a_job_for_a_lease_that_ran_out_while_its_node_was_away(
    cluster: Cluster, store: RedisStore
) -> None:
    """SPEC J6: once the node is back its leases count anew; a worker that stays silent loses its job then."""
    now = monotonic()
    store.availability = ShardAvailability(
        SHARDS, LEASE_S, clock=lambda: now
    )  # a stall of this machine must not use the lease up
    job = await submit(store, 0)
    claim = await claimed(store)
    with away(cluster.holder(0)):
        await store.register("w1", 1)
        await anyio.sleep(1.1 * LEASE_S)
        now += 1.1 * LEASE_S
    await until_there(store, set(range(SHARDS)))
    assert await store.reap() == 0
    assert (await store.renew(claim)).is_held
    store.availability._clock = monotonic
    await until_reaped(store)
    assert (await store.get_job("ann", job.id)).state is JobState.QUEUED


@pytest.mark.slow
async def test_a_node_that_stays_away_does_not_renew_the_connections_to_the_others(
    cluster: Cluster, store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J7: its errors have the slot map read at most once an interval, whatever is asked of it meanwhile."""
    monkeypatch.setattr(shard_cluster, "MAP_INTERVAL_S", 3600.0)
    node = cluster.holder(0)
    lost = cluster.pools_of(node, SHARDS)
    others = [other for other in cluster.primaries if other is not node]
    await store.ping()
    newest = [newest_connection(other) for other in others]
    with away(node):
        for _ in range(20):
            assert {*await store.ping()} == {*range(SHARDS)} - lost
        assert [newest_connection(other) for other in others] == newest
    cluster.until_whole()
    assert {*await store.ping()} == {*range(SHARDS)}


def newest_connection(node: Valkey) -> int:
    """Return the id of the newest connection that a store has to a node; ids only rise."""
    clients = [dict(word.split("=", 1) for word in line.split()) for line in node.ask("CLIENT", "LIST").splitlines()]
    return max(int(each["id"]) for each in clients if each["name"] == "planner-mcp")


async def test_a_pool_that_moves_is_found_and_one_on_its_way_is_away(cluster: Cluster, store: RedisStore) -> None:
    """SPEC J7: no step is ever run on half of a shard."""
    shard, here = 5, cluster.holder(5)
    there = next(node for node in cluster.primaries if node is not here)
    slot, job = cluster.slot_of(shard), await submit(store, shard)
    with moving(cluster, slot, here, there):
        with pytest.raises(StoreUnavailableError):
            await store.cancel("ann", job.id, keep_best=True)
        for key in here.ask("CLUSTER", "GETKEYSINSLOT", slot, 1000):
            here.ask("MIGRATE", "127.0.0.1", there.port, key, 0, 5000)
    assert (await store.cancel("ann", job.id, keep_best=True)).state is JobState.CANCELLED
    for node in cluster.primaries:
        node.ask("FLUSHALL")
    with moving(cluster, slot, there, here):
        pass


async def test_a_process_starts_while_the_first_node_of_its_url_is_away(cluster: Cluster) -> None:
    """SPEC J7: the URL may name several nodes."""
    cluster.until_whole()
    first, second, _third = cluster.primaries
    with away(first):
        async with connect(Settings(redis_url=f"{first.url},{second.url}", pools=SHARDS)) as store:
            assert {*await store.ping()} == {*range(SHARDS)} - cluster.pools_of(first, SHARDS)


def test_a_pool_is_spared_for_a_lease_from_when_it_went_and_from_when_it_is_back() -> None:
    """SPEC J6: and no longer, or a node that stays away would keep jobs elsewhere from running again."""
    now = [0.0]
    availability = ShardAvailability(2, LEASE_S, clock=lambda: now[0])
    with availability.tracking(1):
        raise StoreUnavailableError
    assert (availability.there(), availability.reapable()) == ([0], [0])
    now[0] += 5 * LEASE_S
    with availability.tracking(1):
        pass
    assert (availability.there(), availability.reapable()) == ([0, 1], [0])
    now[0] += LEASE_S
    assert availability.reapable() == [0, 1]


def test_the_store_is_away_when_no_pool_is_there() -> None:
    """SPEC J7: every shard is then worth asking."""
    availability = ShardAvailability(2, LEASE_S)
    with availability.tracking(0):
        raise StoreUnavailableError
    with pytest.raises(StoreUnavailableError), availability.tracking(1):
        raise StoreUnavailableError
    assert availability.there() == range(2)
