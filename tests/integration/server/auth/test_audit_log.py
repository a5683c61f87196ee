"""The audit log: one line for every use and every refusal, at every entry point (SPEC A3)."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2 as httpx
import pytest

from planner_mcp.errors import NotFoundError
from planner_mcp.jobs.ids import random_id
from planner_mcp.jobs.principals import ADMIN, READ
from planner_mcp.jobs.records.audit_records import AuditEntry
from planner_mcp.jobs.store.security.audit_log import AuditLog
from planner_mcp.server.http.middleware.audit_middleware import LINES_BURST
from tests.shared.http.mcp_caller import HEADERS, Caller, recent_dates
from tests.shared.scenarios.client_scenarios import SMALLEST

pytestmark = pytest.mark.anyio
JOB = "job-0-" + "a" * 26
Lines = Callable[[], Awaitable[list[AuditEntry]]]


async def test_every_use_and_refusal_is_one_audit_line(served: Any, key: Any, audited: Lines) -> None:
    """SPEC A3: who, tenant, what, id, outcome, trace id; the answer carries the same trace id."""
    ann, reader = await key("ann", tenant="acme"), await key("eve", READ)
    async with served() as http:
        stranger = await http.get("/jobs/x")
        made = await Caller(http, ann).call("create_scenario", **SMALLEST)
        wrong = await Caller(http, ann).call("create_scenario")
        refused = await Caller(http, reader).call("solve_vrp")
    lines = await audited()
    recorded = [(line.subject, line.tenant, line.what, line.outcome) for line in lines]
    assert recorded == [
        ("", "", "GET /jobs", "4011"),
        ("ann", "acme", "create_scenario", "ok"),
        ("ann", "acme", "create_scenario", "4002"),
        ("eve", "", "POST /mcp", "4012"),
    ]
    assert lines[0].trace_id == stranger.json()["traceId"]
    assert lines[1].target == made.json()["result"]["structuredContent"]["scenario_id"]
    assert lines[2].trace_id == wrong.json()["result"]["structuredContent"]["traceId"]
    assert lines[3].trace_id == refused.json()["traceId"]


async def test_refusals_of_the_protocol_are_audited_too(served: Any, key: Any, audited: Lines) -> None:
    """SPEC A3: an unknown resource, task and tool; each once, under the trace id of the answer, in both eras."""
    async with served() as http:
        old, new = Caller(http, await key("ann")), Caller(http, await key("ann"))
        await old.initialize()
        answers = []
        for caller in (old, new):
            answers.append(await caller.request("resources/read", uri=f"job://{JOB}"))
            answers.append(await caller.call("solve_tsp"))
        answers.append(await old.request("tasks/get", taskId=JOB))
        answers.append(await new.request("no/such"))
    lines = await audited()
    assert [(line.what, line.target) for line in lines] == [
        *[("resources/read", JOB), ("tools/call", "")] * 2,
        ("tasks/get", JOB),
        ("no/such", ""),
    ]
    assert [line.trace_id for line in lines] == [each.json()["error"]["data"]["traceId"] for each in answers]


async def test_reading_is_audited_at_every_endpoint(served: Any, key: Any, audited: Lines) -> None:
    """SPEC A3: by URI, by tool, on the job's page and channel, as a task; each once, with the id."""
    async with served() as http:
        ann = Caller(http, await key("ann"))
        scenario = content(await ann.call("create_scenario", **SMALLEST))["scenario_id"]
        job = content(await ann.call("solve_vrp", scenario_id=scenario, solve_time="PT1S"))["job_id"]
        before = len(await audited())
        await ann.initialize()
        await ann.request("resources/read", uri=f"scenario://{scenario}")
        await ann.request("resources/read", uri="jobs://vrp/status/all?page=1&size=5")
        await ann.request("resources/subscribe", uri=f"job://{job}")
        await ann.request("resources/unsubscribe", uri=f"job://{job}")
        await ann.request("tasks/get", taskId=job)
        await ann.call("query_vrp_status", job_id=job)
        await ann.get(f"/jobs/{job}")
        await http.request("HEAD", f"/jobs/{job}", headers=ann.headers)
        assert (await http.delete("/mcp", headers=ann.headers)).status_code == 204
    lines = (await audited())[before:]
    assert [(line.what, line.target, line.outcome) for line in lines] == [
        ("resources/read", scenario, "ok"),
        ("resources/read", "", "ok"),
        ("resources/subscribe", job, "ok"),
        ("resources/unsubscribe", job, "ok"),
        ("tasks/get", job, "ok"),
        ("query_vrp_status", job, "ok"),
        ("GET /jobs", job, "ok"),
        ("HEAD /jobs", job, "ok"),
        ("DELETE /mcp", "", "ok"),
    ]
    assert {line.subject for line in lines} == {"ann"}
    assert len({line.trace_id for line in lines}) == len(lines)


def content(answer: httpx.Response) -> dict[str, Any]:
    """Return the structured content of a tool's answer."""
    return dict(answer.json()["result"]["structuredContent"])


MODERN = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list"}
NESTED = b'{"a":' * 20 + b"1" + b"}" * 20
REFUSALS: dict[str, tuple[str, str, dict[str, Any], int]] = {
    "another's job": ("GET", f"/jobs/{random_id('job', 0)}", {}, 404),
    "another's channel": ("GET", f"/jobs/{JOB}/events", {}, 404),
    "a method no page has": ("DELETE", f"/jobs/{JOB}", {}, 405),
    "a path there is not": ("GET", "/nothing", {}, 404),
    "another's session": ("GET", "/mcp", {"headers": {"mcp-session-id": "A" * 32}}, 404),
    "the end of another's session": ("DELETE", "/mcp", {"headers": {"mcp-session-id": "A" * 32}}, 404),
    "a message to another's session": ("POST", "/messages?session_id=x", {"json": {"jsonrpc": "2.0"}}, 404),
    "no media type": ("GET", "/mcp", {"headers": {"accept": "text/plain"}}, 406),
    "no JSON": ("POST", "/mcp", {"content": b"{"}, 400),
    "no JSON, 2026-07-28": ("POST", "/mcp", {"content": b"{", "headers": MODERN}, 400),
    "too large": ("POST", "/mcp", {"content": b"x" * 5000}, 413),
    "too deep": ("POST", "/mcp", {"content": NESTED}, 400),
    "packed": ("POST", "/mcp", {"content": b"x", "headers": {"content-encoding": "gzip"}}, 415),
    "another host": ("GET", f"/jobs/{JOB}", {"headers": {"host": "evil.example"}}, 421),
    "another origin": ("POST", "/mcp", {"content": b"{}", "headers": {"origin": "https://evil.example"}}, 403),
    "a wrong credential": ("GET", f"/jobs/{JOB}", {"headers": {"authorization": "Bearer pmk_x"}}, 401),
}


@pytest.mark.parametrize("name", REFUSALS)
async def test_each_refusal_of_http_is_one_line(served: Any, key: Any, audited: Lines, name: str) -> None:
    """SPEC A3: whichever layer refused: its code and trace id are those the caller was told."""
    method, path, more, status = REFUSALS[name]
    async with served(max_body_bytes=4096, max_nesting=8) as http:
        headers = HEADERS | {"authorization": await key("ann")} | more.get("headers", {})
        answer = await http.request(method, path, **{**more, "headers": headers})
    assert answer.status_code == status
    refusal = answer.json().get("error", {}).get("data") or answer.json()
    lines = await audited()
    assert [(line.outcome, line.trace_id) for line in lines] == [(str(refusal["code"]), refusal["traceId"])]
    assert lines[0].what.split()[0] == method
    is_named = status not in (421, 401) and "origin" not in more.get("headers", {})
    is_named = is_named and "content-encoding" not in more.get("headers", {})
    assert lines[0].subject == ("ann" if is_named else "")
    assert lines[0].target in ("", *re.findall(r"job-0-[a-z2-7]{26}", path))


async def test_figures_are_audited_by_their_path(served: Any, key: Any, audited: Lines) -> None:
    """SPEC A3, O3: of whoever reads them and of whoever may not."""
    async with served() as http:
        for scope in (ADMIN, READ):
            await http.get("/metrics", headers={"authorization": await key("ann", scope)})
    assert [(line.what, line.outcome) for line in await audited()] == [
        ("GET /metrics", "ok"),
        ("GET /metrics", "4012"),
    ]


async def test_what_anybody_may_read_leaves_no_line(served: Any, audited: Lines) -> None:
    """SPEC A3: probes and public pages are no use of anything that is somebody's."""
    async with served() as http:
        for path in ("/healthz", "/readyz", "/manifest", "/.well-known/mcp/manifest"):
            assert (await http.get(path)).status_code == 200
    assert await audited() == []


async def test_a_stream_has_its_line_when_it_is_asked_for(served: Any, key: Any, audited: Lines) -> None:
    """SPEC A3: not hours later; a refused one has a second line that says so, under the same trace id."""
    async with served() as http:
        ann = Caller(http, await key("ann"))
        answer = await ann.request("subscriptions/listen", notifications={"resourceSubscriptions": 7})
    lines = await audited()
    assert [(line.what, line.outcome) for line in lines] == [
        ("subscriptions/listen", "asked"),
        ("subscriptions/listen", str(answer.json()["error"]["data"]["code"])),
    ]
    assert lines[0].trace_id == lines[1].trace_id


async def test_a_crowd_of_refusals_does_not_fill_the_store(
    served: Any, key: Any, audited: Lines, caplog: pytest.LogCaptureFixture
) -> None:
    """SPEC A3: beyond a burst a line a second is kept, and says how many it stands for; the log has them all."""
    many = LINES_BURST + 40
    async with served(rate_per_s=10_000, rate_burst=10_000) as http:
        ann, ben = Caller(http, await key("ann")), Caller(http, await key("ben"))
        with caplog.at_level("INFO", "planner_mcp.server.auth.audit_trail"):
            for _ in range(many):
                await http.get("/jobs/x")
            logged = [record for record in caplog.records if record.getMessage() == "audit"]
        await ann.get(f"/jobs/{JOB}")
        await ben.get(f"/jobs/{JOB}")
    lines = await audited()
    kept = [line for line in lines if line.who == "nobody"]
    assert LINES_BURST <= len(kept) < many
    assert len(logged) == many
    assert many - len(kept) >= sum(line.left_out for line in kept) >= 0
    assert [line.subject for line in lines[len(kept) :]] == ["ann", "ben"], "others are written down as ever"


async def test_the_audit_log_is_read_page_by_page(served: Any, store: Any, settings: Any) -> None:
    """SPEC A3: `AuditLog.read` is what logs://vrp/{date} shows."""
    async with served() as http:
        for _ in range(5):
            await http.get("/jobs/x")
    log, seen = AuditLog(store.script_client, settings), list[AuditEntry]()
    for day in recent_dates():
        after: str | None = "0"
        while after is not None:
            page = await log.read(day, after, 2)
            seen += page.entries
            after = page.next
    assert len(seen) == 5
    assert (await log.read("2001-01-01")).entries == []
    with pytest.raises(NotFoundError):
        await log.read("2026-13-99")
    assert 0 < await store.redis.ttl(f"{{p0}}:audit:{seen[-1].at[:10]}") <= settings.audit_ttl_s
