"""Dispatchers that are killed, and a whole job told by webhook (SPEC W2, W3)."""

import contextlib
import json
import os
import random
import signal
import sys
import time
from collections.abc import AsyncIterator

import anyio
import anyio.abc
import pytest
from standardwebhooks.webhooks import Webhook

from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.webhooks.delivery_records import DeliveryState
from planner_mcp.settings import Settings
from tests.integration.jobs.conftest import StoreHarness
from tests.integration.jobs.webhooks import node_receiver
from tests.integration.jobs.webhooks.conftest import WebhookHarness, dispatching_webhooks
from tests.shared.http.webhook_receiver import Answer, Receiver, answering, hanging
from tests.shared.node import node_packages
from tests.shared.store.chaos_results import keep, seed_of, size_of
from workers.supervisor import environment_of

pytestmark = pytest.mark.anyio
PATHS = 20
"""Endpoints of the storm."""
HASTE = {"lease_s": 0.6, "webhook_timeout_s": 0.5}
"""What the storm loses to a dispatcher that is killed, or an endpoint that hangs, is soon tried again."""
DISPATCHER = """
import anyio
from planner_mcp.settings import Settings
from planner_mcp.jobs.store.open_store import connect
from workers.webhook_dispatcher import run_webhook_dispatcher

async def main():
    settings = Settings()
    async with connect(settings) as store:
        await run_webhook_dispatcher(store, settings, anyio.Event())

anyio.run(main)
"""


@contextlib.asynccontextmanager
async def dispatcher_process(settings: Settings) -> AsyncIterator[anyio.abc.Process]:
    """A dispatcher in a process of its own, killed at the end."""
    command = [sys.executable, "-c", DISPATCHER]
    async with await anyio.open_process(command, env=environment_of(settings), stdout=None, stderr=None) as process:
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)


async def test_a_dispatcher_killed_in_the_middle_of_a_delivery_is_taken_over(
    post: WebhookHarness, receiver: Receiver, store: RedisStore, settings: Settings
) -> None:
    """SPEC W3: SIGKILL while the endpoint thinks; another dispatcher delivers the same id and body."""
    slow = settings.model_copy(update={"webhook_timeout_s": 30.0})
    receiver.answers["/hook"] = [hanging, answering(200)]
    async with dispatcher_process(slow) as process:
        name = await post.put(receiver.url("/hook"))
        await receiver.wait_for(1, "/hook", within_s=30)
        process.kill()
        await process.wait()
    async with dispatching_webhooks(store, settings):
        found = await post.ended(name)
    first, second = receiver.to("/hook")
    assert (first.id, first.body) == (second.id, second.body)
    assert (found.state, len(found.attempts)) == (DeliveryState.DELIVERED, 1)


async def test_a_job_reports_its_end_by_webhook(
    post: WebhookHarness, receiver: Receiver, store: RedisStore, settings: Settings
) -> None:
    """SPEC W2, W3, J3: the outbox entry is written with the last event; the body is that event's notification."""
    harness = StoreHarness(store)
    await harness.workers()
    done = await harness.submit(callback_url=receiver.url("/done"))
    left = await harness.submit(callback_url=receiver.url("/left"))
    claim = await harness.claim()
    await store.fail(claim, {"code": 5011, "type": "EngineCrashed", "message": "The solving process died."})
    await store.cancel("ann", left.id, keep_best=True)
    async with dispatching_webhooks(store, settings):
        (failed,) = await receiver.wait_for(1, "/done")
        (cancelled,) = await receiver.wait_for(1, "/left")
    sent = json.loads(failed.body)
    assert (sent["method"], sent["params"]["job_id"]) == ("notifications/complete", done.id)
    assert (sent["params"]["status"], sent["params"]["error"]["code"]) == ("FAILED", 5011)
    sent = json.loads(cancelled.body)
    assert sent["method"] == "notifications/cancelled"
    assert {"job_id", "status", "cancelled_at"} <= set(sent["params"])


@pytest.mark.slow
async def test_a_worker_process_carries_webhooks(
    post: WebhookHarness, receiver: Receiver, store: RedisStore, settings: Settings
) -> None:
    """Our choice: dispatchers run in the worker processes; SIGTERM ends them in time."""
    harness = StoreHarness(store)
    job = await harness.submit(callback_url=receiver.url("/hook"))
    await store.cancel("ann", job.id, keep_best=True)
    command = [sys.executable, "-m", "workers"]
    async with await anyio.open_process(command, env=environment_of(settings), stdout=None, stderr=None) as process:
        (request,) = await receiver.wait_for(1, "/hook", within_s=30)
        process.terminate()
        with anyio.fail_after(30):
            assert await process.wait() == 0
    assert json.loads(request.body)["params"]["job_id"] == job.id


@pytest.mark.chaos
@pytest.mark.timeout(3600)
async def test_everything_arrives_while_dispatchers_are_killed(
    post: WebhookHarness, receiver: Receiver, settings: Settings
) -> None:
    """SPEC W1, W3: a receiver that fails 30 % of the time, a dispatcher killed every 2 s: all arrive, same id and body.

    `DELIVERIES` sets how many. Each attempt is judged by two receivers that others wrote, in Python and in Node.
    """
    began, seed, count = time.monotonic(), seed_of(), size_of("DELIVERIES", 1000)
    dice = random.Random(seed)
    outcomes: list[Answer] = [answering(200)] * 7 + [answering(500), answering(503), hanging]
    eager = settings.model_copy(update={"webhook_schedule_s": [0.0] + [0.2] * 19, "webhook_rate_per_s": 2.0, **HASTE})
    for number in range(PATHS):
        receiver.answers[f"/hook/{number}"] = [dice.choice(outcomes) for _ in range(count)]
    note = await post.hooks.reveal("ann")
    assert note.secret is not None
    names = [await post.put(receiver.url(f"/hook/{number % PATHS}")) for number in range(count)]
    killed: list[int] = []
    async with anyio.create_task_group() as group:
        group.start_soon(_kill_couriers, eager, killed)
        for name in names:
            assert (await post.ended(name, within_s=1800)).state is DeliveryState.DELIVERED
        group.cancel_scope.cancel()
    bodies: dict[str, set[bytes]] = {}
    for request in receiver.received:
        Webhook(note.secret).verify(request.body, request.headers)
        bodies.setdefault(request.id, set()).add(request.body)
    assert set(bodies) == set(names)
    assert {len(each) for each in bodies.values()} == {1}
    sent = [(note.secret, request.headers, request.body.decode()) for request in receiver.received]
    in_node = node_receiver.verified(sent) if node_packages.IS_THERE else 0
    assert in_node in (0, len(sent))
    figures = {"deliveries": count, "attempts": len(sent), "couriers_killed": len(killed), "verified_in_node": in_node}
    keep("couriers killed", seed=seed, began=began, **figures)


async def _kill_couriers(settings: Settings, killed: list[int]) -> None:
    """Run one dispatcher after another, each for two seconds beyond its start."""
    while True:
        async with dispatcher_process(settings) as process:
            await anyio.sleep(2 + 1)
        killed.append(process.pid)
