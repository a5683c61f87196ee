"""A receiver, settings that open its network, dispatchers at work, and deliveries to give them."""

import contextlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import anyio
import pytest

from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.webhooks.webhook_store import RedisWebhookStore
from planner_mcp.jobs.webhooks.delivery_records import Delivery, DeliveryState
from planner_mcp.settings import Settings
from tests.shared.http.webhook_receiver import Receiver, receiving
from workers.webhook_dispatcher import run_webhook_dispatcher

COMPRESSED = [0, 0.1, 0.1, 0.1]
DIGITS = str.maketrans("0189", "abcd")
"""Ids are base32, which has no 0, 1, 8 and 9."""


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as receiver:
        yield receiver


@pytest.fixture
def settings(database_url: str, tmp_path: Path, receiver: Receiver) -> Settings:
    """Loopback and the receiver's port are open; the schedule is compressed. Who is held up for a second is in time."""
    return Settings(
        redis_url=database_url,
        data_dir=tmp_path,
        lease_s=2.0,
        webhook_allow_networks=["127.0.0.0/8"],
        webhook_allow_ports=[receiver.port],
        webhook_schedule_s=COMPRESSED,
        webhook_timeout_s=2.0,
    )


@dataclass
class WebhookHarness:
    """Short words for what a test does with deliveries."""

    store: RedisStore
    settings: Settings
    hooks: RedisWebhookStore
    numbers: "count[int]"

    async def put(self, url: str, principal: str = "ann", status: str = "COMPLETED") -> str:
        """Write an outbox entry the way the job engine does; return its delivery id."""
        job = "job-0-" + f"{next(self.numbers):026d}".translate(DIGITS)
        event = {
            "id": "1795219200000-0",
            "job_id": job,
            "kind": status.lower(),
            "at": "2026-11-21T08:00:00.000Z",
            "data": {"status": status, "progress": 100, "result": {"plan_id": "plan" + job[3:], "name": "Zürich 🚚"}},
        }
        name = f"{job}:1795219200000-0"
        fields = {"delivery_id": name, "principal": principal, "url": url, "event": json.dumps(event)}
        await self.store.redis.xadd("{p0}:outbox", fields)
        return name

    async def ended(self, name: str, principal: str = "ann", within_s: float = 30) -> Delivery:
        """Return a delivery once it is delivered or dead."""
        return await self.until(name, lambda found: found.state is not DeliveryState.PENDING, principal, within_s)

    async def until(
        self, name: str, is_so: Callable[[Delivery], bool], principal: str = "ann", within_s: float = 30
    ) -> Delivery:
        """Return a delivery once something is so."""
        with anyio.fail_after(within_s):
            while True:
                known = await self.store.redis.exists(f"{{p0}}:wh:d:{name}")
                if known and is_so(found := await self.hooks.delivery(principal, name)):
                    return found
                await anyio.sleep(0.02)


@pytest.fixture
def post(store: RedisStore, settings: Settings) -> WebhookHarness:
    return WebhookHarness(store, settings, RedisWebhookStore(store.script_client, settings), count(1))


@contextlib.asynccontextmanager
async def dispatching_webhooks(store: RedisStore, settings: Settings) -> AsyncIterator[None]:
    """A dispatcher at work."""
    stop = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(run_webhook_dispatcher, store, settings, stop)
        try:
            yield
        finally:
            stop.set()


@pytest.fixture
async def dispatcher(store: RedisStore, settings: Settings) -> AsyncIterator[None]:
    async with dispatching_webhooks(store, settings):
        yield
