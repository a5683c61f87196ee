"""What the edge lets through, asked without a socket."""

import json
from contextlib import ExitStack, suppress
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Message

from planner_mcp.server.http.bodies.body_pacing import PARTS_PER_S, paced_parts
from planner_mcp.server.http.middleware.request_validation import UNREAD, http_middleware
from planner_mcp.server.http.responses.http_responses import HANDLERS
from planner_mcp.settings import Settings

pytestmark = pytest.mark.anyio
Answer = tuple[int, dict[str, str], Any]


async def _echo(request: Request) -> JSONResponse:
    body = b"" if request.query_params.get("unread") else await request.body()
    if request.query_params.get("bug"):
        raise RuntimeError("the secret is hunter2")
    return JSONResponse({"bytes": len(body)})


def app(**settings: Any) -> Starlette:
    """Return an app behind the edge that says how many bytes came."""
    paths = ("/mcp", "/manifest", "/healthz")
    routes = [Route(path, _echo, methods=["GET", "POST", "DELETE"]) for path in paths]
    layers = http_middleware(Settings(**settings))
    return Starlette(routes=routes, middleware=layers, exception_handlers=HANDLERS)


def _scope(path: str, method: str) -> dict[str, Any]:
    return {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "server": ("127.0.0.1", 8080),
    }


async def ask(
    app: Starlette,
    *,
    method: str = "POST",
    path: str = "/mcp",
    headers: list[tuple[str, str]] | None = None,
    host: str | None = "127.0.0.1:8080",
    chunks: list[bytes] | None = None,
    query: bytes = b"",
) -> Answer:
    """Send one request; return status, headers and JSON body."""
    raw = ([("host", host)] if host is not None else []) + (headers or [])
    scope = _scope(path, method) | {
        "query_string": query,
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in raw],
    }
    pending = list(chunks or [b""])
    sent: list[Message] = []

    async def receive() -> Message:
        if not pending:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": pending.pop(0), "more_body": bool(pending)}

    async def send(message: Message) -> None:
        sent.append(message)

    with suppress(RuntimeError):  # Starlette answers, then hands a bug on to the server's log
        await app(scope, receive, send)
    start, body = sent[0], b"".join(message.get("body", b"") for message in sent[1:])
    answered = {name.decode(): value.decode() for name, value in start["headers"]}
    return start["status"], answered, json.loads(body) if body.startswith(b"{") else body


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost:8080", "LocalHost:8080", "[::1]:8080"])
async def test_loopback_names_are_known(host: str) -> None:
    """SPEC X3: with the port the request came in by."""
    assert (await ask(app(), host=host))[0] == 200


@pytest.mark.parametrize(
    "host", [None, "", "evil.example", "evil.example:8080", "localhost", "localhost:81", "127.0.0.1.evil.example:8080"]
)
async def test_other_hosts_are_misdirected(host: str | None) -> None:
    """SPEC X3: DNS rebinding; the whole error."""
    status, _, body = await ask(app(), host=host)
    assert status == 421
    assert len(body.pop("traceId")) == 32
    assert body == {
        "code": 4019,
        "type": "WrongHost",
        "message": "This server does not answer under this Host; the operator can add it to PLANNER_ALLOWED_HOSTS.",
        "errors": [],
        "retryable": False,
    }


async def test_two_hosts_are_one_too_many() -> None:
    """SPEC X3: what one proxy reads and another not."""
    assert (await ask(app(), headers=[("host", "localhost:8080")]))[0] == 421


async def test_configured_hosts_and_the_public_url_are_known() -> None:
    """SPEC X3: PLANNER_ALLOWED_HOSTS exact, PLANNER_PUBLIC_URL by its host."""
    known = app(allowed_hosts=["plan.internal:9000"], public_url="https://plan.example.com/x")
    for host, status in {"plan.internal:9000": 200, "plan.example.com": 200, "plan.internal": 421}.items():
        assert (await ask(known, host=host))[0] == status


async def test_probes_come_by_any_address() -> None:
    """SPEC O3: a platform probes by an address of its own."""
    assert (await ask(app(), method="GET", path="/healthz", host="10.1.2.3:8080"))[0] == 200


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:8080", 200),
        ("https://ui.example.com", 200),
        ("https://evil.example", 403),
        ("null", 403),
        ("", 403),
        ("http://localhost:3000", 403),
        ("https://localhost:8080", 403),
        ("ftp://localhost:8080", 403),
        ("https://plan.example.com", 200),
        ("http://plan.example.com", 403),
        ("https://ui.example.com.evil.example", 403),
    ],
)
async def test_origins_are_exact(origin: str, status: int) -> None:
    """SPEC X3: own pages, allowed pages, and no others; an origin has a scheme (RFC 6454)."""
    allowed = app(allowed_origins=["https://ui.example.com"], public_url="https://plan.example.com:443/x")
    answered = await ask(allowed, headers=[("origin", origin)])
    assert answered[0] == status
    if status == 403:
        assert answered[2]["type"] == "ForbiddenOrigin"


async def test_allowed_origins_may_read_the_answer() -> None:
    """SPEC X3: CORS for browsers, pre-flight included."""
    allowed = app(allowed_origins=["https://ui.example.com"])
    origin = ("origin", "https://ui.example.com")
    _, headers, _ = await ask(allowed, headers=[origin])
    assert headers["access-control-allow-origin"] == "https://ui.example.com"
    readable = headers["access-control-expose-headers"].split(", ")
    assert {"etag", "idempotency-replayed", "location", "preference-applied", "retry-after"} <= {*readable}
    assert "content-disposition" in readable  # the name of an exported file
    asked = [("access-control-request-method", "POST"), ("access-control-request-headers", "mcp-session-id")]
    status, headers, _ = await ask(allowed, method="OPTIONS", headers=[origin, *asked])
    assert (status, headers["access-control-allow-origin"]) == (200, "https://ui.example.com")


async def test_anybody_may_read_the_manifest() -> None:
    """SPEC M1: it is public."""
    assert (await ask(app(), method="GET", path="/manifest", headers=[("origin", "https://evil.example")]))[0] == 200


@pytest.mark.parametrize("encoding", ["gzip", "br", "identity, gzip", "x"])
async def test_compressed_bodies_are_refused(encoding: str) -> None:
    """SPEC X3: no decompression bomb."""
    status, _, body = await ask(app(), headers=[("content-encoding", encoding)], chunks=[b"x"])
    assert (status, body["type"]) == (415, "UnsupportedEncoding")


@pytest.mark.parametrize("length", ["2000", "99999999999999999999", "-1", "1e3", "²"])
async def test_a_length_beyond_the_limit_is_refused_unread(length: str) -> None:
    """SPEC X3: 413 before a byte is read, whatever stands there."""
    status, headers, body = await ask(app(max_body_bytes=1024), headers=[("content-length", length)])
    assert (status, body["type"], headers["connection"]) == (413, "TooLarge", "close")


async def test_a_body_that_grows_beyond_the_limit_is_refused() -> None:
    """SPEC X3: chunked bodies tell no length."""
    small = app(max_body_bytes=1024)
    assert (await ask(small, chunks=[b"x" * 512] * 2))[2] == {"bytes": 1024}
    assert (await ask(small, chunks=[b"x" * 512] * 3))[0] == 413


async def test_nesting_is_limited() -> None:
    """SPEC X3: brackets inside text do not count."""
    limited = app(max_nesting=4)
    assert (await ask(limited, chunks=[b'{"a":[[{"b":"[[[[[[\\"[["}]]}']))[0] == 200
    status, _, body = await ask(limited, chunks=[b"[[[[[1]]]]]"])
    assert (status, body["type"]) == (400, "InvalidMessage")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
async def test_json_is_utf_8(encoding: str) -> None:
    """SPEC X3: in another encoding limits would be looked for in vain; a character here looks like a quote."""
    body = '{"id":"\\ud800","a":"\u2201","b":[[[[[[[[1]]]]]]]]}'.encode(encoding)
    status, _, answer = await ask(app(max_nesting=4), chunks=[body])
    assert (status, answer["message"]) == (400, "The body is not in UTF-8.")


async def test_every_answer_is_hardened() -> None:
    """SPEC X3: refusals too."""
    for host in ("localhost:8080", "evil.example"):
        _, headers, _ = await ask(app(), host=host)
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["cache-control"] == "no-store"


async def test_unknown_paths_and_methods_get_the_one_error_form() -> None:
    """SPEC T7: the same body at every entry point."""
    status, _, body = await ask(app(), method="GET", path="/nowhere")
    assert (status, body["code"]) == (404, 4004)
    status, headers, body = await ask(app(), method="PUT")
    assert (status, body["code"]) == (405, 4022)
    assert "POST" in headers["allow"]


async def test_a_bug_stays_inside() -> None:
    """SPEC T8: a code and a trace id."""
    status, _, body = await ask(app(), query=b"bug=1")
    assert (status, body["code"], body["errors"]) == (500, 5000, [])
    assert "hunter2" not in str(body)


async def test_a_body_that_two_readers_could_end_at_two_places_is_refused() -> None:
    """SPEC X3: no request hides in another (RFC 9112 §11.2)."""
    both = [("content-length", "2"), ("transfer-encoding", "chunked")]
    assert (await ask(app(), headers=both, chunks=[b"{}"]))[0] == 400


async def test_client_that_leaves_in_mid_body_is_one_quiet_line(caplog: pytest.LogCaptureFixture) -> None:
    """SPEC T8: whatever the path; no handler sees the request, and no stack trace is logged."""

    async def receive() -> Message:
        return pending.pop(0)

    async def send(message: Message) -> None:
        raise AssertionError(message)

    for path, method in (("/mcp", "POST"), ("/matrices", "PUT")):
        pending: list[Message] = [
            {"type": "http.request", "body": b'{"jsonrpc"', "more_body": True},
            {"type": "http.disconnect"},
        ]
        caplog.clear()
        with caplog.at_level("INFO"):
            await app()({**_scope(path, method), "headers": [(b"host", b"127.0.0.1:8080")]}, receive, send)
        assert [(record.levelname, record.message, record.exc_info) for record in caplog.records] == [
            ("INFO", "client left in mid-request", None)
        ]


async def test_bodies_that_are_thrown_away_hold_up_no_answer() -> None:
    """SPEC X3: a request without a body waited a third of a second beside two hundred whose bodies were refused."""
    with ExitStack() as refused, anyio.fail_after(5):
        for _ in range(10 * PARTS_PER_S):  # one part more of such a body would wait ten seconds
            refused.enter_context(paced_parts(UNREAD))
        assert (await ask(app(), method="GET", path="/healthz", query=b"unread=1"))[0] == 200
