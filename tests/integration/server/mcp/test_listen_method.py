"""`subscriptions/listen` of 2026-07-28: acknowledged, then the present state, then every change (SPEC J2-J4, X2)."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import httpx2 as httpx
import mcp_types as types
import pytest

from planner_mcp.errors import SlowReaderError
from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.job_events import Event
from planner_mcp.jobs.job_model import Job
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import Principal
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.sessions.subscription_store import SubscriptionStore
from planner_mcp.server.http.concurrency_limits import StreamLimit
from planner_mcp.server.mcp.notifications import listen_method
from planner_mcp.server.mcp.notifications.listen_filter import JOBS
from planner_mcp.server.mcp.notifications.listen_method import SUBSCRIPTION, Listen
from planner_mcp.server.mcp.notifications.stdio_watches import StdioNotifier
from planner_mcp.server.mcp.notifications.watched_resources import WatchedJobs
from planner_mcp.settings import Settings
from planner_mcp.text import Json
from tests.integration.server.mcp.app_replicas import Caller, Replica, Two, Worker, messages, replica

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def listening(caller: Caller, on: Replica, **asked: Any) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
    """Yield the messages of a stream."""
    with anyio.fail_after(30):
        async with caller.stream(on, "subscriptions/listen", notifications=asked) as response:
            assert response.status_code == 200, await response.aread()
            yield messages(response)


async def job(caller: Caller, on: Replica) -> str:
    """Return a new job."""
    answer = await caller.solve(on)
    return str(answer["taskId"] if "taskId" in answer else answer["structuredContent"]["job_id"])


async def test_acknowledgement_names_what_is_honoured(app_replicas: Two, modern: Caller) -> None:
    """Spec 2026-07-28, subscriptions: the first frame; unknown ids are silently left out, whoever's they are."""
    known = await job(modern, app_replicas[0])
    unknown = "job-0-" + "a" * 26
    asked = {
        "toolsListChanged": True,
        "promptsListChanged": False,
        "resourceSubscriptions": [
            f"job://{known}",
            f"job://{known}/no/such",
            f"job://{unknown}",
            "file:///etc/passwd",
            "scenario://x/result",
        ],
        "taskIds": [unknown, known],
        JOBS: ["nonsense", known],
    }
    async with listening(modern, app_replicas[1], **asked) as received_messages:
        first = await anext(received_messages)
    assert first["method"] == "notifications/subscriptions/acknowledged"
    assert first["params"]["notifications"] == {
        "toolsListChanged": True,
        "resourceSubscriptions": [f"job://{known}"],
        "taskIds": [known],
        JOBS: [known],
    }
    assert set(first["params"]["_meta"]) == {SUBSCRIPTION}


async def test_a_task_is_sent_as_it_stands_and_then_as_it_changes(
    app_replicas: Two, modern: Caller, worker: Worker
) -> None:
    """Tasks extension: each notification is what tasks/get would answer; progress never rides the stream."""
    task_id = await job(modern, app_replicas[0])
    async with listening(modern, app_replicas[1], taskIds=[task_id]) as received_messages:
        await anext(received_messages)
        assert "QUEUED" in (await anext(received_messages))["params"]["statusMessage"]
        claim = await worker.take()
        assert "SOLVING" in (await anext(received_messages))["params"]["statusMessage"]
        await worker.improve(claim, 40)
        assert "40%" in (await anext(received_messages))["params"]["statusMessage"]
        await worker.complete(claim)
        last = await anext(received_messages)
    got = await modern.result(app_replicas[0], "tasks/get", task_id, taskId=task_id)
    delivered = {key: value for key, value in last["params"].items() if key != "_meta"}
    assert last["method"] == "notifications/tasks"
    assert delivered == {key: value for key, value in got.items() if key not in ("_meta", "resultType")}


async def test_listening_anew_elsewhere_misses_no_end(app_replicas: Two, modern: Caller, worker: Worker) -> None:
    """SPEC J4: the job ends between two streams; the second begins with its end."""
    task_id = await job(modern, app_replicas[0])
    claim = await worker.take()
    async with listening(modern, app_replicas[0], taskIds=[task_id]) as received_messages:
        await anext(received_messages)
        assert (await anext(received_messages))["params"]["status"] == "working"
    await worker.complete(claim)
    async with listening(modern, app_replicas[1], taskIds=[task_id], **{JOBS: [task_id]}) as received_messages:
        await anext(received_messages)
        delivered = [await anext(received_messages) for _ in range(2)]
    assert {each["method"] for each in delivered} == {"notifications/tasks", "notifications/complete"}
    assert {each["params"]["status"] for each in delivered} == {"completed", "COMPLETED"}


async def test_events_of_a_job_are_sent_under_our_own_key(app_replicas: Two, modern: Caller, worker: Worker) -> None:
    """SPEC J3: the payloads of every other transport, under names MCP has not taken."""
    job_id = await job(modern, app_replicas[0])
    async with listening(modern, app_replicas[1], **{JOBS: [job_id]}) as received_messages:
        await anext(received_messages)
        assert (await anext(received_messages))["params"]["status"] == "QUEUED"
        claim = await worker.take()
        assert (await anext(received_messages))["method"] == "notifications/jobs/progress"
        async with anyio.create_task_group() as group:
            group.start_soon(worker.obey, claim)
            await modern.call(app_replicas[0], "cancel_vrp_job", {"job_id": job_id})
        last = await anext(received_messages)
    assert last["method"] == "notifications/jobs/cancelled"
    assert last["params"]["job_id"] == job_id
    assert last["params"]["cancelled_at"]


async def test_only_changes_of_resources_are_notified(app_replicas: Two, modern: Caller, worker: Worker) -> None:
    """SPEC R2: a job, its plan, and the result of its scenario, whose newest solve may come later."""
    scenario_id = await modern.scenario(app_replicas[0])
    uri = f"scenario://{scenario_id}/result"
    async with listening(modern, app_replicas[1], resourceSubscriptions=[uri]) as received_messages:
        await anext(received_messages)
        for seed in (1, 2):
            await modern.call(app_replicas[0], "solve_vrp", {"scenario_id": scenario_id, "seed": seed})
            await worker.complete(await worker.take())
            delivered = await anext(received_messages)
            assert (delivered["method"], delivered["params"]["uri"]) == ("notifications/resources/updated", uri)


async def test_a_new_solve_is_notified_before_a_worker_takes_it(
    app_replicas: Two, modern: Caller, store: RedisStore, worker: Worker
) -> None:
    """SPEC R2, J9: it takes the place of a result that was read, or of one that has expired."""
    scenario_ids = [await modern.scenario(app_replicas[0]) for _ in range(2)]
    uris = [f"scenario://{each}/result" for each in scenario_ids]
    for each in scenario_ids:
        await modern.call(app_replicas[0], "solve_vrp", {"scenario_id": each})
        await worker.complete(claim := await worker.take())
    await store.redis.delete(f"{{p0}}:job:{claim.job.id}")
    async with listening(modern, app_replicas[1], resourceSubscriptions=uris) as received_messages:
        assert (await anext(received_messages))["params"]["notifications"] == {"resourceSubscriptions": uris}
        for scenario_id, uri in zip(scenario_ids, uris, strict=True):
            await modern.call(app_replicas[0], "solve_vrp", {"scenario_id": scenario_id, "fresh": True})
            assert (await anext(received_messages))["params"]["uri"] == uri


async def test_a_solve_that_ends_before_it_is_read_is_notified(
    app_replicas: Two, modern: Caller, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC R2: nobody has seen the result of a job that began after the listening did."""
    scenario_id = await modern.scenario(app_replicas[0])
    uri = f"scenario://{scenario_id}/result"
    read = JobService.job

    async def read_late(job_service: JobService, *args: Any) -> Job:
        while not (job := await read(job_service, *args)).is_terminal:  # noqa: ASYNC110 - the replica is to come too late
            await anyio.sleep(0.01)
        return job

    async with listening(modern, app_replicas[1], resourceSubscriptions=[uri]) as received_messages:
        await anext(received_messages)
        monkeypatch.setattr(JobService, "job", read_late)
        taskless = replace(modern, extensions={})  # to answer with a task, its job is read
        await taskless.call(app_replicas[0], "solve_vrp", {"scenario_id": scenario_id})
        await worker.complete(await worker.take())
        delivered = await anext(received_messages)
    assert (delivered["method"], delivered["params"]["uri"]) == ("notifications/resources/updated", uri)


async def test_list_changes_reach_those_who_asked(
    app_replicas: Two, modern: Caller, store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC T9: across replicas, right behind the acknowledgement too, and no kind that was not asked for."""
    log, send = SubscriptionStore(store.redis), listen_method.ListenStream._send

    async def send_and_change(stream: listen_method.ListenStream, method: str, params: Json) -> None:
        await send(stream, method, params)
        if method == "notifications/subscriptions/acknowledged":
            await log.announce("local", "prompts")
            await log.announce("local", "tools")

    monkeypatch.setattr(listen_method.ListenStream, "_send", send_and_change)
    async with listening(modern, app_replicas[1], toolsListChanged=True) as received_messages:
        await anext(received_messages)
        delivered = await anext(received_messages)
    assert delivered["method"] == "notifications/tools/list_changed"
    assert set(delivered["params"]["_meta"]) == {SUBSCRIPTION}


async def test_task_ids_need_the_extension(app_replicas: Two, modern: Caller) -> None:
    """Tasks extension: −32021 before anything is streamed."""
    modern.extensions = {}
    refused = await modern.error(app_replicas[0], "subscriptions/listen", notifications={"taskIds": ["x"]})
    assert refused["code"] == -32021


@pytest.mark.parametrize("asked", [{"taskIds": "x"}, {JOBS: [1]}, {JOBS: [f"job-{n}" for n in range(300)]}])
async def test_filter_that_is_none_is_refused(app_replicas: Two, modern: Caller, asked: dict[str, Any]) -> None:
    """SPEC T7: −32602 with the place."""
    refused = await modern.error(app_replicas[0], "subscriptions/listen", notifications=asked)
    assert (refused["code"], refused["data"]["errors"][0]["path"][:14]) == (-32602, "/notifications")


async def test_a_principal_has_so_many_streams_over_all_endpoints(
    store: RedisStore, store_url: str, tmp_path: Path, modern: Caller, web: httpx.AsyncClient
) -> None:
    """SPEC A3: PLANNER_MAX_STREAMS counts the streams of every transport together; a refusal says to come back."""
    await store.redis.flushdb()
    async with replica(f"{store_url}?db=15", tmp_path, max_streams=1) as only:
        job_id = await job(modern, only)
        async with web.stream("GET", f"{only.url}/jobs/{job_id}/events") as channel:
            lines = channel.aiter_lines()
            await anext(lines)
            async with modern.stream(only, "subscriptions/listen", notifications={}) as listened:
                assert (listened.status_code, listened.headers["retry-after"]) == (429, "5")
                refused = json.loads(await listened.aread())
                assert (refused["id"], refused["error"]["data"]["type"]) == (next(modern.ids) - 1, "QuotaExceeded")
            async with web.stream("GET", f"{only.url}/sse") as old:
                assert old.status_code == 429
            session = Caller(web, "2025-11-25")
            await session.initialize(only)
            async with session.standalone(only) as standing:
                assert (standing.status_code, standing.headers["retry-after"]) == (429, "5")


async def test_the_stream_sends_the_events_of_the_job_channel(
    app_replicas: Two, modern: Caller, worker: Worker, web: httpx.AsyncClient
) -> None:
    """SPEC J2: the same payloads in the same order at both transports."""
    job_id = await job(modern, app_replicas[0])
    async with listening(modern, app_replicas[1], **{JOBS: [job_id]}) as received_messages:
        await anext(received_messages)
        delivered = [await anext(received_messages)]
        claim = await worker.take()
        delivered.append(await anext(received_messages))
        for percent in (10, 20):
            await worker.improve(claim, percent)
            delivered.append(await anext(received_messages))
        await worker.complete(claim)
        delivered.append(await anext(received_messages))
    async with web.stream("GET", f"{app_replicas[0].url}/jobs/{job_id}/events") as response:
        channel = [message async for message in messages(response)]
    for message in delivered:
        del message["params"]["_meta"]
        message["method"] = message["method"].replace("/jobs/", "/")
    assert delivered == channel


class Followed(JobService):
    """Says when a follower of a job has dealt with its last event."""

    def __init__(self, *parts: Any, **settings: Any) -> None:
        super().__init__(*parts, **settings)
        self.is_asked = anyio.Event()

    async def follow(
        self, principal: Principal, job_id: str, after: str = "0", **how: Any
    ) -> AsyncGenerator[Event, None]:
        async with aclosing(super().follow(principal, job_id, after, **how)) as delivered:
            async for event in delivered:
                yield event
        self.is_asked.set()


class SlowSession:
    """A client that reads only when the gate is open."""

    client_capabilities = None

    def __init__(self) -> None:
        self.gate = anyio.Event()
        self.sent: list[Any] = []

    async def send_notification(self, note: Any, related_request_id: Any = None) -> None:
        self.sent.append(note)
        if len(self.sent) > 1:
            await self.gate.wait()


@pytest.fixture
async def slow(store: RedisStore, settings: Settings) -> AsyncIterator[tuple[Listen, SlowSession, Any]]:
    """A stream's server half, its reader, and the request it answers."""
    async with EventFeed(store) as feed:
        job_service = Followed(store, feed, settings=settings)
        server = Listen(
            WatchedJobs(job_service, StdioNotifier()),
            SubscriptionStore(store.redis),
            settings.job_ttl_s,
            anyio.Event(),
            StreamLimit(1),
        )
        session = SlowSession()
        yield server, session, SimpleNamespace(request=None, request_id="L", session=session)


async def test_reader_that_takes_nothing_is_answered_with_an_error(
    app_replicas: Two, modern: Caller, slow: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our choice: a stated answer to a slow reader."""
    monkeypatch.setattr(listen_method, "SEND_S", 0.05)
    server, _session, ctx = slow
    asked = types.SubscriptionsListenRequestParams.model_validate(
        {"notifications": {JOBS: [await job(modern, app_replicas[0])]}}
    )
    with anyio.fail_after(30), pytest.raises(SlowReaderError):
        await server.listen(ctx, asked)
    with anyio.fail_after(30), pytest.raises(SlowReaderError):  # its place is free again
        await server.listen(ctx, asked)


async def test_a_slow_reader_gets_the_current_state_and_nothing_piles_up(
    app_replicas: Two, modern: Caller, slow: Any, worker: Worker
) -> None:
    """Our choice: bounded by what is watched; of a hundred changes that waited the last is told."""
    server, session, ctx = slow
    job_id = await job(modern, app_replicas[0])
    asked = types.SubscriptionsListenRequestParams.model_validate({"notifications": {JOBS: [job_id]}})
    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(server.listen, ctx, asked)
            claim = await worker.take()
            while len(session.sent) < 2:  # noqa: ASYNC110 the writer is at work
                await anyio.sleep(0.01)
            for percent in range(1, 60):
                await worker.improve(claim, percent)
            await worker.complete(claim)
            await server.watched_jobs.job_service.is_asked.wait()
            session.gate.set()
            server.drain.set()
    assert [note.params.get("status") for note in session.sent][-1] == "COMPLETED"
    assert len(session.sent) <= 4


async def test_draining_replica_ends_its_streams_with_their_results(
    app_replicas: Two, modern: Caller, store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J7: deliberate, so that clients listen elsewhere. Last in this file: the replica stays drained."""
    task_id = await job(modern, app_replicas[0])
    async with listening(modern, app_replicas[0], taskIds=[task_id], toolsListChanged=True) as received_messages:
        await anext(received_messages)
        await anext(received_messages)
        app_replicas[0].drain.set()
        (last,) = [message async for message in received_messages]
    assert last["result"]["resultType"] == "complete"
    assert last["result"]["_meta"][SUBSCRIPTION] == last["id"]
