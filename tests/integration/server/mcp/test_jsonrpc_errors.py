"""What is no MCP is told so, in one shape, and nothing internal leaks."""

from typing import Any

import httpx2 as httpx
import pytest

from planner_mcp.text import LONG_NUMBER
from tests.integration.server.mcp import app_replicas as whole
from tests.integration.server.mcp.raw_client import MODERN_META, Client
from tests.integration.server.mcp.slow_tool_replica import Two
from tests.shared.http.mcp_caller import HEADERS

pytestmark = pytest.mark.anyio
DATA = {"code", "type", "message", "traceId", "errors", "retryable"}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"", -32700),
        (b"\xff\xfe", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}', -32700),
        (b"[" * 100_000, -32700),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}', -32700),
        (b"[]", -32600),
        (b"null", -32600),
        (b'"ping"', -32600),
        (b"{}", -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"result":{},"error":{}}', -32600),
    ],
)
async def test_body_that_is_no_message_is_refused(replicas: Two, client: Client, body: bytes, code: int) -> None:
    """SPEC T7: standard codes and one shape of data."""
    await client.initialize(replicas[0])
    answer = await client.http.post(replicas[0].url, content=body, headers=HEADERS | client.session)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["code"] == code
    assert set(error["data"]) == DATA


@pytest.mark.parametrize(
    ("method", "params", "code", "kind"),
    [
        ("tools/call", {}, -32602, "MissingParameter"),
        ("tools/call", {"name": 5}, -32602, "InvalidParameter"),
        ("tools/call", {"name": "count", "arguments": "text"}, -32602, "InvalidParameter"),
        ("nothing/here", {}, -32601, "UnknownMethod"),
        ("server/discover", {}, -32601, "UnknownMethod"),
        ("tools/call", {"name": "broken"}, -32603, "InternalError"),
    ],
)
async def test_request_that_cannot_be_served_says_why(
    replicas: Two, client: Client, method: str, params: dict[str, Any], code: int, kind: str
) -> None:
    """SPEC T7, T8: the same data under every code; a bug shows as a code and a trace id."""
    await client.initialize(replicas[0])
    answer = await client.post(replicas[0], {"jsonrpc": "2.0", "id": 5, "method": method, "params": params})
    assert answer.status_code == 200
    assert answer.json()["id"] == 5
    error = answer.json()["error"]
    assert (error["code"], error["data"]["type"], set(error["data"])) == (code, kind, DATA)
    assert "secret" not in answer.text


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("PUT", {}, 405),
        ("PATCH", {}, 405),
        ("POST", {"accept": "application/json"}, 406),
        ("POST", {"accept": "text/event-stream"}, 406),
        ("GET", {"accept": "application/json"}, 406),
        ("POST", {"content-type": "text/plain"}, 415),
        ("POST", {"mcp-session-id": "unknown"}, 404),
        ("GET", {"mcp-session-id": "mcp:*"}, 404),
        ("POST", {"mcp-protocol-version": "1999-01-01"}, 400),
    ],
)
async def test_http_faults_have_their_status(
    replicas: Two, client: Client, method: str, headers: dict[str, str], status: int
) -> None:
    """Spec 2025-11-25, transports."""
    await client.initialize(replicas[0])
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    answer = await client.http.request(method, replicas[0].url, json=body, headers=HEADERS | client.session | headers)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert error["message"]
    assert set(error["data"]) == DATA


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_the_stateless_era_has_one_method(replicas: Two, client: Client, method: str) -> None:
    """Spec 2026-07-28, transports: 405 with what is allowed, and the reason as everywhere."""
    headers = HEADERS | {"mcp-protocol-version": "2026-07-28"}
    answer = await client.http.request(method, replicas[0].url, headers=headers)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert set(answer.json()["error"]["data"]) == DATA


@pytest.mark.parametrize("method", ["GET", "DELETE", "POST"])
@pytest.mark.parametrize("version", ["bogus", "2025-06-19", ""])
async def test_a_revision_that_is_none_is_named(replicas: Two, client: Client, method: str, version: str) -> None:
    """SPEC T7; spec 2025-06-18, transports: 400 for an invalid or unsupported version, with those that are served."""
    await client.initialize(replicas[0])
    headers = HEADERS | client.session | {"mcp-protocol-version": version}
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    answer = await client.http.request(method, replicas[0].url, json=body, headers=headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["data"]["type"]) == (400, -32600, "InvalidMessage")
    assert answer.json()["id"] == (1 if method == "POST" else None)
    assert "MCP-Protocol-Version" in error["message"]
    assert "2025-11-25" in error["message"]


async def test_a_revision_to_come_is_answered_by_those_served(replicas: Two, client: Client) -> None:
    """Spec 2026-07-28, versioning: a request that names its revision itself hears which it can have; -32022."""
    meta = {**MODERN_META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
    answer = await client.post(replicas[0], body, **{"mcp-protocol-version": "2099-01-01", "mcp-method": "tools/list"})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["data"]["supported"]) == (400, -32022, ["2026-07-28"])


async def test_a_slash_at_the_end_leads_to_the_same_endpoint(app_replicas: whole.Two, web: httpx.AsyncClient) -> None:
    """SPEC X1, A1: not to another address, which would be one in clear text behind a proxy that ends TLS."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    opened = await web.post(f"{app_replicas[0].mcp}/", json=body, headers=HEADERS)
    assert (opened.status_code, opened.json()["result"]["protocolVersion"]) == (200, "2025-11-25")
    assert (await web.get(f"{app_replicas[0].url}/manifest/")).status_code == 200
    assert (await web.post(f"{app_replicas[0].mcp}//", json=body, headers=HEADERS)).status_code == 404


@pytest.mark.parametrize("path", ["/mcp", "/messages"])
@pytest.mark.parametrize(
    ("content", "headers", "status", "code"),
    [
        (b"[" * 1000, {}, 400, -32700),
        (b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', {}, 400, -32700),
        (b"{\0}\0", {}, 400, -32700),
        (b"{}", {"content-encoding": "gzip"}, 415, -32600),
        (b"{}", {"host": "evil.example"}, 421, -32600),
        (b"{}", {"origin": "https://evil.example"}, 403, -32600),
        (b"x" * 5_000_000, {}, 413, -32600),
    ],
)
async def test_what_the_edge_refuses_is_answered_in_the_form_of_its_endpoint(
    app_replicas: whole.Two,
    web: httpx.AsyncClient,
    path: str,
    content: bytes,
    headers: dict[str, str],
    status: int,
    code: int,
) -> None:
    """SPEC T7, X3: before a body is parsed too, a client of MCP is answered in JSON-RPC."""
    answer = await web.post(app_replicas[0].url + path, content=content, headers=HEADERS | headers)
    error = answer.json()["error"]
    assert (answer.status_code, answer.json()["id"], error["code"]) == (status, None, code)
    assert set(error["data"]) == DATA


@pytest.mark.parametrize("token", [{}, True, 1.5])
async def test_progress_token_of_another_type_is_one_fault_at_its_place(
    replicas: Two, client: Client, token: Any
) -> None:
    """SPEC T7: the path is a place in the message, not in our types; `true` is no number."""
    await client.initialize(replicas[0])
    params = {"name": "echo", "arguments": {}, "_meta": {"progressToken": token}}
    answer = await client.post(replicas[0], {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    faults = answer.json()["error"]["data"]["errors"]
    assert [fault["path"] for fault in faults] == ["/params/_meta/progressToken"]


@pytest.mark.parametrize("further", [{}, {"MCP-Protocol-Version": "2026-07-28"}])
async def test_number_of_5000_digits_is_refused_by_name(replicas: Two, client: Client, further: dict[str, str]) -> None:
    """SPEC T7: in every revision; no JSON of 5,000 digits is "not JSON"."""
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":' + b"9" * 5000 + b"}}"
    answer = await client.http.post(replicas[0].url, content=body, headers=HEADERS | further)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32700)
    assert answer.json()["error"]["message"] == LONG_NUMBER


@pytest.mark.parametrize("further", [{}, {"MCP-Protocol-Version": "2026-07-28"}])
@pytest.mark.parametrize("kind", ["application/json-patch+json", "application/jsonl", "text/plain", ""])
async def test_content_type_is_compared_whole_in_every_revision(
    replicas: Two, client: Client, further: dict[str, str], kind: str
) -> None:
    """SPEC X1, X3: only application/json, with parameters or without, is read."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": MODERN_META}}
    answer = await client.http.post(replicas[0].url, json=body, headers=HEADERS | further | {"content-type": kind})
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, -32600)


async def test_initialize_in_a_batch_is_refused(replicas: Two, client: Client) -> None:
    """SPEC X1: spec 2025-03-26, lifecycle: "MUST NOT be part of a JSON-RPC batch"."""
    await client.initialize(replicas[0], "2025-03-26")
    first = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    for batch in ([first], [{"jsonrpc": "2.0", "id": 2, "method": "ping"}, first]):
        answer = await client.http.post(replicas[0].url, json=batch, headers=HEADERS | client.session)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32600)
        assert "initialize" in answer.json()["error"]["message"]
