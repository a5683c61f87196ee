"""Authentication at every entry point, in the app as it is served."""

import json
import re
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import anyio
import httpx2 as httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from planner_mcp import http_app
from planner_mcp.app import AppServices
from planner_mcp.jobs.principals import ADMIN, READ, SCOPES, SENSITIVE, WRITE, Principal
from planner_mcp.jobs.store.security.api_key_store import ApiKeyStore
from planner_mcp.server.auth import revocation_watch
from planner_mcp.server.auth.audit_trail import NOBODY
from planner_mcp.server.auth.revocation_watch import RevocationWatch
from planner_mcp.server.http.middleware.authentication_middleware import is_public
from planner_mcp.server.http.middleware.authorization_middleware import AuthorizationMiddleware
from planner_mcp.server.mcp.transports import post_exchange
from tests.shared.http.mcp_caller import Caller
from tests.shared.scenarios.client_scenarios import SMALLEST

pytestmark = pytest.mark.anyio
ENTRY_POINTS = [
    ("POST", "/mcp"),
    ("GET", "/mcp"),
    ("DELETE", "/mcp"),
    ("GET", "/jobs/x"),
    ("GET", "/jobs/x/events"),
    ("GET", "/nothing"),
    ("OPTIONS", "/mcp"),
]
METHODS = [
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "prompts/list",
    "completion/complete",
    "server/discover",
    "subscriptions/listen",
    "tasks/get",
    "logging/setLevel",
]


async def test_nothing_is_served_to_strangers_but_what_is_public(served: Any) -> None:
    """SPEC A1: 401 with scope and without an error code, for every path and method; public paths answer anybody."""
    async with served() as http:
        for method, path in ENTRY_POINTS:
            answer = await http.request(method, path)
            assert answer.status_code == 401, (method, path)
            assert answer.headers["www-authenticate"] == f'Bearer scope="{READ} {WRITE}"'
            assert answer.json()["type"] == "Unauthenticated"
        for method in METHODS:
            assert (await Caller(http).request(method)).status_code == 401, method
        for path in ("/healthz", "/readyz", "/manifest", "/.well-known/mcp/manifest"):
            assert (await http.get(path)).status_code == 200, path


async def test_metadata_stands_at_the_root_and_behind_the_path(served: Any) -> None:
    """SPEC A1: RFC 9728; addresses come from the configured URL alone, whatever a request says of its host."""
    issuer = "https://as.example"
    async with served(public_url="https://planner.example/base", auth_issuers={issuer: None}) as http:
        answer = await http.get("/jobs/x", headers={"x-forwarded-host": "evil.example"})
        where = "https://planner.example/.well-known/oauth-protected-resource/base/mcp"
        assert f'resource_metadata="{where}"' in answer.headers["www-authenticate"]
        paths = ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/base/mcp"]
        strange = {"x-forwarded-host": "evil.example", "origin": "https://some.example"}
        answers = [await http.get(path, headers=strange) for path in paths]
        documents = [answer.json() for answer in answers]
    assert {answer.headers["access-control-allow-origin"] for answer in answers} == {"*"}
    assert len({answer.headers["etag"] for answer in answers}) == 1
    assert documents[0] == documents[1]
    assert documents[0]["resource"] == "https://planner.example/base/mcp"
    assert documents[0]["authorization_servers"] == [issuer]
    assert set(documents[0]["scopes_supported"]) == SCOPES


async def test_where_keys_alone_are_known_nobody_is_sent_to_an_issuer(served: Any) -> None:
    """SPEC A1: RFC 9728 §5.1; a client is not pointed to metadata that is not served."""
    async with served(public_url="https://planner.example") as http:
        assert (await http.get("/jobs/x")).headers["www-authenticate"] == f'Bearer scope="{READ} {WRITE}"'
        assert (await http.get("/.well-known/oauth-protected-resource/mcp")).status_code != 200


async def test_metadata_names_the_url_and_not_the_audience(served: Any) -> None:
    """SPEC A1: RFC 9728; what tokens are issued for may be no URL at all."""
    further = {"auth_audience": "api://planner", "auth_issuers": {"https://as.example": None}}
    async with served(public_url="https://planner.example", **further) as http:
        where = "/.well-known/oauth-protected-resource/mcp"
        error_body = (await http.get("/jobs/x")).headers["www-authenticate"]
        assert f'resource_metadata="https://planner.example{where}"' in error_body
        assert (await http.get(where)).json()["resource"] == "https://planner.example/mcp"


@pytest.mark.parametrize(
    "headers",
    [
        [("authorization", "Basic YTpi")],
        [("authorization", "Bearer")],
        [("authorization", "Bearer a b")],
        [("authorization", "Bearer " + "a" * 9000)],
        [("authorization", "Bearer pmk_000000000000_" + "a" * 43)],
        [("authorization", "Bearer pmk_x")],
        [("authorization", "Bearer opaque")],
        [("authorization", "Bearer a.b.c")],
    ],
)
async def test_a_credential_with_any_doubt_is_refused(served: Any, headers: list[tuple[str, str]]) -> None:
    """SPEC A1: with the code of RFC 6750 where something came."""
    async with served() as http:
        answer = await http.get("/jobs/x", headers=headers)
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


async def test_two_credentials_are_none(served: Any, key: Any) -> None:
    """SPEC A1: exactly one Authorization header; a token in the query is no token."""
    good = await key()
    async with served() as http:
        assert (await http.get("/jobs/x", headers=[("authorization", good)])).status_code == 404
        assert (await http.get("/jobs/x", headers=[("authorization", good)] * 2)).status_code == 401
        assert (await http.get(f"/jobs/x?access_token={good[7:]}")).status_code == 401


async def test_a_revoked_key_ends_with_the_next_request(served: Any, key: Any, store: Any) -> None:
    """SPEC A1: keys are stored as digests, and die at once."""
    good = await key()
    async with served() as http:
        assert (await http.get("/jobs/x", headers={"authorization": good})).status_code == 404
        kept = await store.redis.hgetall("{p0}:keys")
        assert good[7:] not in json.dumps(kept)
        await store.redis.hdel("{p0}:keys", *kept)
        assert (await http.get("/jobs/x", headers={"authorization": good})).status_code == 401


async def test_both_eras_list_what_the_token_may_call_and_refuse_the_rest(served: Any, key: Any) -> None:
    """SPEC A1, A3: tools/list by scope; another tool is 403 insufficient_scope, naming all scopes at once."""
    reader = await key("eve", READ)
    async with served() as http:
        old = Caller(http, reader)
        await old.initialize()
        for caller in (old, Caller(http, reader)):
            listed = await caller.request("tools/list")
            names = {tool["name"] for tool in listed.json()["result"]["tools"]}
            assert "read_plan" in names
            assert "solve_vrp" not in names
            refused = await caller.call("solve_vrp")
            assert refused.status_code == 403
            assert refused.json()["type"] == "InsufficientScope"
            error_body = refused.headers["www-authenticate"]
            assert 'error="insufficient_scope"' in error_body
            assert f'scope="{READ} {WRITE}"' in error_body


async def test_a_refused_batch_names_all_scopes_it_needs(served: Any, key: Any) -> None:
    """SPEC A1: of all its messages together."""
    nothing = await key("eve", SENSITIVE)
    batch = [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read_plan"}},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "solve_vrp"}},
        {"jsonrpc": "2.0", "id": 3, "method": "resources/read", "params": {"uri": "logs://vrp/2026-01-01"}},
    ]
    async with served() as http:
        answer = await http.post("/mcp", json=batch, headers=Caller(http, nothing).headers)
    assert answer.status_code == 403
    assert f'scope="{ADMIN} {READ} {SENSITIVE} {WRITE}"' in answer.headers["www-authenticate"]


async def test_a_refused_scraper_learns_which_scope_its_key_lacks(served: Any, key: Any) -> None:
    """SPEC A1: `/metrics` too names the scope it needs in the challenge."""
    reader = await key("eve", READ)
    async with served() as http:
        refused = await http.get("/metrics", headers={"authorization": reader})
    assert refused.status_code == 403
    assert f'scope="{ADMIN} {READ}"' in refused.headers["www-authenticate"]


async def test_each_endpoint_asks_for_its_scope_itself(served: Any, key: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC A1, A3: 4012 and the scope it needs, in the same words, though nobody judged the request before it came."""
    monkeypatch.setattr(AuthorizationMiddleware, "__call__", lambda middleware, *request: middleware._app(*request))
    async with served() as http:
        nobody, reader = Caller(http, await key("eve", SENSITIVE)), Caller(http, await key("bob", READ))
        matrix, logs = f"/matrices/mat-0-{26 * 'a'}", "logs://vrp/2026-01-01"
        asked = [
            (READ, await nobody.call("read_plan")),
            (READ, await nobody.request("resources/read", uri="limits://vrp")),
            (READ, await nobody.get("/jobs/x")),
            (READ, await nobody.get("/jobs/x/events")),
            (READ, await nobody.get(matrix)),
            (WRITE, await reader.call("solve_vrp")),
            (WRITE, await http.put("/matrices", json={}, headers=reader.headers)),
            (WRITE, await http.delete(matrix, headers=reader.headers)),
            (ADMIN, await reader.request("resources/read", uri=logs)),
            (ADMIN, await reader.get("/metrics")),
        ]
    for scope, answer in asked:
        error_body = answer.text
        assert "4012" in error_body and f" needs the scope {scope}." in error_body, (answer.request.url, error_body)
        assert answer.request.url.path == "/mcp" or answer.status_code == 403


async def test_a_principal_that_calls_too_often_learns_when_to_retry(served: Any, key: Any) -> None:
    """SPEC A3, J8: 429 with Retry-After and the limit; others are not slowed, and the tokens come back."""
    ann, ben = await key("ann"), await key("ben")
    async with served(rate_per_s=0.5, rate_burst=3) as http:
        statuses = [(await http.get("/jobs/x", headers={"authorization": ann})).status_code for _ in range(5)]
        refused = await http.get("/jobs/x", headers={"authorization": ann})
        other = await http.get("/jobs/x", headers={"authorization": ben})
    assert statuses == [404, 404, 404, 429, 429]
    assert refused.json()["type"] == "RateLimited" and 1 <= int(refused.headers["retry-after"]) <= 2
    assert [fault["accepted"] for fault in refused.json()["errors"]] == ["rate_per_s is 0.5, rate_burst is 3"]
    assert other.status_code == 404


async def test_open_requests_of_a_principal_are_capped(served: Any, key: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC A3, J8: streams of every kind count, since each is a request that stays open; the limit is told."""
    ann, ben = await key("ann"), await key("ben")
    entered, leave = anyio.Event(), anyio.Event()

    async def wait(_request: Request) -> Response:
        entered.set()
        await leave.wait()
        return Response()

    monkeypatch.setattr(http_app, "health_routes", lambda: [Route("/slow", wait)])
    async with served(max_open_requests=1) as http, anyio.create_task_group() as tasks:

        async def hold() -> None:
            await http.get("/slow", headers={"authorization": ann})

        tasks.start_soon(hold)
        await entered.wait()
        refused = await http.get("/jobs/x", headers={"authorization": ann})
        assert (refused.status_code, refused.json()["type"]) == (429, "QuotaExceeded")
        assert "retry-after" in refused.headers
        assert [fault["accepted"] for fault in refused.json()["errors"]] == ["max_open_requests is 1"]
        assert (await http.get("/jobs/x", headers={"authorization": ben})).status_code == 404
        leave.set()
        while (await http.get("/jobs/x", headers={"authorization": ann})).status_code == 429:
            pass


async def test_a_request_counts_until_its_work_ends_though_its_client_left(
    served: Any, key: Any, apps_services: list[AppServices], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC A3: else whoever drops each connection could have any number of calls worked on."""
    async with served(max_open_requests=2) as http:
        caller = Caller(http, await key("ann"))
        await caller.initialize()
        job, owner = await _job(caller, apps_services[0])
        monkeypatch.setattr(post_exchange, "STREAM_AFTER_S", 0.02)
        waiting = _call(2, "query_vrp_status", job_id=job, wait_s=45)
        await _left(http, "POST", "/mcp", caller.headers, waiting)
        assert (await caller.get("/jobs/x")).status_code == 404
        await _left(http, "POST", "/mcp", caller.headers, waiting | {"id": 3})
        refused = await caller.get("/jobs/x")
        assert (refused.status_code, refused.json()["type"]) == (429, "QuotaExceeded")
        await apps_services[0].job_service.cancel(owner, job)
        while (await caller.get("/jobs/x")).status_code == 429:
            pass


async def test_a_message_counts_until_it_is_answered_on_its_stream(
    served: Any, key: Any, apps_services: list[AppServices]
) -> None:
    """SPEC A3: HTTP+SSE says 202 at once and goes on working."""
    async with served(max_open_requests=3) as http, anyio.create_task_group() as tasks:
        caller = Caller(http, await key("ann"))
        job, owner = await _job(caller, apps_services[0])
        begun: list[bytes] = []
        end = anyio.Event()
        tasks.start_soon(_left, http, "GET", "/sse", caller.headers, None, begun, end)
        while not begun:  # noqa: ASYNC110 the stream is read by nobody else
            await anyio.sleep(0.005)
        path = re.search(rb"data: (\S+)", begun[0])[1].decode()
        params = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        assert (await http.post(path, json=hello, headers=caller.headers)).status_code == 202
        while not any(b"serverInfo" in data for data in begun):  # noqa: ASYNC110
            await anyio.sleep(0.005)
        statuses = []
        for number in range(1, 4):
            waiting = _call(number, "query_vrp_status", job_id=job, wait_s=45)
            statuses.append((await http.post(path, json=waiting, headers=caller.headers)).status_code)
        assert statuses == [202, 202, 429]
        await apps_services[0].job_service.cancel(owner, job)
        end.set()


async def _job(caller: Caller, services: AppServices) -> tuple[str, Principal]:
    """Return a job that nobody works on, and whose it is."""
    scenario = (await caller.call("create_scenario", **SMALLEST)).json()["result"]["structuredContent"]["scenario_id"]
    job = (await caller.call("solve_vrp", scenario_id=scenario)).json()["result"]["structuredContent"]["job_id"]
    owner = await services.store.redis.hget(f"{{p0}}:job:{job}", "principal")
    return job, Principal(owner)


def _call(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


async def _left(
    http: Any,
    method: str,
    path: str,
    headers: dict[str, str],
    body: Any = None,
    error_body: list[bytes] | None = None,
    end: anyio.Event | None = None,
) -> None:
    """Serve a request whose client leaves when its answer begins, or when `end` is set; ends with the request."""
    begun, pending = anyio.Event(), [b"" if body is None else json.dumps(body).encode()]

    async def receive() -> Any:
        if pending:
            return {"type": "http.request", "body": pending.pop(), "more_body": False}
        await (end or begun).wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if error_body is not None and message.get("body", b"").startswith(b"event"):
            error_body.append(message["body"])
        begun.set()

    raw = [(name.encode(), value.encode()) for name, value in {"host": "localhost:8080", **headers}.items()]
    scope = {"type": "http", "http_version": "1.1", "method": method, "path": path, "raw_path": path.encode()}
    scope |= {"query_string": b"", "headers": raw, "client": ("127.0.0.1", 1), "server": ("localhost", 8080)}
    await http._transport.app(scope | {"scheme": "http", "root_path": ""}, receive, send)


class Expiring:
    """Names everybody ann, by a credential that has just expired."""

    def needs_lookup(self, _headers: Any) -> bool:
        return False

    async def principal(self, _headers: Any) -> Principal:
        return Principal("ann", SCOPES, expires_at=time.time())


@pytest.fixture
async def expiring(
    served: Any, apps_services: list[AppServices], monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Caller, str]]:
    """A caller whose credential has just expired, and a job of hers."""
    monkeypatch.setattr(http_app, "open_authenticator", lambda *_parts: Expiring())
    async with served() as http:
        caller = Caller(http)
        job, _owner = await _job(caller, apps_services[0])
        yield caller, job


STREAMS = ["the job's channel", "a session's stream", "HTTP+SSE", "listen"]


async def _ended_stream(caller: Caller, job: str, endpoint: str) -> None:
    """Open a stream; return when it has ended."""
    if endpoint == "listen":
        answer = await caller.request("subscriptions/listen", notifications={"toolsListChanged": True})
    elif endpoint == "a session's stream":
        await caller.initialize()
        answer = await caller.get("/mcp")
    else:
        answer = await caller.get("/sse" if endpoint == "HTTP+SSE" else f"/jobs/{job}/events")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")


@pytest.mark.parametrize("endpoint", STREAMS)
async def test_a_stream_ends_with_the_credential_it_was_opened_with(
    expiring: tuple[Caller, str], endpoint: str
) -> None:
    """SPEC A1: a stream is one request, judged when it comes; whoever may still read comes back with a new token."""
    caller, job = expiring
    with anyio.fail_after(30):
        await _ended_stream(caller, job, endpoint)


@pytest.mark.parametrize("endpoint", STREAMS)
async def test_a_stream_ends_when_its_api_key_is_revoked(
    served: Any,
    key: Any,
    store: Any,
    apps_services: list[AppServices],
    monkeypatch: pytest.MonkeyPatch,
    endpoint: str,
) -> None:
    """SPEC A1: within 5 s; the streams of other keys of the same principal go on."""
    is_open = anyio.Event()

    class Watch(RevocationWatch):
        async def until_revoked(self, key_id: str) -> None:
            if key_id == revoked.split("_")[1]:
                is_open.set()
            await super().until_revoked(key_id)

    monkeypatch.setattr(http_app, "RevocationWatch", Watch)
    monkeypatch.setattr(revocation_watch, "CHECK_S", 0.02)
    revoked, kept = await key("ann"), await key("ann")
    async with served() as http:
        job, _owner = await _job(Caller(http, kept), apps_services[0])
        async with anyio.create_task_group() as others:
            others.start_soon(_ended_stream, Caller(http, kept), job, STREAMS[0])
            with anyio.fail_after(30):
                async with anyio.create_task_group() as streams:
                    streams.start_soon(_ended_stream, Caller(http, revoked), job, endpoint)
                    await is_open.wait()
                    assert await ApiKeyStore(store.script_client).revoke(revoked.split("_")[1])
            others.cancel_scope.cancel()


async def test_a_batch_takes_a_token_for_each_of_its_calls(served: Any, key: Any) -> None:
    """SPEC J8: 32 calls in one request are 32 calls."""
    async with served(rate_per_s=0.001, rate_burst=6) as http:
        caller = Caller(http, await key())
        params = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        first = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        caller.session = (await http.post("/mcp", json=first, headers=caller.headers)).headers["mcp-session-id"]
        batch = [{"jsonrpc": "2.0", "id": number, "method": "ping"} for number in range(3)]
        headers = caller.headers | {"mcp-protocol-version": "2025-03-26"}
        answers = [await http.post("/mcp", json=batch, headers=headers) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 429]
    assert answers[1].json()["error"]["data"]["type"] == "RateLimited"
    assert int(answers[1].headers["retry-after"]) > 0


@pytest.mark.slow
async def test_a_call_that_waits_is_answered_though_its_credential_ends_meanwhile(
    expiring: tuple[Caller, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC A1, J4: its stream ends with the answer, and older clients could not ask for it again."""
    caller, job = expiring
    monkeypatch.setattr(post_exchange, "STREAM_AFTER_S", 0.02)
    with anyio.fail_after(30):
        await caller.initialize()
        answer = await caller.call("query_vrp_status", job_id=job, wait_s=2)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert '"structuredContent"' in answer.text


async def test_sessions_of_a_principal_are_capped(served: Any, key: Any) -> None:
    """SPEC A3, J8: the refusal tells the limit, and ending one makes room."""
    ann, ben = await key("ann"), await key("ben")
    async with served(max_sessions=2) as http:
        callers = [Caller(http, ann) for _ in range(3)]
        opened = [await caller.initialize() for caller in callers]
        assert [answer.status_code for answer in opened] == [200, 200, 429]
        assert "retry-after" in opened[2].headers
        error_body = opened[2].json()["error"]["data"]["errors"]
        assert [fault["accepted"] for fault in error_body] == ["max_sessions is 2"]
        assert (await Caller(http, ben).initialize()).status_code == 200
        assert (await http.delete("/mcp", headers=callers[0].headers)).status_code == 204
        assert (await Caller(http, ann).initialize()).status_code == 200


async def test_a_session_of_another_is_as_unknown_as_none(served: Any, key: Any) -> None:
    """SPEC A2, X3: a session id authenticates nobody, at any method of HTTP."""
    ann, ben = await key("ann"), await key("ben")
    async with served() as http:
        owner = Caller(http, ann)
        await owner.initialize()
        answers = []
        for session in (owner.session, "A" * 32):
            thief = Caller(http, ben, session)
            said = [await thief.request("tools/list"), await thief.get("/mcp")]
            said.append(await http.delete("/mcp", headers=thief.headers))
            answers.append([(each.status_code, without_trace(each)) for each in said])
        assert answers[0] == answers[1]
        assert [status for status, _body in answers[0]] == [404, 404, 404]
        assert (await owner.request("tools/list")).status_code == 200


async def test_no_endpoint_sees_the_credential(served: Any, key: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC A1: tokens are never passed on: what is behind the authentication does not have them."""
    good, seen = await key(), {}

    async def show(request: Request) -> Response:
        seen.update(dict(request.headers), who=request.state.principal.id)
        return JSONResponse({})

    monkeypatch.setattr(http_app, "health_routes", lambda: [Route("/show", show), Route("/.well-known/show", show)])
    async with served() as http:
        await http.get("/show", headers={"authorization": good})
        assert "authorization" not in seen and seen["who"].startswith("u-")
        await http.get("/.well-known/show", headers={"authorization": good})
        assert "authorization" not in seen and seen["who"] == NOBODY.id


@pytest.mark.parametrize("is_old", [True, False])
async def test_bodies_are_limited_in_both_eras_and_read_only_for_friends(served: Any, key: Any, is_old: bool) -> None:
    """SPEC X3: size, nesting and encoding; a stranger's body is not read."""
    async with served(max_body_bytes=4096, max_nesting=8) as http:
        friend = Caller(http, await key())
        if is_old:
            await friend.initialize()
        stranger = replace(friend, authorization=None)
        version = {} if is_old else {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list"}
        for status, body in {413: b"x" * 5000, 400: b'{"a":' * 20 + b"1" + b"}" * 20}.items():
            assert (await http.post("/mcp", content=body, headers=friend.headers | version)).status_code == status
            assert (await http.post("/mcp", content=body, headers=stranger.headers | version)).status_code == 401
        zipped = friend.headers | version | {"content-encoding": "gzip"}
        assert (await http.post("/mcp", content=b"x", headers=zipped)).status_code == 415


def test_public_paths_are_few() -> None:
    """SPEC A1: everything else needs a credential, a path that is added tomorrow too."""
    assert not any(
        is_public(path) for path in ("/mcp", "/jobs/x", "/ui/call", "/ui/read", "/manifest/x", "/healthz/", "/metrics")
    )


def without_trace(answer: httpx.Response) -> str:
    """Return a body without its trace id."""
    return re.sub(r'"traceId":\s*"[0-9a-f]{32}"', "", answer.text)
