"""Handshake sessions hear what moves on their standalone stream, whichever replica holds it (SPEC J2-J4)."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

from planner_mcp.jobs import ids
from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.job_model import SolveRequest, StoredScenario
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import APPROVE, LOCAL, READ, WRITE
from planner_mcp.jobs.store.events.channel_notifier import ChannelNotifier
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.security.api_key_store import ApiKeyStore
from planner_mcp.jobs.store.sessions.subscription_store import SubscriptionStore
from planner_mcp.server.auth.api_key_auth import new_key
from planner_mcp.server.mcp.notifications.listen_filter import JOBS
from planner_mcp.server.mcp.notifications.watched_resources import WatchedJobs, watched_resource_of
from planner_mcp.settings import Settings
from tests.integration.server.mcp.app_replicas import Caller, Replica, Sse, Two, Worker, events, replica
from tests.integration.server.mcp.test_listen_method import listening as streaming
from tests.shared.http.http_clients import http_client

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def listening(caller: Caller, on: Replica, after: str = "") -> AsyncIterator[AsyncIterator[Sse]]:
    """Yield the events of the session's standalone stream."""
    with anyio.fail_after(30):
        async with caller.standalone(on, after) as response:
            assert response.status_code == 200
            yield events(response)


async def solving(caller: Caller, on: Replica, **params: Any) -> str:
    """Open a session and return its new job, or task."""
    await caller.initialize(on)
    answer = await caller.solve(on, **params)
    return str(answer["task"]["taskId"] if "task" in answer else answer["structuredContent"]["job_id"])


async def test_subscriber_hears_each_step_of_a_job_once(app_replicas: Two, legacy: Caller, worker: Worker) -> None:
    """SPEC J2: subscribed through one replica, heard on the other."""
    job_id = await solving(legacy, app_replicas[0])
    plan = job_id.replace("job-", "plan-", 1)
    for uri in (f"job://{job_id}", f"plan://{plan}"):
        await legacy.result(app_replicas[0], "resources/subscribe", uri=uri)
    async with listening(legacy, app_replicas[1]) as received_messages:
        claim = await worker.take()
        assert (await anext(received_messages)).message["params"] == {"uri": f"job://{job_id}"}
        await worker.improve(claim, 30)
        assert {(await anext(received_messages)).message["params"]["uri"] for _ in range(2)} == {
            f"job://{job_id}",
            f"plan://{plan}",
        }
        await worker.complete(claim)
        last = [(await anext(received_messages)).message for _ in range(2)]
    assert {each["method"] for each in last} == {"notifications/resources/updated"}


async def test_stream_that_moves_between_replicas_loses_and_repeats_nothing(
    app_replicas: Two, legacy: Caller, worker: Worker
) -> None:
    """SPEC J4: thirty steps, the stream reconnected to the other replica after every third."""
    job_id = await solving(legacy, app_replicas[0])
    await legacy.result(app_replicas[0], "resources/subscribe", uri=f"job://{job_id}")
    claim = await worker.take()
    seen: list[str] = []
    async with anyio.create_task_group() as group:

        async def work() -> None:
            for percent in range(1, 30):
                await worker.improve(claim, percent)
                await anyio.sleep(0.01)
            await worker.complete(claim)

        group.start_soon(work)
        for turn in range(11):
            async with listening(legacy, app_replicas[turn % 2], seen[-1] if seen else "") as received_messages:
                while len(seen) < min(3 * (turn + 1), 31):
                    seen.append((await anext(received_messages)).id)
    assert len(set(seen)) == len(seen) == 31  # started, 29 improvements, completed
    assert seen == sorted(seen, key=lambda each: [int(part) for part in each[2:].split("-")])


async def test_what_happens_while_nobody_listens_is_sent_later(
    app_replicas: Two, legacy: Caller, worker: Worker
) -> None:
    """SPEC J4: the next holder of the stream goes on where the last one stopped."""
    job_id = await solving(legacy, app_replicas[0])
    await legacy.result(app_replicas[0], "resources/subscribe", uri=f"job://{job_id}")
    claim = await worker.take()
    await worker.improve(claim, 50)
    await worker.complete(claim)
    async with listening(legacy, app_replicas[1]) as received_messages:
        delivered = [await anext(received_messages) for _ in range(3)]
    async with listening(legacy, app_replicas[0], delivered[0].id) as received_messages:
        assert [(await anext(received_messages)).id for _ in range(2)] == [event.id for event in delivered[1:]]


async def test_result_of_a_scenario_follows_its_newest_solve(app_replicas: Two, legacy: Caller, worker: Worker) -> None:
    """SPEC R2: subscribed before there is a solve; a newer one takes over."""
    await legacy.initialize(app_replicas[0])
    scenario_id = await legacy.scenario(app_replicas[0])
    uri = f"scenario://{scenario_id}/result"
    await legacy.result(app_replicas[0], "resources/subscribe", uri=uri)
    async with listening(legacy, app_replicas[1]) as received_messages:
        for seed in (1, 2):
            await legacy.call(app_replicas[0], "solve_vrp", {"scenario_id": scenario_id, "seed": seed})
            await worker.complete(await worker.take())
            assert (await anext(received_messages)).message["params"] == {"uri": uri}


async def test_a_new_solve_is_notified_before_a_worker_takes_it(
    app_replicas: Two, legacy: Caller, worker: Worker
) -> None:
    """SPEC R2: the result that was read is replaced by a queued job, which may wait for hours."""
    await legacy.initialize(app_replicas[0])
    scenario_id = await legacy.scenario(app_replicas[0])
    await legacy.call(app_replicas[0], "solve_vrp", {"scenario_id": scenario_id})
    await worker.complete(await worker.take())
    uri = f"scenario://{scenario_id}/result"
    await legacy.result(app_replicas[0], "resources/subscribe", uri=uri)
    async with listening(legacy, app_replicas[1]) as received_messages:
        await legacy.call(app_replicas[0], "solve_vrp", {"scenario_id": scenario_id, "fresh": True})
        assert (await anext(received_messages)).message["params"] == {"uri": uri}


REVIEW = (("propose_plan", {}), ("review_plan", {"decision": "approve"}), ("publish_plan", {}))


async def test_review_steps_after_the_end_of_a_job_are_notified(
    store_url: str, store: RedisStore, tmp_path: Path, legacy: Caller, modern: Caller, worker: Worker
) -> None:
    """SPEC A5, J2: to watchers of the job's resources, in both eras, after an end too; a task ends with its job."""
    await store.redis.flushdb()
    async with replica(f"{store_url}?db=15", tmp_path, approval="on", toolsets="all") as here:
        job_id = await solving(legacy, here, task={"ttl": 60_000})
        uri = f"job://{job_id}"
        await legacy.result(here, "resources/subscribe", uri=uri)
        await worker.complete(await worker.take())
        asked = {"resourceSubscriptions": [uri], "taskIds": [job_id], JOBS: [job_id]}
        async with listening(legacy, here) as heard, streaming(modern, here, **asked) as streamed:
            seen = [(await anext(heard)).message for _ in range(4)]
            assert [each["params"].get("status") for each in seen if "tasks" in each["method"]] == [
                "working",
                "completed",
            ]
            ended = [(await anext(streamed))["method"] for _ in range(3)]
            assert ended[0] == "notifications/subscriptions/acknowledged"
            for tool, args in REVIEW:
                await legacy.call(here, tool, {"job_id": job_id, **args})
                assert (await anext(heard)).message["params"] == {"uri": uri}, tool
                again = await anext(streamed)
                assert (again["method"], again["params"]["uri"]) == ("notifications/resources/updated", uri), tool
        _watches, cursors = await kept(store, legacy)
        assert cursors == {job_id}


async def test_a_reviewer_is_notified_of_the_job_of_somebody_else(
    store_url: str, store: RedisStore, tmp_path: Path, worker: Worker
) -> None:
    """SPEC A2, A5: from its proposal on, by the scopes of the stream's owner; to anybody else the job is unknown."""
    await store.redis.flushdb()

    async def caller(name: str, *scopes: str) -> Caller:
        secret, record = new_key(name, "acme", scopes, now=datetime.now(UTC))
        await ApiKeyStore(store.script_client).add(record)
        return Caller(http_client(timeout=30, headers={"authorization": f"Bearer {secret}"}), "2025-11-25")

    async with replica(f"{store_url}?db=15", tmp_path, approval="on", toolsets="all", auth_api_keys=True) as here:
        ann, bob, eve = [
            await caller(name, *scopes)
            for name, scopes in (("ann", (READ, WRITE)), ("bob", (READ, APPROVE)), ("eve", (READ,)))
        ]
        job_id = await solving(ann, here)
        uri = f"job://{job_id}"
        await worker.complete(await worker.take())
        for each in (bob, eve):
            await each.initialize(here)
            assert (await each.error(here, "resources/subscribe", uri=uri))["code"] == -32602
        await ann.call(here, "propose_plan", {"job_id": job_id})
        await bob.result(here, "resources/subscribe", uri=uri)
        assert (await eve.error(here, "resources/subscribe", uri=uri))["code"] == -32602
        async with listening(bob, here) as heard:
            for taken_by, tool, args in ((bob, "review_plan", {"decision": "approve"}), (ann, "publish_plan", {})):
                await taken_by.call(here, tool, {"job_id": job_id, **args})
                assert (await anext(heard)).message["params"] == {"uri": uri}, tool
        for each in (ann, bob, eve):
            await each.http.aclose()


async def test_reviews_of_what_is_not_watched_any_more_are_forgotten(
    store_url: str, store: RedisStore, tmp_path: Path, legacy: Caller, worker: Worker
) -> None:
    """SPEC J9: else each job a session ever watched would be followed until it expires."""
    await store.redis.flushdb()
    async with replica(f"{store_url}?db=15", tmp_path, approval="on") as here:
        job_id = await solving(legacy, here)
        await legacy.result(here, "resources/subscribe", uri=f"job://{job_id}")
        await worker.complete(await worker.take())
        async with listening(legacy, here) as heard:
            for _ in range(2):
                await anext(heard)
            await legacy.result(here, "resources/unsubscribe", uri=f"job://{job_id}")
            while await kept(store, legacy) != (set(), set()):  # noqa: ASYNC110 nothing is sent to wait for
                await anyio.sleep(0.01)


async def test_a_scenario_whose_last_job_expired_can_be_subscribed_to(
    app_replicas: Two, legacy: Caller, store: RedisStore, worker: Worker
) -> None:
    """SPEC R2, J9: a scenario outlives its jobs; its next solve is heard of."""
    await legacy.initialize(app_replicas[0])
    scenario_id = await legacy.scenario(app_replicas[0])
    await legacy.call(app_replicas[0], "solve_vrp", {"scenario_id": scenario_id})
    await worker.complete(claim := await worker.take())
    await store.redis.delete(f"{{p0}}:job:{claim.job.id}")
    uri = f"scenario://{scenario_id}/result"
    await legacy.result(app_replicas[0], "resources/subscribe", uri=uri)
    async with listening(legacy, app_replicas[1]) as received_messages:
        await legacy.call(app_replicas[0], "solve_vrp", {"scenario_id": scenario_id})
        assert (await anext(received_messages)).message["params"] == {"uri": uri}


async def test_unsubscribed_resource_is_heard_no_more(app_replicas: Two, legacy: Caller, worker: Worker) -> None:
    """Spec 2025-11-25, resources: resources/unsubscribe."""
    job_id = await solving(legacy, app_replicas[0])
    plan = f"plan://{job_id.replace('job-', 'plan-', 1)}"
    await legacy.result(app_replicas[0], "resources/subscribe", uri=f"job://{job_id}")
    await legacy.result(app_replicas[1], "resources/subscribe", uri=plan)
    async with listening(legacy, app_replicas[1]) as received_messages:
        claim = await worker.take()
        assert (await anext(received_messages)).message["params"] == {"uri": f"job://{job_id}"}
        await legacy.result(app_replicas[0], "resources/unsubscribe", uri=f"job://{job_id}")
        await worker.complete(claim)
        assert (await anext(received_messages)).message["params"] == {"uri": plan}


@pytest.mark.parametrize("uri", ["job://job-0-" + "a" * 26, "scenario://x/result", "plan://nope"])
async def test_unknown_resource_cannot_be_subscribed_to(app_replicas: Two, legacy: Caller, uri: str) -> None:
    """SPEC A2: foreign, unknown and malformed are one answer."""
    await legacy.initialize(app_replicas[0])
    refused = (await legacy.error(app_replicas[0], "resources/subscribe", uri=uri))["data"]
    assert (refused["type"], refused["errors"][0]["path"]) == ("NotFound", "/uri")


async def test_what_cannot_be_read_cannot_be_subscribed_to(app_replicas: Two, legacy: Caller) -> None:
    """SPEC R2: a job of the caller's does not make every URI below it a resource; reading says the same."""
    job_id = await solving(legacy, app_replicas[0])
    plan = f"plan://{job_id.replace('job-', 'plan-', 1)}"
    for uri in (f"job://{job_id}/no/such", f"job://{job_id}/result", f"{plan}/no.svg", f"{plan}/result"):
        for method in ("resources/read", "resources/subscribe"):
            assert (await legacy.error(app_replicas[0], method, uri=uri))["data"]["type"] == "NotFound", (method, uri)
    await legacy.result(app_replicas[0], "resources/subscribe", uri=f"{plan}/map.svg")


async def test_session_watches_so_many_things_and_no_more(
    app_replicas: Two, legacy: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC X3, J8: nothing a client can pile up; it is told the limit, what to do and when to come back."""
    monkeypatch.setattr("planner_mcp.server.mcp.notifications.session_watches.MAX_WATCHED", 1)
    job_id = await solving(legacy, app_replicas[0])
    await legacy.result(app_replicas[0], "resources/subscribe", uri=f"job://{job_id}")
    await legacy.result(app_replicas[0], "resources/subscribe", uri=f"job://{job_id}")
    plan = f"plan://{job_id.replace('job-', 'plan-', 1)}"
    delivered = (await legacy.error(app_replicas[0], "resources/subscribe", uri=plan))["data"]
    assert (delivered["type"], delivered["retry_after_s"]) == ("QuotaExceeded", 60)
    (fault,) = delivered["errors"]
    assert (fault["accepted"], fault["hint"]) == ("1 of a session", "Unsubscribe from one.")


async def kept(store: RedisStore, caller: Caller) -> tuple[set[str], set[str]]:
    """Return what a session watches, and the jobs it keeps a position in."""
    watches, cursors = await SubscriptionStore(store.redis).watched(caller.session["mcp-session-id"])
    return set(watches), {cursor for cursor in cursors if cursor.startswith("job-")}


async def new_task(caller: Caller, on: Replica) -> str:
    """Return a further task of a session."""
    return str((await caller.solve(on, task={}))["task"]["taskId"])


async def test_tasks_do_not_crowd_out_subscriptions(
    app_replicas: Two, legacy: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J2: as many resources as before, however many tasks the session has made."""
    monkeypatch.setattr("planner_mcp.server.mcp.notifications.session_watches.MAX_WATCHED", 1)
    job_id = await solving(legacy, app_replicas[0], task={})
    await new_task(legacy, app_replicas[0])
    await legacy.result(app_replicas[1], "resources/subscribe", uri=f"job://{job_id}")
    plan = f"plan://{job_id.replace('job-', 'plan-', 1)}"
    assert (await legacy.error(app_replicas[1], "resources/subscribe", uri=plan))["data"]["type"] == "QuotaExceeded"


async def test_session_that_never_listens_watches_so_many_tasks_and_no_more(
    app_replicas: Two, legacy: Caller, store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC X3: of tasks that still run, the one heard of longest ago gives way."""
    monkeypatch.setattr("planner_mcp.server.mcp.notifications.session_watches.MAX_TASKS", 3)
    await legacy.initialize(app_replicas[0])
    made = [await new_task(legacy, app_replicas[turn % 2]) for turn in range(6)]
    assert await kept(store, legacy) == ({f"task:{each}" for each in made[3:]}, set(made[3:]))
    await legacy.result(app_replicas[0], "tasks/get", made[0], taskId=made[0])


async def test_tasks_that_ended_unheard_give_way_first(
    app_replicas: Two, legacy: Caller, store: RedisStore, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J4: what still runs is told of when the session listens at last."""
    monkeypatch.setattr("planner_mcp.server.mcp.notifications.session_watches.MAX_TASKS", 3)
    running = await solving(legacy, app_replicas[0], task={})
    claim = await worker.take()
    for _ in range(2):
        await new_task(legacy, app_replicas[0])
        await worker.complete(await worker.take())
    newest = await new_task(legacy, app_replicas[1])
    assert await kept(store, legacy) == ({f"task:{running}", f"task:{newest}"}, {running, newest})
    await worker.complete(claim)
    async with listening(legacy, app_replicas[1]) as received_messages:
        delivered = [(await anext(received_messages)).message["params"] for _ in range(2)]
    assert [(each["taskId"], each["status"]) for each in delivered] == [(running, "working"), (running, "completed")]


async def test_a_task_whose_end_was_sent_is_forgotten(
    app_replicas: Two, legacy: Caller, store: RedisStore, worker: Worker
) -> None:
    """SPEC J9: a session that makes tasks for weeks keeps nothing of those that are over."""
    await legacy.initialize(app_replicas[0])
    async with listening(legacy, app_replicas[1]) as received_messages:
        for _ in range(3):
            task_id = await new_task(legacy, app_replicas[0])
            await worker.complete(await worker.take())
            delivered = [(await anext(received_messages)).message["params"] for _ in range(2)]
            assert [(each["taskId"], each["status"]) for each in delivered] == [
                (task_id, "working"),
                (task_id, "completed"),
            ]
        while await kept(store, legacy) != (set(), set()):  # noqa: ASYNC110 nothing is sent to wait for
            await anyio.sleep(0.01)


async def test_positions_nothing_watched_needs_are_forgotten(
    app_replicas: Two, legacy: Caller, store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J9: who subscribes and unsubscribes for weeks; what tasks, jobs and newest solves need stays."""
    task_id = await solving(legacy, app_replicas[0], task={})
    scenario_id = await legacy.scenario(app_replicas[0])
    await legacy.call(app_replicas[0], "solve_vrp", {"scenario_id": scenario_id})
    await legacy.result(app_replicas[0], "resources/subscribe", uri=f"scenario://{scenario_id}/result")
    needed = (await kept(store, legacy))[1]
    assert len(needed) == 2
    for _ in range(4):
        job_id = str((await legacy.solve(app_replicas[0]))["structuredContent"]["job_id"])
        await legacy.result(app_replicas[0], "resources/subscribe", uri=f"job://{job_id}")
        await legacy.result(app_replicas[0], "resources/unsubscribe", uri=f"job://{job_id}")
    monkeypatch.setattr("planner_mcp.server.mcp.notifications.session_watches.MAX_CURSORS", 5)
    await legacy.result(app_replicas[1], "resources/subscribe", uri=f"job://{task_id}")
    assert (await kept(store, legacy))[1] == needed


async def test_the_session_that_made_a_task_gets_its_status(app_replicas: Two, legacy: Caller, worker: Worker) -> None:
    """SPEC X2: notifications/tasks/status at each step, without related-task (spec 2025-11-25)."""
    task_id = await solving(legacy, app_replicas[0], task={})
    async with listening(legacy, app_replicas[1]) as received_messages:
        claim = await worker.take()
        await worker.improve(claim, 30)
        await worker.complete(claim)
        delivered = [(await anext(received_messages)).message for _ in range(3)]
    assert [each["method"] for each in delivered] == ["notifications/tasks/status"] * 3
    assert [each["params"]["status"] for each in delivered] == ["working", "working", "completed"]
    assert {each["params"]["taskId"] for each in delivered} == {task_id}
    assert "30%" in delivered[1]["params"]["statusMessage"]


async def test_progress_of_a_task_goes_by_the_token_of_its_call(
    app_replicas: Two, legacy: Caller, worker: Worker
) -> None:
    """Spec 2025-11-25, task progress: the token stays valid, values rise, and the task is named."""
    task_id = await solving(legacy, app_replicas[0], task={}, _meta={"progressToken": "p7"})
    async with listening(legacy, app_replicas[1]) as received_messages:
        claim = await worker.take()
        for percent in (30, 30, 31):
            await worker.improve(claim, percent)
        await worker.complete(claim)
        delivered = [(await anext(received_messages)).message for _ in range(5)]
    assert [each["method"].split("/", 1)[1] for each in delivered] == [
        "tasks/status",
        *["progress"] * 3,
        "tasks/status",
    ]
    progress = [each["params"] for each in delivered[1:4]]
    assert {each["progressToken"] for each in progress} == {"p7"}
    values = [each["progress"] for each in progress]
    assert values == sorted(set(values))
    assert progress[0]["_meta"] == {"io.modelcontextprotocol/related-task": {"taskId": task_id}}


async def test_session_hears_that_a_list_changed(app_replicas: Two, legacy: Caller, store: RedisStore) -> None:
    """SPEC T9: told across replicas, once, and not of what was before the session listened."""
    await legacy.initialize(app_replicas[0])
    log = SubscriptionStore(store.redis)
    await log.announce("local", "tools")
    await legacy.result(
        app_replicas[0], "resources/subscribe", uri=f"scenario://{await legacy.scenario(app_replicas[0])}"
    )
    async with listening(legacy, app_replicas[1]) as received_messages:
        key = f"mcp:{{{legacy.session['mcp-session-id']}}}:watch"
        while not await store.redis.hexists(key, "c:list-prompts"):  # noqa: ASYNC110 nothing is sent to wait for
            await anyio.sleep(0.01)
        await log.announce("local", "tools")
        assert (await anext(received_messages)).message["method"] == "notifications/tools/list_changed"


async def test_watching_a_scenario_never_reads_its_day(store: RedisStore) -> None:
    """SPEC R2: a day may be megabytes, watched by many streams, and each new solve rings for all of them."""
    async with aclosing(EventFeed(store)) as feed, anyio.create_task_group() as group:
        notifier = ChannelNotifier(store.redis)
        group.start_soon(notifier.run)
        registry = WatchedJobs(JobService(store, feed, settings=Settings()), notifier)
        body = {"name": "a day", "notes": "x" * 1_000_000}
        day = StoredScenario(ids.random_id("scn", 0), LOCAL.id, body, datetime.now(UTC), "hash")
        await store.put_scenario(day)
        before = (await store.redis.info("stats"))["total_net_output_bytes"]
        assert await registry.job_of(LOCAL, watched_resource_of(f"scenario://{day.id}/result")) is None
        async with aclosing(registry.jobs_of(LOCAL, day.id)) as newest:
            for seed in range(2):
                job = await store.submit(LOCAL.id, SolveRequest(day.id, 1, seed=seed), ids.random_id("job", 0))
                assert await anext(newest) == job.id
        assert (await store.redis.info("stats"))["total_net_output_bytes"] - before < len(body["notes"])
        group.cancel_scope.cancel()
