"""Lists, pages, and what belongs to somebody else (SPEC A2, J9)."""

import json
from dataclasses import replace
from typing import Any

import pytest

import planner_mcp
from planner_mcp.errors import NotFoundError
from planner_mcp.jobs import ids
from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.job_lifecycle import JobState

pytestmark = pytest.mark.anyio


async def test_jobs_are_listed_newest_first_in_pages_and_by_state(harness: Any) -> None:
    """SPEC R1."""
    jobs = [(await harness.submit()).id for _ in range(5)]
    await harness.submit("ben")
    await harness.store.cancel("ann", jobs[1], keep_best=True)

    async def page(state: JobState | None, offset: int, count: int) -> tuple[list[str], int]:
        found, total = await harness.store.list_jobs("ann", state, offset=offset, count=count)
        return [job.id for job in found], total

    assert await page(None, 0, 2) == ([jobs[4], jobs[3]], 5)
    assert await page(None, 4, 2) == ([jobs[0]], 5)
    assert await page(None, 9, 2) == ([], 5)
    assert await page(JobState.QUEUED, 0, 9) == ([jobs[4], jobs[3], jobs[2], jobs[0]], 4)
    assert await page(JobState.CANCELLED, 0, 9) == ([jobs[1]], 1)


async def test_expired_jobs_leave_the_lists(harness: Any) -> None:
    """SPEC J9."""
    jobs = [(await harness.submit()).id for _ in range(3)]
    await harness.store.cancel("ann", jobs[1], keep_best=True)
    await harness.store.redis.delete("{p0}:job:" + jobs[1])
    await harness.store.redis.zadd("{p0}:ended:ann", {jobs[1]: 1})
    found, total = await harness.store.list_jobs("ann", None, offset=0, count=9)
    assert ([job.id for job in found], total) == ([jobs[2], jobs[0]], 2)


@pytest.mark.parametrize("is_noted", [True, False], ids=["noted", "lost"])
async def test_a_step_clears_so_many_expired_jobs_and_no_more(harness: Any, is_noted: bool) -> None:
    """SPEC J9: others wait for each step; the list is the same in the end, whatever told that a job is gone."""
    redis, dead = harness.store.redis, {ids.random_id("job", 0): number - 3000 for number in range(1200)}
    for index in ("{p0}:jobs:ann", "{p0}:jobs:ann:completed", *(["{p0}:ended:ann"] if is_noted else [])):
        await redis.zadd(index, dead)
        await redis.expire(index, 1000)
    jobs = [(await harness.submit()).id for _ in range(3)]
    there = await redis.zcard("{p0}:jobs:ann")
    args = {"principal": "ann", "state": "", "look": "rows", "offset": 0, "count": 9}
    assert await harness.store.script_client.step("list_jobs", 0, args) == ["again"]
    assert await redis.zcard("{p0}:jobs:ann") == there - 500
    found, total = await harness.store.list_jobs("ann", None, offset=0, count=9)
    assert ([job.id for job in found], total) == ([*reversed(jobs)], 3)
    assert await harness.store.list_jobs("ann", JobState.COMPLETED, offset=0, count=9) == ([], 0)


async def test_what_is_somebody_elses_is_answered_exactly_like_what_is_unknown(harness: Any) -> None:
    """SPEC A2."""
    claim = await harness.ended(JobState.COMPLETED)
    unknown, plan_id = ids.random_id("job", 0), ids.plan_of(claim.job.id)
    store, feed = harness.store, EventFeed(harness.store)

    async def follow(principal: str, job_id: str) -> None:
        await anext(feed.follow(principal, job_id))

    calls = [
        (store.get_job, claim.job.id, unknown),
        (store.finish_now, claim.job.id, unknown),
        (lambda who, name: store.cancel(who, name, keep_best=True), claim.job.id, unknown),
        (store.read_past, claim.job.id, unknown),
        (follow, claim.job.id, unknown),
        (store.get_plan, plan_id, ids.plan_of(unknown)),
        (store.get_scenario, claim.scenario.id, ids.random_id("scn", 0)),
        (store.last_job, claim.scenario.id, ids.random_id("scn", 0)),
        (lambda who, name: harness.store.submit(who, claim.job.request, name), unknown, unknown),
    ]
    for call, foreign, missing in calls:
        answers = []
        for name in (foreign, missing, "nonsense", missing.replace("-0-", "-9-")):
            with pytest.raises(NotFoundError) as caught:
                await call("eve", name)
            answers.append(caught.value.as_json("trace"))
        assert answers[1:] == answers[:-1]
    await feed.aclose()


async def test_a_scenario_reads_back_as_it_was_put(harness: Any) -> None:
    """SPEC T1."""
    scenario_id = await harness.scenario()
    kept = await harness.store.get_scenario("ann", scenario_id)
    assert (kept.id, kept.principal, kept.body, kept.revision) == (scenario_id, "ann", {"name": "a day"}, 1)


@pytest.mark.parametrize("change", ["older", "newer"])
async def test_while_a_deployment_rolls_jobs_of_the_other_version_are_read_claimed_and_found_again(
    harness: Any, change: str
) -> None:
    """SPEC J7: a job written before `traceparent` was, or by a version that knows one field more, is a job like any."""
    job = await harness.submit()
    key = "{p0}:job:" + job.id
    for name in ("request", "progress"):
        stored = json.loads(await harness.store.redis.hget(key, name) or "{}")
        stored = stored | {"of_tomorrow": 1} if change == "newer" else stored
        stored.pop("traceparent", None) if change == "older" else None
        await harness.store.redis.hset(key, name, json.dumps(stored))
    assert (await harness.store.get_job("ann", job.id)).request == job.request
    assert (await harness.store.submit("ann", job.request, ids.random_id("job", 0))).id == job.id
    await harness.store.register("w1", 1)
    claim = await harness.store.claim("w1", 1.0)
    assert claim is not None
    assert (claim.job.id, claim.job.request) == (job.id, job.request)


async def test_a_day_that_does_not_say_who_wrote_it_is_confidential(harness: Any) -> None:
    """SPEC R3, ADR 0035: what 0.2 stored, and its jobs from then on, are masked for readers without the scope."""
    job = await harness.submit()
    redis, name = harness.store.redis, job.request.scenario_id
    assert not (await harness.store.get_scenario("ann", name)).is_confidential
    await redis.hdel(f"{{p0}}:scn:{name}", "confidential")
    await redis.hdel(f"{{p0}}:job:{job.id}", "confidential")
    assert (await harness.store.get_scenario("ann", name)).is_confidential
    assert (await harness.store.get_job("ann", job.id)).is_confidential
    again = await harness.store.submit("ann", replace(job.request, fresh=True), ids.random_id("job", 0))
    assert again.is_confidential


async def test_operators_see_each_worker(harness: Any) -> None:
    """SPEC O2: name, version, slots, the jobs it solves and its last heartbeat; one that is gone is gone."""
    await harness.solving()
    await harness.workers(3, "w0")
    await harness.store.redis.hdel("{p0}:versions", "w0")  # of the version before
    first, second = await harness.store.workers()
    assert (first.name, first.version, first.slots, first.solving, first.is_live) == ("w0", "", 3, 0, True)
    assert (second.name, second.version, second.slots, second.solving) == ("w1", planner_mcp.__version__, 1, 1)
    assert 0 <= second.silent_s < 60
    await harness.store.redis.zadd("{p0}:alive", {"w1": 1})
    assert [row.is_live for row in await harness.store.workers()] == [True, False]
    await harness.store.register("w0", 0)
    assert await harness.store.workers() == []
