"""The job's page and channel, over a socket, with the test as worker."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import anyio
import httpx2 as httpx
import pytest

from planner_mcp.jobs.job_model import Job, Progress, SolveRequest
from planner_mcp.jobs.job_ports import Claim
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import LOCAL, Principal
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.shared.scenarios.stored_plans import claimed, stored_plan
from tests.unit.server.http.conftest import build, serving

pytestmark = pytest.mark.anyio
STEP = Progress(percent=10, cost=100.0, tickets_served=1, tickets_total=1, improvements=1, elapsed_s=1.0)


async def solve(store: RedisStore, claim: Claim, *, steps: int) -> None:
    """Report some progress and complete."""
    for step in range(steps):
        await store.report(claim, replace(STEP, percent=10 + step, cost=100.0 - step), None)
    await store.complete(claim, STEP, stored_plan(routes=1, visits=1))


async def events(response: httpx.Response) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    """Yield (id, message) of each event."""
    event_id = ""
    async for line in response.aiter_lines():
        if line.startswith("id: "):
            event_id = line[4:]
        elif line.startswith("data: "):
            yield event_id, json.loads(line[6:])


async def read(
    http: httpx.AsyncClient, url: str, *, after: str | None = None, stop: int | None = None
) -> list[tuple[str, dict[str, Any]]]:
    """Read a channel to its end, or until `stop` events have come."""
    headers = {"Last-Event-ID": after} if after else {}
    found: list[tuple[str, dict[str, Any]]] = []
    with anyio.fail_after(30):
        async with http.stream("GET", url, headers=headers) as response:
            assert response.status_code == 200
            async for event in events(response):
                found.append(event)
                if len(found) == stop:
                    break
    return found


async def test_the_channel_sends_every_event_and_ends(
    http: httpx.AsyncClient, url: str, store: RedisStore, job: Job
) -> None:
    """SPEC J3: JSON-RPC notifications without id, one final event, then the end of the stream."""
    await solve(store, await claimed(store), steps=3)
    sent = await read(http, f"{url}/jobs/{job.id}/events")
    messages = [message for _, message in sent]
    assert [message["method"] for message in messages] == [
        *["notifications/progress"] * 5,
        "notifications/complete",
    ]
    assert all(message["jsonrpc"] == "2.0" and "id" not in message for message in messages)
    assert all(message["params"]["job_id"] == job.id for message in messages)
    progress = [message["params"]["progress"] for message in messages]
    assert progress == sorted(progress)
    assert messages[-1]["params"]["result"]["plan_id"] == "plan" + job.id[3:]


async def test_reconnecting_in_mid_stream_loses_and_repeats_nothing(
    http: httpx.AsyncClient, settings: Settings, store: RedisStore, job_service: JobService, job: Job
) -> None:
    """SPEC J4: with Last-Event-ID, on another replica, while the job runs on."""
    claim = await claimed(store)
    async with (
        serving(build(settings, job_service)) as one,
        serving(build(settings, job_service)) as two,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(lambda: solve(store, claim, steps=30))
        first = await read(http, f"{one}/jobs/{job.id}/events", stop=5)
        rest = await read(http, f"{two}/jobs/{job.id}/events", after=first[-1][0])
    known = [event.id for event in (await store.read_past(LOCAL.id, job.id)).events]
    assert [event_id for event_id, _ in first + rest] == known


async def test_a_late_reconnection_gets_the_gap_and_the_state_of_the_job(
    http: httpx.AsyncClient, settings: Settings, store: RedisStore, job_service: JobService, job: Job
) -> None:
    """SPEC J4: where the event after the position is no longer kept, by header and in the URL, on another replica."""
    claim = await claimed(store)
    async with serving(build(settings, job_service)) as one, serving(build(settings, job_service)) as two:
        (last_id, _message), *_ = await read(http, f"{one}/jobs/{job.id}/events", stop=1)
        await solve(store, claim, steps=5)
        await store.redis.xtrim("{p0}:ev:" + job.id, maxlen=2, approximate=False)
        sent = await read(http, f"{two}/jobs/{job.id}/events", after=last_id)
        assert await read(http, f"{two}/jobs/{job.id}/events?last_event_id={last_id}") == sent
        assert await read(http, f"{two}/jobs/{job.id}/events", after=sent[0][0]) == sent[1:]
    (_, first), (_, final) = sent
    assert first["params"]["gap"] is True
    assert (first["params"]["status"], first["params"]["progress"], first["params"]["cost"]) == ("SOLVING", 14, 96.0)
    assert final["method"] == "notifications/complete"
    assert "gap" not in final["params"]


async def test_the_position_can_stand_in_the_url(
    http: httpx.AsyncClient, url: str, store: RedisStore, job: Job
) -> None:
    """SPEC J4: for clients that cannot set headers."""
    await solve(store, await claimed(store), steps=1)
    whole = await read(http, f"{url}/jobs/{job.id}/events")
    rest = await read(http, f"{url}/jobs/{job.id}/events?last_event_id={whole[1][0]}")
    assert rest == whole[2:]


async def test_a_reader_that_has_the_final_event_is_asked_to_stop(
    http: httpx.AsyncClient, url: str, store: RedisStore, job: Job
) -> None:
    """Our choice: 204, which ends an EventSource's reconnecting."""
    await solve(store, await claimed(store), steps=1)
    whole = await read(http, f"{url}/jobs/{job.id}/events")
    again = await http.get(f"{url}/jobs/{job.id}/events", headers={"Last-Event-ID": whole[-1][0]})
    assert (again.status_code, again.content) == (204, b"")


@pytest.mark.parametrize(
    "position", ["x", "1", "-", "1-", "1-2-3", "99999999999999999999-0", "9999999999999-0", "0x1-0", "é".encode()]
)
async def test_a_position_that_is_none_is_refused(
    http: httpx.AsyncClient, url: str, job: Job, position: str | bytes
) -> None:
    """SPEC J4, T7: an error, never silence; a position this job has not reached yet is none either."""
    value = position if isinstance(position, bytes) else position.encode()
    answer = await http.get(f"{url}/jobs/{job.id}/events", headers=[(b"last-event-id", value)])
    assert answer.status_code == 400
    body = answer.json()
    assert body.pop("traceId")
    assert body == {
        "code": 4001,
        "type": "InvalidParameter",
        "message": "This is not a position in the events of this job.",
        "errors": [
            {
                "path": "/Last-Event-ID",
                "problem": "This is not a position in the events of this job.",
                "accepted": "the id of an event of this job, <milliseconds>-<number>",
                "hint": "",
            }
        ],
        "retryable": False,
    }


async def test_unknown_and_foreign_jobs_are_the_same(
    http: httpx.AsyncClient, url: str, job_service: JobService
) -> None:
    """SPEC A2: 404 with the error of T7, which names the place, for the page and the channel."""
    unknown = "Nothing with this id is known here."
    accepted, hint = "a job_id of yours (job-…)", "GET /v1/jobs lists yours."
    bob = Principal("bob", LOCAL.scopes)
    scenario = await job_service.create_scenario(bob, {"name": "his day"})
    his = await job_service.submit(bob, SolveRequest(scenario.id, 30))
    for path in ("", "/events"):
        bodies = []
        for job_id in (his.id, "job-0-" + "z" * 26, "nonsense", "scn-0-" + "z" * 26):
            answer = await http.get(f"{url}/jobs/{job_id}{path}")
            assert answer.status_code == 404
            body = answer.json()
            assert len(body.pop("traceId")) == 32
            bodies.append(body)
        assert bodies == [
            {
                "code": 4004,
                "type": "NotFound",
                "message": unknown,
                "errors": [{"path": "/job_id", "problem": unknown, "accepted": accepted, "hint": hint}],
                "retryable": False,
            }
        ] * len(bodies)


@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
async def test_the_channel_is_read_only(http: httpx.AsyncClient, url: str, job: Job, method: str) -> None:
    """Our choice: 405 and what is allowed."""
    answer = await http.request(method, f"{url}/jobs/{job.id}/events")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET"


async def test_the_page_is_what_the_tool_says(http: httpx.AsyncClient, url: str, job: Job) -> None:
    """SPEC T3: job_id, status, progress first."""
    answer = await http.get(f"{url}/jobs/{job.id}")
    assert answer.headers["cache-control"] == "no-store"
    assert list(answer.json().items())[:3] == [("job_id", job.id), ("status", "QUEUED"), ("progress", 0)]


async def test_streams_of_a_principal_are_counted(
    http: httpx.AsyncClient, settings: Settings, job_service: JobService, job: Job
) -> None:
    """SPEC A3, J8: PLANNER_MAX_STREAMS, 429 with its value and when to come back; a closed stream makes room."""
    few = settings.model_copy(update={"max_streams": 1})
    async with serving(build(few, job_service)) as url:
        channel = f"{url}/jobs/{job.id}/events"
        async with http.stream("GET", channel) as open_stream:
            heard = events(open_stream)
            await anext(heard)
            refused = await http.get(channel)
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "5")
            assert refused.json()["type"] == "QuotaExceeded"
            assert [fault["accepted"] for fault in refused.json()["errors"]] == ["max_streams is 1"]
        with anyio.fail_after(30):
            while (await _status(http, channel)) != 200:
                pass


async def _status(http: httpx.AsyncClient, url: str) -> int:
    async with http.stream("GET", url) as response:
        return response.status_code


async def test_streams_are_not_buffered_and_not_cached(http: httpx.AsyncClient, url: str, job: Job) -> None:
    """SPEC J4: proxies must not hold events back; `retry` tells when to reconnect."""
    async with http.stream("GET", f"{url}/jobs/{job.id}/events") as response:
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert response.headers["cache-control"] == "no-store, no-transform"
        assert response.headers["x-accel-buffering"] == "no"
        lines = response.aiter_lines()
        assert await anext(lines) == "retry: 1000"


async def test_a_drain_ends_open_streams(
    http: httpx.AsyncClient, settings: Settings, job_service: JobService, job: Job
) -> None:
    """SPEC J7: clients go on elsewhere from their last event."""
    drain = anyio.Event()
    async with serving(build(settings, job_service, drain=drain)) as url:
        with anyio.fail_after(30):
            async with http.stream("GET", f"{url}/jobs/{job.id}/events") as response:
                heard = events(response)
                await anext(heard)
                drain.set()
                assert [event async for event in heard] == []


async def test_one_stream_sends_events_of_all_jobs_and_goes_on_at_another_replica(
    http: httpx.AsyncClient, url: str, settings: Settings, job_service: JobService, store: RedisStore, job: Job
) -> None:
    """SPEC O2, J4: the stream of a page begins with a start; its ids are accepted by any replica."""
    with anyio.fail_after(30):
        async with http.stream("GET", f"{url}/events") as response:
            heard = events(response)
            start, _ = await anext(heard)
            await solve(store, await claimed(store), steps=3)
            sent = [await anext(heard) for _ in range(4)]
        async with serving(build(settings, job_service)) as other:
            again = await read(http, f"{other}/events", after=sent[1][0], stop=2)
    assert again == sent[2:]
    assert [message["params"]["job_id"] for _, message in sent] == [job.id] * 4
    assert start < sent[0][0]
    kept = (await http.get(f"{url}/jobs/{job.id}/events", headers={"accept": "application/json"})).json()["events"]
    assert [message["params"]["event_id"] for _, message in sent] == [
        message["params"]["event_id"] for message in kept[1:5]
    ]


@pytest.mark.parametrize("given", ["x", "1-2-3", "1-2,", "-"])
async def test_a_position_of_no_stream_is_refused(http: httpx.AsyncClient, url: str, given: str) -> None:
    """SPEC T7."""
    answer = await http.get(f"{url}/events", headers={"Last-Event-ID": given})
    assert answer.status_code == 400
    assert [fault["path"] for fault in answer.json()["errors"]] == ["/Last-Event-ID"]


@pytest.mark.parametrize(
    ("accept", "status", "kind"),
    [
        ("*/*", 200, "text/event-stream"),
        ("application/json, text/event-stream", 200, "text/event-stream"),
        ("application/json, text/event-stream;q=0.5", 200, "application/json"),
        ("application/json, text/plain, */*", 200, "application/json"),
        ("text/html", 406, "application/json"),
    ],
)
async def test_the_channel_comes_in_the_form_that_is_preferred(
    http: httpx.AsyncClient, url: str, store: RedisStore, job: Job, accept: str, status: int, kind: str
) -> None:
    """SPEC J2, O5: a stream or what there is so far; anything else is refused instead of streamed."""
    await solve(store, await claimed(store), steps=1)
    answer = await http.get(f"{url}/jobs/{job.id}/events", headers={"accept": accept})
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (status, kind)
