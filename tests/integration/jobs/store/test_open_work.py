"""What waits and what is left, as the store counts it for autoscalers."""

from typing import Any

import pytest

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
