"""Dispatchers over several shards, on one server and on a cluster (SPEC W3, J9)."""

from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path

import anyio
import pytest

from planner_mcp.jobs import ids
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.webhooks.outbox import AttemptOutcome, NewDelivery, Outbox
from planner_mcp.jobs.store.webhooks.webhook_store import RedisWebhookStore
from planner_mcp.jobs.webhooks.delivery_records import DeliveryState, EndpointState
from planner_mcp.jobs.webhooks.endpoint_policy import DeliveryDecision, endpoint_id
from planner_mcp.settings import Settings
from tests.integration.jobs.store.sharded_store import SHARDS, submit
from tests.integration.jobs.webhooks.conftest import dispatching_webhooks
from tests.shared.http.webhook_receiver import Receiver, answering
from tests.shared.store.redis_cluster import cluster_of_three

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["one server", "cluster"])
async def spread(request: pytest.FixtureRequest, settings: Settings) -> AsyncIterator[tuple[RedisStore, Settings]]:
    """A store of several shards, and the settings it was opened with."""
    url = request.getfixturevalue("cluster_url") if request.param == "cluster" else settings.redis_url
    wide = settings.model_copy(update={"redis_url": url, "pools": SHARDS})
    async with connect(wide) as store:
        if request.param == "cluster":
            await store.redis.flushall()
        yield store, wide


async def test_webhooks_are_delivered_from_every_shard(spread: tuple[RedisStore, Settings], receiver: Receiver) -> None:
    """Our choice: no step leaves its slot; deliveries of all shards are listed together and replayed."""
    store, settings = spread
    receiver.answers["/hook"] = [answering(413), answering(200)]
    jobs = [await submit(store, shard, callback_url=receiver.url("/hook")) for shard in range(SHARDS)]
    for job in jobs:
        await store.cancel("ann", job.id, keep_best=True)
    hooks = RedisWebhookStore(store.script_client, settings)
    async with dispatching_webhooks(store, settings):
        await receiver.wait_for(SHARDS, "/hook", within_s=30)
        while not (dead := (await hooks.deliveries("ann", DeliveryState.DEAD, offset=0, count=10))[0]):
            pass
        await hooks.replay("ann", dead[0].id)
        await receiver.wait_for(SHARDS + 1, "/hook")
    found, total = await hooks.deliveries("ann", None, offset=0, count=5)
    assert (len(found), total) == (5, SHARDS)
    assert {one.job_id for one in found} < {job.id for job in jobs}


@pytest.mark.parametrize("asks", ["test", "replay"])
async def test_a_request_of_its_owner_opens_an_endpoint_in_every_shard(
    spread: tuple[RedisStore, Settings], receiver: Receiver, asks: str
) -> None:
    """SPEC W3: disabled until you replay or test; each shard decides alone, and none gives up in silence."""
    store, settings = spread
    hooks = RedisWebhookStore(store.script_client, settings)
    receiver.answers["/hook"] = [*[answering(410)] * SHARDS, answering(200)]

    async def end_a_job_in_each_pool(state: DeliveryState, total: int) -> None:
        """Have a webhook from every shard; return once so many deliveries are in a state."""
        for shard in range(SHARDS):
            job = await submit(store, shard, callback_url=receiver.url("/hook"))
            await store.cancel("ann", job.id, keep_best=True)
        with anyio.fail_after(20):
            while (await hooks.deliveries("ann", state, offset=0, count=1))[1] < total:  # noqa: ASYNC110
                await anyio.sleep(0.02)

    async with dispatching_webhooks(store, settings):
        await end_a_job_in_each_pool(DeliveryState.DEAD, SHARDS)
        states = {one.state for one in (await hooks.endpoints("ann", offset=0, count=SHARDS))[0]}
        assert states == {EndpointState.DISABLED}
        if asks == "test":
            await hooks.send_test("ann", receiver.url("/hook"))
        else:
            (dead, *_), _total = await hooks.deliveries("ann", DeliveryState.DEAD, offset=0, count=1)
            await hooks.replay("ann", dead.id)
        await end_a_job_in_each_pool(DeliveryState.DELIVERED, SHARDS + 1)
    states = {one.state for one in (await hooks.endpoints("ann", offset=0, count=SHARDS))[0]}
    assert states == {EndpointState.WORKING}


async def test_an_endpoint_is_listed_once_and_by_when_any_pool_gave_it_something(settings: Settings) -> None:
    """SPEC W3: the last given something first, however many another shard has; the worst state, all that is pending."""
    wide = settings.model_copy(update={"pools": 3})
    clock_ms = count(1_800_000_000_000)
    async with connect(wide) as store:
        await store.redis.flushdb()
        outboxes = [Outbox(store.script_client, shard, wide, clock_ms=lambda: next(clock_ms)) for shard in range(3)]

        async def give(shard: int, url: str) -> None:
            name = ids.random_test_id(shard)
            scheduled = NewDelivery(name, "ann", url, endpoint_id("ann", url), "completed", name, "{}", "1-1")
            await outboxes[shard].take([scheduled])

        everywhere, old, new = (f"https://{name}.example/hook" for name in ("everywhere", "old", "new"))
        for shard in range(3):
            await give(shard, everywhere)
            if shard < 2:  # the last has not tried yet
                ((delivery_claim, *_), _next) = await outboxes[shard].claim(9, 9)
                decision = DeliveryDecision(
                    is_delivered=shard == 1, error="answer 410", delay_s=None, is_gone=shard == 0
                )
                await outboxes[shard].settle(delivery_claim, AttemptOutcome(decision, 410 if shard == 0 else 200, 0.1))
        for number in range(5):
            await give(0, f"{old}/{number}")
        await give(1, new)
        await give(2, everywhere)
        hooks = RedisWebhookStore(store.script_client, wide)
        found, total = await hooks.endpoints("ann", offset=0, count=3)
        assert total == 7
        assert [one.url for one in found] == [everywhere, new, f"{old}/4"]
        assert (found[0].state, found[0].status, found[0].pending) == (EndpointState.DISABLED, 410, 2)
        rest, _total = await hooks.endpoints("ann", offset=3, count=99)
        assert [one.url for one in rest] == [f"{old}/{n}" for n in (3, 2, 1, 0)]


@pytest.mark.slow
async def test_webhooks_travel_from_the_other_nodes_while_one_is_away(
    settings: Settings, receiver: Receiver, tmp_path: Path
) -> None:
    """SPEC W3, J7: also when it is the node of the secrets, for dispatchers that have signed before."""
    options = {"cluster_require_full_coverage": "no", "cluster_node_timeout": "5000"}
    with cluster_of_three(tmp_path / "cluster", **options) as cluster:
        gone = cluster.pools_of(cluster.holder(0), SHARDS)
        async with connect(settings.model_copy(update={"redis_url": cluster.url, "pools": SHARDS})) as store:
            jobs = [await submit(store, shard, callback_url=receiver.url("/hook")) for shard in range(SHARDS)]
            async with dispatching_webhooks(store, settings.model_copy(update={"pools": SHARDS})):
                await store.cancel("ann", jobs[0].id, keep_best=True)
                await receiver.wait_for(1, "/hook")
                cluster.holder(0).kill()
                waiting = [job for job in jobs if ids.shard_of("job", job.id) not in gone]
                for job in waiting:
                    await store.cancel("ann", job.id, keep_best=True)
                came = await receiver.wait_for(1 + len(waiting), "/hook", within_s=30)
    assert {one.id.partition(":")[0] for one in came} == {jobs[0].id, *(job.id for job in waiting)}
