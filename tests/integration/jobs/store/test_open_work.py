"""What waits and what is left, as the store counts it for autoscalers."""

import time
from typing import Any

import pytest

from planner_mcp.errors import StoreUnavailableError
from planner_mcp.jobs.store.webhooks.outbox import AttemptOutcome, NewDelivery, Outbox
from planner_mcp.jobs.webhooks.endpoint_policy import DeliveryDecision
from planner_mcp.settings import Settings

pytestmark = pytest.mark.anyio


async def test_waiting_and_running_jobs_are_counted_by_their_time_without_any_worker(harness: Any) -> None:
    """SPEC O8: right with zero workers alive; a running job counts for what is left of its time."""
    assert (await harness.store.open_work()).queued_cpu_s == 0
    await harness.submit()
    first = await harness.store.open_work()
    assert (first.queued_cpu_s > 0, first.solving_cpu_s) == (True, 0)
    await harness.solving()
    second = await harness.store.open_work()
    assert second.queued_cpu_s + second.solving_cpu_s == pytest.approx(2 * first.queued_cpu_s, abs=1)
    assert 0 < second.solving_cpu_s <= first.queued_cpu_s


@pytest.mark.parametrize(("ago_s", "is_due"), [(0, False), (3600, True)])
async def test_a_webhook_counts_once_its_next_attempt_is_due(
    harness: Any, settings: Settings, ago_s: int, is_due: bool
) -> None:
    """SPEC O8, W3: right with zero workers alive, which alone send webhooks."""
    claim = await harness.solving(callback_url="https://example.org/")
    assert not (await harness.store.open_work()).has_due_webhooks
    await harness.store.fail(claim, {"code": 5010, "type": "EngineFailed", "message": "x"})
    assert (await harness.store.open_work()).has_due_webhooks
    await harness.store.redis.delete("{p0}:outbox")
    outbox = Outbox(harness.store.script_client, 0, settings, clock_ms=lambda: round((time.time() - ago_s) * 1000))
    name = f"{claim.job.id}:1-1"
    await outbox.take([NewDelivery(name, "ann", "https://example.org/", "e", "failed", claim.job.id, "{}")])
    (sent,), _next_s = await outbox.claim(1, 1)
    refused = DeliveryDecision(is_delivered=False, error="answer 500", delay_s=60)
    assert await outbox.settle(sent, AttemptOutcome(refused, 500, 0.1))
    assert (await harness.store.open_work()).has_due_webhooks is is_due


async def test_an_outbox_entry_that_is_dropped_by_half_is_no_webhook(
    harness: Any, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC O8, J9: it was out of reach and in its stream for ever; a worker would be wanted as long."""
    claim = await harness.solving(callback_url="https://example.org/")
    await harness.store.fail(claim, {"code": 5010, "type": "EngineFailed", "message": "x"})
    script_client, outbox = harness.store.script_client, Outbox(harness.store.script_client, 0, settings)
    await outbox.open()
    ((entry, _fields),) = await outbox.read("dispatcher", 1)
    command, failures = script_client.command, iter([False, True])

    async def fail_halfway(*words: Any) -> Any:
        if next(failures):
            raise StoreUnavailableError
        return await command(*words)

    with monkeypatch.context() as patch:
        patch.setattr(script_client, "command", fail_halfway)
        with pytest.raises(StoreUnavailableError):
            await outbox.drop(entry)
    assert not (await harness.store.open_work()).has_due_webhooks
