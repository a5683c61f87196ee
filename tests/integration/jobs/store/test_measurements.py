"""What the store measures of jobs and webhooks."""

from typing import Any

import pytest

from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.records import measurements
from planner_mcp.jobs.records.measurements import BOUNDS_MS, Histogram, histograms_of

pytestmark = pytest.mark.anyio


async def measured(harness: Any) -> dict[str, dict[str, Histogram]]:
    return histograms_of(await harness.store.measurements())


def count(known: dict[str, dict[str, Histogram]], name: str, label: str = "") -> int:
    """Return how often something was observed."""
    return list(known[name][label].cumulative())[-1][1]


async def test_each_job_is_measured_once_at_its_claim_its_first_plan_and_its_end(
    harness: Any, plan: dict[str, Any], half: Progress
) -> None:
    """SPEC O3: a second plan, a repeated report and a late worker add nothing."""
    claim = await harness.solving()
    await harness.store.report(claim, half, plan)
    await harness.store.report(claim, half, {**plan, "cost": 9.0})
    await harness.store.complete(claim, half, plan)
    await harness.store.complete(claim, half, plan)
    known = await measured(harness)
    assert count(known, measurements.QUEUE_WAIT) == 1
    assert count(known, measurements.FIRST_PLAN) == 1
    assert count(known, measurements.JOB_DURATION, "completed") == 1
    assert set(known[measurements.JOB_DURATION]) == {"completed"}


async def test_a_job_that_runs_again_waited_once_and_ends_once(harness: Any) -> None:
    """SPEC O3: the wait is that for the first claim."""
    claim = await harness.solving()
    await harness.let_lease_lapse(claim)
    assert await harness.store.reap() == 1
    again = await harness.claim()
    await harness.store.fail(again, {"code": 5000, "type": "Internal", "message": "It broke."})
    known = await measured(harness)
    assert count(known, measurements.QUEUE_WAIT) == 1
    assert count(known, measurements.JOB_DURATION, "failed") == 1


async def test_a_job_cancelled_in_the_queue_has_no_duration(harness: Any) -> None:
    """SPEC O3: nobody worked on it."""
    job = await harness.submit()
    await harness.store.cancel(job.principal, job.id, keep_best=True)
    assert measurements.JOB_DURATION not in await measured(harness)


def test_a_histogram_counts_upwards_to_all_observations() -> None:
    """SPEC O3: the form Prometheus reads; a bucket holds those at or below its bound."""
    fields = {"queue_wait//10": 2, "queue_wait//1000": 1, "queue_wait//inf": 1, "queue_wait//sum": 5_000_512}
    histogram = histograms_of(fields)["queue_wait"][""]
    buckets = dict(histogram.cumulative())
    assert histogram.sum_ms == 5_000_512
    assert (buckets["0.01"], buckets["0.3"], buckets["1.0"], buckets["3000.0"], buckets["+Inf"]) == (2, 2, 3, 3, 4)
    assert len(buckets) == len(BOUNDS_MS) + 1
