"""`subscriptions/listen` of 2026-07-28: acknowledged, then the present state, then every change (SPEC J2-J4, X2)."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import httpx2 as httpx
import mcp_types as types
import pytest

from planner_mcp.errors import SlowReaderError
from planner_mcp.jobs.events import Event
from planner_mcp.jobs.model import Job, Principal
from planner_mcp.jobs.service import Planner
from planner_mcp.notify.feed import RedisFeed
from planner_mcp.protocol.notifications import listen_stream
from planner_mcp.protocol.notifications.listen import Listen
from planner_mcp.protocol.notifications.listen_filter import JOBS
from planner_mcp.protocol.notifications.listen_stream import SUBSCRIPTION, Sources
from planner_mcp.protocol.notifications.pipe import Note
from planner_mcp.protocol.notifications.subjects import Registry
from planner_mcp.settings import Settings
from planner_mcp.store.redis_store import RedisStore
from planner_mcp.store.watch_log import WatchLog
from planner_mcp.web.open_count import OpenStreams
from tests.integration.protocol.houses import Caller, Replica, Worker, messages, replica

pytestmark = pytest.mark.anyio
Two = tuple[Replica, Replica]


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


async def test_acknowledgement_names_what_is_honoured(houses: Two, modern: Caller) -> None:
    """Spec 2026-07-28, subscriptions: the first frame; unknown ids are silently left out, whoever's they are."""
    known = await job(modern, houses[0])
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
    async with listening(modern, houses[1], **asked) as heard:
        first = await anext(heard)
    assert first["method"] == "notifications/subscriptions/acknowledged"
    assert first["params"]["notifications"] == {
        "toolsListChanged": True,
        "resourceSubscriptions": [f"job://{known}"],
        "taskIds": [known],
        JOBS: [known],
    }
    assert set(first["params"]["_meta"]) == {SUBSCRIPTION}


async def test_task_is_told_as_it_stands_and_then_as_it_changes(houses: Two, modern: Caller, worker: Worker) -> None:
    """Tasks extension: each notification is what tasks/get would answer; progress never rides the stream."""
    task_id = await job(modern, houses[0])
    async with listening(modern, houses[1], taskIds=[task_id]) as heard:
        await anext(heard)
        assert "QUEUED" in (await anext(heard))["params"]["statusMessage"]
        claim = await worker.take()
        assert "SOLVING" in (await anext(heard))["params"]["statusMessage"]
        await worker.improve(claim, 40)
        assert "40%" in (await anext(heard))["params"]["statusMessage"]
        await worker.complete(claim)
        last = await anext(heard)
    got = await modern.result(houses[0], "tasks/get", task_id, taskId=task_id)
    told = {key: value for key, value in last["params"].items() if key != "_meta"}
    assert last["method"] == "notifications/tasks"
    assert told == {key: value for key, value in got.items() if key not in ("_meta", "resultType")}


async def test_listening_anew_elsewhere_misses_no_end(houses: Two, modern: Caller, worker: Worker) -> None:
    """SPEC J4: the job ends between two streams; the second begins with its end."""
    task_id = await job(modern, houses[0])
    claim = await worker.take()
    async with listening(modern, houses[0], taskIds=[task_id]) as heard:
        await anext(heard)
        assert (await anext(heard))["params"]["status"] == "working"
    await worker.complete(claim)
    async with listening(modern, houses[1], taskIds=[task_id], **{JOBS: [task_id]}) as heard:
        await anext(heard)
        told = [await anext(heard) for _ in range(2)]
    assert {each["method"] for each in told} == {"notifications/tasks", "notifications/complete"}
    assert {each["params"]["status"] for each in told} == {"completed", "COMPLETED"}


async def test_events_of_a_job_are_told_under_our_own_key(houses: Two, modern: Caller, worker: Worker) -> None:
    """SPEC J3: the payloads of every other door, under names MCP has not taken."""
    job_id = await job(modern, houses[0])
    async with listening(modern, houses[1], **{JOBS: [job_id]}) as heard:
        await anext(heard)
        assert (await anext(heard))["params"]["status"] == "QUEUED"
        claim = await worker.take()
        assert (await anext(heard))["method"] == "notifications/jobs/progress"
        async with anyio.create_task_group() as group:
            group.start_soon(worker.obey, claim)
            await modern.call(houses[0], "cancel_vrp_job", {"job_id": job_id})
        last = await anext(heard)
    assert last["method"] == "notifications/jobs/cancelled"
    assert last["params"]["job_id"] == job_id
    assert last["params"]["cancelled_at"]


async def test_only_changes_are_told_of_resources(houses: Two, modern: Caller, worker: Worker) -> None:
    """SPEC R2: a job, its plan, and the result of its scenario, whose newest solve may come later."""
    scenario_id = await modern.scenario(houses[0])
    uri = f"scenario://{scenario_id}/result"
    async with listening(modern, houses[1], resourceSubscriptions=[uri]) as heard:
        await anext(heard)
        for seed in (1, 2):
            await modern.call(houses[0], "solve_vrp", {"scenario_id": scenario_id, "seed": seed})
            await worker.complete(await worker.take())
            told = await anext(heard)
            assert (told["method"], told["params"]["uri"]) == ("notifications/resources/updated", uri)


async def test_a_new_solve_is_told_of_before_a_worker_takes_it(
    houses: Two, modern: Caller, store: RedisStore, worker: Worker
) -> None:
    """SPEC R2, J9: it takes the place of a result that was read, or of one that has expired."""
    scenario_ids = [await modern.scenario(houses[0]) for _ in range(2)]
    uris = [f"scenario://{each}/result" for each in scenario_ids]
    for each in scenario_ids:
        await modern.call(houses[0], "solve_vrp", {"scenario_id": each})
        await worker.complete(claim := await worker.take())
    await store.redis.delete(f"{{p0}}:job:{claim.job.id}")
    async with listening(modern, houses[1], resourceSubscriptions=uris) as heard:
        assert (await anext(heard))["params"]["notifications"] == {"resourceSubscriptions": uris}
        for scenario_id, uri in zip(scenario_ids, uris, strict=True):
            await modern.call(houses[0], "solve_vrp", {"scenario_id": scenario_id, "fresh": True})
            assert (await anext(heard))["params"]["uri"] == uri


async def test_a_solve_that_is_over_before_it_is_read_is_told_of(
    houses: Two, modern: Caller, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC R2: nobody has seen the result of a job that began after the listening did."""
    scenario_id = await modern.scenario(houses[0])
    uri = f"scenario://{scenario_id}/result"
    read = Planner.job

    async def read_late(planner: Planner, *args: Any) -> Job:
        while not (job := await read(planner, *args)).is_terminal:  # noqa: ASYNC110 - the replica is to come too late
            await anyio.sleep(0.01)
        return job

    async with listening(modern, houses[1], resourceSubscriptions=[uri]) as heard:
        await anext(heard)
        monkeypatch.setattr(Planner, "job", read_late)
        await modern.call(houses[0], "solve_vrp", {"scenario_id": scenario_id})
        await worker.complete(await worker.take())
        told = await anext(heard)
    assert (told["method"], told["params"]["uri"]) == ("notifications/resources/updated", uri)


async def test_list_changes_reach_those_who_asked(
    houses: Two, modern: Caller, store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC T9: across replicas, right behind the acknowledgement too, and no kind that was not asked for."""
    log, send = WatchLog(store.redis), listen_stream.Stream._send

    async def send_and_change(stream: listen_stream.Stream, note: Note) -> None:
        await send(stream, note)
        if note.method == "notifications/subscriptions/acknowledged":
            await log.announce("local", "prompts")
            await log.announce("local", "tools")

    monkeypatch.setattr(listen_stream.Stream, "_send", send_and_change)
    async with listening(modern, houses[1], toolsListChanged=True) as heard:
        await anext(heard)
        told = await anext(heard)
    assert told["method"] == "notifications/tools/list_changed"
    assert set(told["params"]["_meta"]) == {SUBSCRIPTION}


async def test_task_ids_need_the_extension(houses: Two, modern: Caller) -> None:
    """Tasks extension: −32021 before anything is streamed."""
    modern.extensions = {}
    refused = await modern.error(houses[0], "subscriptions/listen", notifications={"taskIds": ["x"]})
    assert refused["code"] == -32021


@pytest.mark.parametrize("asked", [{"taskIds": "x"}, {JOBS: [1]}, {JOBS: [f"job-{n}" for n in range(300)]}])
async def test_filter_that_is_none_is_refused(houses: Two, modern: Caller, asked: dict[str, Any]) -> None:
    """SPEC T7: −32602 with the place."""
    refused = await modern.error(houses[0], "subscriptions/listen", notifications=asked)
    assert (refused["code"], refused["data"]["errors"][0]["path"][:14]) == (-32602, "/notifications")


async def test_principal_has_so_many_streams_over_all_doors(
    store: RedisStore, store_url: str, tmp_path: Path, modern: Caller, web: httpx.AsyncClient
) -> None:
    """SPEC A3: PLANNER_MAX_STREAMS counts the streams of every door together; a refusal says to come back."""
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


async def test_stream_tells_the_story_of_the_job_channel(
    houses: Two, modern: Caller, worker: Worker, web: httpx.AsyncClient
) -> None:
    """SPEC J2: the same payloads in the same order at both doors."""
    job_id = await job(modern, houses[0])
    async with listening(modern, houses[1], **{JOBS: [job_id]}) as heard:
        await anext(heard)
        told = [await anext(heard)]
        claim = await worker.take()
        told.append(await anext(heard))
        for percent in (10, 20):
            await worker.improve(claim, percent)
            told.append(await anext(heard))
        await worker.complete(claim)
        told.append(await anext(heard))
    async with web.stream("GET", f"{houses[0].url}/jobs/{job_id}/events") as response:
        channel = [message async for message in messages(response)]
    for message in told:
        del message["params"]["_meta"]
        message["method"] = message["method"].replace("/jobs/", "/")
    assert told == channel


class Followed(Planner):
    """Says when a follower of a job has dealt with its last event."""

    def __init__(self, *parts: Any, **settings: Any) -> None:
        super().__init__(*parts, **settings)
        self.is_told = anyio.Event()

    async def follow(self, principal: Principal, job_id: str, after: str = "0") -> AsyncGenerator[Event, None]:
        async with aclosing(super().follow(principal, job_id, after)) as told:
            async for event in told:
                yield event
        self.is_told.set()


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
async def slow(store: RedisStore, settings: Settings) -> AsyncIterator[tuple[Listen, Sources, SlowSession, Any]]:
    """A stream's server half, its reader, and the request it answers."""
    async with RedisFeed(store) as feed:
        planner = Followed(store, feed, settings=settings)
        sources = Sources(Registry(planner), WatchLog(store.redis), settings.job_ttl_s, anyio.Event())
        session = SlowSession()
        yield (
            Listen(sources, OpenStreams(1)),
            sources,
            session,
            SimpleNamespace(request=None, request_id="L", session=session),
        )


async def test_reader_that_takes_nothing_is_answered_with_an_error(
    houses: Two, modern: Caller, slow: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our choice: a stated answer to a slow reader."""
    monkeypatch.setattr(listen_stream, "SEND_S", 0.05)
    server, _sources, _session, ctx = slow
    asked = types.SubscriptionsListenRequestParams.model_validate(
        {"notifications": {JOBS: [await job(modern, houses[0])]}}
    )
    with anyio.fail_after(30), pytest.raises(SlowReaderError):
        await server.listen(ctx, asked)
    with anyio.fail_after(30), pytest.raises(SlowReaderError):  # its place is free again
        await server.listen(ctx, asked)


async def test_slow_reader_is_told_how_things_stand_and_nothing_piles_up(
    houses: Two, modern: Caller, slow: Any, worker: Worker
) -> None:
    """Our choice: bounded by what is watched; of a hundred changes that waited the last is told."""
    server, sources, session, ctx = slow
    job_id = await job(modern, houses[0])
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
            await sources.registry.planner.is_told.wait()
            session.gate.set()
            sources.drain.set()
    assert [note.params.get("status") for note in session.sent][-1] == "COMPLETED"
    assert len(session.sent) <= 4


async def test_draining_replica_ends_its_streams_with_their_results(
    houses: Two, modern: Caller, store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J7: deliberate, so that clients listen elsewhere. Last in this file: the replica stays drained."""
    task_id = await job(modern, houses[0])
    async with listening(modern, houses[0], taskIds=[task_id], toolsListChanged=True) as heard:
        await anext(heard)
        await anext(heard)
        houses[0].drain.set()
        (last,) = [message async for message in heard]
    assert last["result"]["resultType"] == "complete"
    assert last["result"]["_meta"][SUBSCRIPTION] == last["id"]
