"""MCP Events: list, poll and stream over the feed of a principal's jobs, in both eras (SPEC O6; SEP-3415)."""

from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import pytest

from planner_mcp.server.mcp.notifications.event_methods import EXTENSION
from planner_mcp.server.mcp.notifications.listen_method import SUBSCRIPTION
from tests.integration.server.mcp.app_replicas import Caller, Replica, Two, Worker, messages, replica
from tests.integration.server.mcp.test_listen_method import job
from tests.integration.server.mcp.test_resource_methods import caller

pytestmark = pytest.mark.anyio
WEBHOOK = {"mode": "webhook", "url": "https://example.org", "secret": "whsec_" + "YWJj" * 8}
NAMES = ["vrp.job.finished", "vrp.job.improved", "vrp.ticket.unassigned", "vrp.workers.capacity"]
__all__ = ["caller"]


async def _job(caller: Caller, on: Replica, worker: Worker) -> tuple[str, Any]:
    return await job(caller, on), await worker.take()


async def test_types_are_listed_with_their_schemas(app_replicas: Two, caller: Caller) -> None:
    """SPEC O6: what can be asked for, by poll and push; reviews only where plans are reviewed."""
    listed = (await caller.result(app_replicas[0], "events/list"))["events"]
    assert [each["name"] for each in listed] == NAMES
    assert all(each["delivery"] == ["poll", "push"] for each in listed)
    assert all(each["inputSchema"]["type"] == each["payloadSchema"]["type"] == "object" for each in listed)


async def test_a_poll_returns_what_happened_after_its_cursor_at_any_replica(
    app_replicas: Two, caller: Caller, worker: Worker
) -> None:
    """SPEC O6, J4: null begins now; each end is told once, wherever the client asks."""
    asked: dict[str, Any] = {"name": "vrp.job.finished", "arguments": {}}
    begin = await caller.result(app_replicas[0], "events/poll", "vrp.job.finished", **asked, cursor=None)
    assert (begin["events"], begin["truncated"], begin["hasMore"]) == ([], False, False)
    job_id, claim = await _job(caller, app_replicas[0], worker)
    await worker.improve(claim, 40)
    await worker.complete(claim)
    polled = await caller.result(app_replicas[1], "events/poll", "vrp.job.finished", **asked, cursor=begin["cursor"])
    (event,) = polled["events"]
    assert (event["name"], event["data"]["job_id"], event["data"]["status"]) == (asked["name"], job_id, "COMPLETED")
    assert "." not in event["eventId"]
    again = await caller.result(app_replicas[0], "events/poll", "vrp.job.finished", **asked, cursor=polled["cursor"])
    assert (again["events"], again["truncated"]) == ([], False)
    for arguments, count in (({"job_id": job_id}, 1), ({"job_id": "job-x"}, 0), ({"status": ["FAILED"]}, 0)):
        asked["arguments"] = arguments
        found = await caller.result(app_replicas[0], "events/poll", asked["name"], **asked, cursor=begin["cursor"])
        assert len(found["events"]) == count, arguments
    improved = {"name": "vrp.job.improved", "cursor": begin["cursor"], "arguments": {"min_gain_percent": 1}}
    (gain,) = (await caller.result(app_replicas[0], "events/poll", "vrp.job.improved", **improved))["events"]
    assert gain["data"]["job_id"] == job_id


async def test_a_poll_has_so_many_events_and_says_that_there_are_more(
    app_replicas: Two, modern: Caller, worker: Worker
) -> None:
    """SPEC O6: `maxEvents` and a cursor to go on with; events that are too old are left out."""
    asked: dict[str, Any] = {"name": "vrp.job.finished"}
    cursor = (await modern.result(app_replicas[0], "events/poll", asked["name"], **asked))["cursor"]
    for _ in range(2):
        _job_id, claim = await _job(modern, app_replicas[0], worker)
        await worker.complete(claim)
    first = await modern.result(app_replicas[0], "events/poll", asked["name"], **asked, cursor=cursor, maxEvents=1)
    assert (len(first["events"]), first["hasMore"]) == (1, True)
    rest = await modern.result(app_replicas[0], "events/poll", asked["name"], **asked, cursor=first["cursor"])
    assert (len(rest["events"]), rest["hasMore"]) == (1, False)
    assert rest["events"][0]["eventId"] != first["events"][0]["eventId"]
    old = await modern.result(app_replicas[0], "events/poll", asked["name"], **asked, cursor=cursor, maxAgeMs=0)
    assert old["events"] == []


async def test_a_stream_sends_events_as_they_happen(app_replicas: Two, caller: Caller, worker: Worker) -> None:
    """SPEC O6: active, then each event, under the id of the request; a poll goes on from its cursor."""
    asked: dict[str, Any] = {"name": "vrp.job.finished", "arguments": {}}
    with anyio.fail_after(30):
        async with (
            caller.stream(app_replicas[0], "events/stream", asked["name"], **asked) as response,
            aclosing(messages(response)) as stream,
        ):
            active = await anext(stream)
            assert active["method"] == "notifications/events/active"
            assert active["params"]["truncated"] is False
            assert SUBSCRIPTION in active["params"]["_meta"]
            job_id, claim = await _job(caller, app_replicas[1], worker)
            await worker.fail(claim)
            event = await anext(stream)
    assert event["method"] == "notifications/events/event"
    assert (event["params"]["data"]["job_id"], event["params"]["data"]["status"]) == (job_id, "FAILED")
    later = await caller.result(
        app_replicas[1], "events/poll", asked["name"], **asked, cursor=event["params"]["cursor"]
    )
    assert later["events"] == []


async def test_workers_are_notified_when_they_change(app_replicas: Two, modern: Caller) -> None:
    """SPEC O6: the queue and its workers, for operators."""
    asked: dict[str, Any] = {"name": "vrp.workers.capacity"}
    begin = await modern.result(app_replicas[0], "events/poll", asked["name"], **asked)
    await job(modern, app_replicas[0])
    polled = await modern.result(app_replicas[1], "events/poll", asked["name"], **asked, cursor=begin["cursor"])
    assert [each["data"]["queued"] for each in polled["events"]] == [1]
    again = await modern.result(app_replicas[1], "events/poll", asked["name"], **asked, cursor=polled["cursor"])
    assert again["events"] == []


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("events/poll", {"name": "vrp.other"}, -32011),
        ("events/poll", {"name": "vrp.plan.reviewed"}, -32011),
        ("events/poll", {"name": "vrp.job.finished", "maxAgeMs": 10**30}, -32602),
        ("events/stream", {"name": "vrp.other"}, -32011),
        ("events/subscribe", {"name": "vrp.other", "delivery": WEBHOOK}, -32011),
        ("events/subscribe", {"name": "vrp.job.finished", "delivery": WEBHOOK}, -32012),
        ("events/subscribe", {"name": "vrp.workers.capacity", "delivery": WEBHOOK}, -32014),
        ("events/unsubscribe", {"name": "vrp.job.finished", "delivery": {"url": "https://example.org"}}, -32012),
        ("events/unsubscribe", {}, -32602),
        ("events/poll", {}, -32602),
        ("events/poll", {"name": 3}, -32602),
        ("events/poll", {"name": "vrp.job.finished", "arguments": []}, -32602),
        ("events/poll", {"name": "vrp.job.finished", "arguments": {"x": 1}}, -32602),
        ("events/poll", {"name": "vrp.job.finished", "arguments": {"status": ["DONE"]}}, -32602),
        ("events/poll", {"name": "vrp.job.finished", "arguments": {"job_id": 3}}, -32602),
        ("events/poll", {"name": "vrp.job.improved", "arguments": {"min_gain_percent": True}}, -32602),
        ("events/poll", {"name": "vrp.job.finished", "cursor": "yesterday"}, -32602),
        ("events/poll", {"name": "vrp.job.finished", "cursor": "1-1", "maxEvents": 0}, -32602),
        ("events/stream", {"name": "vrp.job.finished", "cursor": "x" * 5000}, -32602),
    ],
)
async def test_what_cannot_be_answered_is_refused(
    app_replicas: Two, caller: Caller, method: str, params: dict[str, Any], code: int
) -> None:
    """SPEC O6, T7: with the numbers of the extension, and a place where something is to mend."""
    named = params.get("name") if -32014 <= code <= -32011 else None
    error = await caller.error(app_replicas[0], method, named, **params)
    assert error["code"] == code
    assert error["data"]["code"] >= 4000
    if params.get("cursor") == "yesterday":
        assert [fault["path"] for fault in error["data"]["errors"]] == ["/cursor"]


async def test_a_cursor_that_is_no_longer_kept_is_reported(app_replicas: Two, modern: Caller) -> None:
    """SPEC O6: `truncated`, and a cursor to begin anew."""
    asked: dict[str, Any] = {"name": "vrp.job.finished", "cursor": "99999999999999-1"}
    found = await modern.result(app_replicas[0], "events/poll", asked["name"], **asked)
    assert (found["events"], found["truncated"]) == ([], True)
    assert found["cursor"] != asked["cursor"]


async def test_who_did_not_ask_sees_nothing_of_events(
    app_replicas: Two, legacy: Caller, modern: Caller, store_url: str, tmp_path: Path
) -> None:
    """SPEC O6: both ways of advertising for clients that asked; for all by a setting, as some clients look for it."""
    assert "events" not in (await modern.result(app_replicas[0], "server/discover"))["capabilities"]
    plain = (await legacy.initialize(app_replicas[0]))["capabilities"]
    assert "events" not in plain and EXTENSION not in plain.get("extensions", {})
    legacy.extensions = modern.extensions = {EXTENSION: {}}
    for capabilities in (
        (await legacy.initialize(app_replicas[0]))["capabilities"],
        (await modern.result(app_replicas[0], "server/discover"))["capabilities"],
    ):
        assert (capabilities["events"], capabilities["extensions"][EXTENSION]) == ({}, {"listChanged": False})
    modern.extensions = {}
    async with replica(
        f"{store_url}?db=15", tmp_path, events_advertised="always", events_errors="sep", approval="on"
    ) as other:
        assert (await modern.result(other, "server/discover"))["capabilities"]["events"] == {}
        assert (await modern.error(other, "events/poll", "x", name="x"))["code"] == -32023
        assert "vrp.plan.reviewed" in str(await modern.result(other, "events/list"))
