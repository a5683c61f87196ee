"""Malformed requests without end, each made from its number alone.

Owns the seeds (requests that are right) and what can go wrong with them: bytes, JSON types, ids, cursors, headers,
event ids, nesting, sizes, paths and methods. `mutant(seed, number)` always gives the same request, so a failure is
repeated by its number.
"""

import base64
import json
import random
import string
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

MODERN = "2026-07-28"
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
}
JOB = "job-0-" + "a" * 26
SCENARIO = "scn-0-" + "a" * 26
DAY = {
    "name": "fuzz",
    "planning_date": "2025-07-15",
    "agents": [{"id": "veh-1", "capacity": 100}],
    "tickets": [{"id": "t-1", "location": "LOC_A", "demand": 20}],
}
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("tools/list", {}),
    ("tools/list", {"cursor": "bm9uZQ"}),
    ("tools/call", {"name": "create_scenario", "arguments": DAY}),
    ("tools/call", {"name": "solve_vrp", "arguments": {"scenario_id": SCENARIO, "solve_time": "PT1S"}}),
    ("tools/call", {"name": "query_vrp_status", "arguments": {"job_id": JOB, "wait_s": 0}}),
    ("tools/call", {"name": "cancel_vrp_job", "arguments": {"job_id": JOB}, "_meta": {"progressToken": 7}}),
    ("tools/call", {"name": "read_plan", "arguments": {"job_id": JOB}, "task": {"ttl": 1000}}),
    ("resources/list", {"cursor": "AAAA"}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": f"job://{JOB}"}),
    ("resources/read", {"uri": "jobs://vrp/status/QUEUED?page=1&size=20"}),
    ("resources/subscribe", {"uri": f"job://{JOB}"}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "plan_a_day", "arguments": {}}),
    (
        "completion/complete",
        {"ref": {"type": "ref/resource", "uri": "job://{job_id}"}, "argument": {"name": "job_id", "value": "j"}},
    ),
    ("tasks/get", {"taskId": JOB}),
    ("tasks/list", {"cursor": "dGFza3M6MA"}),
    ("tasks/cancel", {"taskId": JOB}),
    ("logging/setLevel", {"level": "info"}),
    ("subscriptions/listen", {"notifications": {"toolsListChanged": True, "resourceSubscriptions": [f"job://{JOB}"]}}),
    ("ping", {}),
    ("server/discover", {}),
    ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "f", "version": "1"}}),
    ("notifications/cancelled", {"requestId": 1}),
    ("notifications/initialized", {}),
)
PATHS = (
    "/sse",
    "/messages",
    "/manifest",
    "/healthz",
    "/readyz",
    "/jobs",
    f"/jobs/{JOB}",
    f"/jobs/{JOB}/events",
    f"/jobs/{JOB}/plan",
    "/mcp/server-card",
    "/mcp/",
    "/",
    "/%00",
    "/..%2f..%2fetc/passwd",
    "/jobs/" + "x" * 3000,
)
ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    2**63,
    -(2**70),
    1.5,
    1e308,
    "",
    "\x00",
    "\ud800",
    "a" * 5000,
    "\U0001d518nicode \u202e\u200b",
    [],
    {},
    [[[]]],
    {"": {"": ""}},
    {"$ref": "#"},
    "'; DROP TABLE jobs; --",
    "../../etc/passwd",
    "{{7*7}}",
    "%s%n",
)
ODD_HEADERS = (
    "",
    " ",
    "\x7f",
    "é",
    "a" * 6000,
    "*/*",
    "text/event-stream",
    "application/json;q=0",
    MODERN,
    "2025-11-25",
    "v999.0.0",
    "=?base64?SGVsbG8=?=",
    "=?base64?!!!?=",
    "g.0-0",
    "g.99999999999999999999-0",
    "p0123456789abcdef.1-1",
    "0-1",
    "-1",
    "tools/call",
    "TOOLS/CALL",
    "null",
    "http://evil.example",
    "evil.example",
    "Bearer x",
    "gzip",
    "18446744073709551616",
)
HEADERS = (
    "accept",
    "content-type",
    "content-length",
    "content-encoding",
    "host",
    "origin",
    "mcp-session-id",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "mcp-param-region",
    "last-event-id",
    "authorization",
    "transfer-encoding",
    "traceparent",
    "cookie",
)


@dataclass(frozen=True)
class Request:
    """One request as ASGI carries it."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes = b""

    def without(self, *names: str) -> "Request":
        """Return the request without some headers."""
        return replace(self, headers=tuple(pair for pair in self.headers if pair[0] not in names))


def mutant(seed: int, number: int, sessions: dict[str, str]) -> Request:
    """Return one request that is right but for one to three faults.

    Args:
        seed: Of the whole run.
        number: Of this request.
        sessions: Id of a living session of each revision with a handshake.
    """
    rng = random.Random(f"{seed}:{number}")
    method, params = rng.choice(CALLS)
    version = rng.choice((*VERSIONS, MODERN, MODERN))
    body = _broken_json(rng, _message(rng, method, params, version))
    request = Request("POST", "/mcp", _headers(method, params, version, sessions), body)
    for _ in range(rng.choice((0, 1, 1, 2))):
        request = rng.choice(FAULTS)(rng, request)
    return request


def _message(rng: random.Random, method: str, params: dict[str, Any], version: str) -> dict[str, Any]:
    params = json.loads(json.dumps(params))
    if version == MODERN:
        params["_meta"] = {**META, **params.get("_meta", {})}
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    return message if method.startswith("notifications/") else {**message, "id": rng.choice((1, "a", 2**40))}


def _headers(
    method: str, params: dict[str, Any], version: str, sessions: dict[str, str]
) -> tuple[tuple[str, str], ...]:
    headers = {
        "host": "127.0.0.1",
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": version,
    }
    if version == MODERN:
        headers["mcp-method"] = method
        if name := params.get("name") or params.get("uri") or params.get("taskId"):
            headers["mcp-name"] = str(name)
    elif method != "initialize":
        headers["mcp-session-id"] = sessions[version]
    return tuple(headers.items())


def _broken_json(rng: random.Random, message: dict[str, Any]) -> bytes:
    """Return a message with some value replaced, dropped, added, nested or doubled."""
    for _ in range(rng.choice((0, 1, 1, 2))):
        rng.choice((_replace, _replace, _drop, _add))(rng, message)
    kind = rng.random()
    if kind < 0.02:
        return json.dumps([message] * rng.choice((1, 2, 33, 200))).encode("utf-8", "surrogatepass")
    if kind < 0.04:
        depth = rng.choice((10, 63, 64, 65, 1000, 50_000))
        return b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":' + b"[" * depth + b"]" * depth + b"}}"
    return json.dumps(message, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return each (container, key) of a JSON value."""
    inside: list[tuple[Any, Any]] = []
    if isinstance(value, dict | list):
        inside = list(value.items() if isinstance(value, dict) else enumerate(value))
    return [(value, key) for key, _ in inside] + [place for _, each in inside for place in _places(each)]


def _replace(rng: random.Random, message: dict[str, Any]) -> None:
    container, key = rng.choice(_places(message) or [(message, "id")])
    container[key] = deepcopy(rng.choice(ODD))


def _drop(rng: random.Random, message: dict[str, Any]) -> None:
    container, key = rng.choice(_places(message) or [(message, "id")])
    if isinstance(container, dict):
        container.pop(key, None)


def _add(rng: random.Random, message: dict[str, Any]) -> None:
    dicts = [message, *(c[k] for c, k in _places(message) if isinstance(c[k], dict))]
    rng.choice(dicts)[rng.choice(("cursor", "task", "_meta", "uri", "x", "", "__proto__", "id"))] = deepcopy(
        rng.choice(ODD)
    )


def _flip(rng: random.Random, request: Request) -> Request:
    body = bytearray(request.body)
    for _ in range(rng.randint(1, 8)):
        if body:
            body[rng.randrange(len(body))] = rng.randrange(256)
    return replace(request, body=bytes(body))


def _cut(rng: random.Random, request: Request) -> Request:
    return replace(request, body=request.body[: rng.randrange(len(request.body) + 1)])


def _blow(rng: random.Random, request: Request) -> Request:
    size = rng.choice((1_000, 60_000, 60_000, 300_000))
    filler = rng.choice((b" ", b"[", b'"', b"9", b"\xff", b"\x00", b"{}"))
    return replace(request, body=request.body + filler * size)


def _noise(rng: random.Random, request: Request) -> Request:
    return replace(request, body=rng.randbytes(rng.choice((1, 10, 300))))


def _header(rng: random.Random, request: Request) -> Request:
    name = rng.choice(HEADERS)
    value = rng.choice(ODD_HEADERS) if rng.random() < 0.8 else _text(rng, 40)
    kept = request if rng.random() < 0.2 else request.without(name)  # sometimes the header stands there twice
    return replace(kept, headers=(*kept.headers, (name, value)))


def _no_header(rng: random.Random, request: Request) -> Request:
    return request.without(rng.choice(HEADERS[:12]))


def _resume(rng: random.Random, request: Request) -> Request:
    position = rng.choice(("0-0", "1-1", f"{rng.randrange(2**64)}-{rng.randrange(100)}", "x", "-", "0-0-0", ""))
    stream = rng.choice(("g", "p" + "0" * 16, "p", "", "g.g", _text(rng, 8)))
    headers = (*request.without("accept", "content-type").headers, ("accept", "text/event-stream"))
    path = rng.choice(("/mcp", "/mcp", f"/jobs/{JOB}/events"))
    return Request("GET", path, (*headers, ("last-event-id", f"{stream}.{position}")))


def _cursor(rng: random.Random, request: Request) -> Request:
    cursor = base64.urlsafe_b64encode(rng.randbytes(rng.choice((0, 3, 40, 200)))).decode()
    listed = rng.choice(("tools/list", "resources/list", "resources/templates/list", "prompts/list", "tasks/list"))
    params: dict[str, Any] = {"cursor": cursor[: rng.randrange(len(cursor) + 1)]}
    if ("mcp-protocol-version", MODERN) in request.headers:
        params["_meta"] = META
        kept = request.without("mcp-method", "mcp-name").headers
        request = replace(request, headers=(*kept, ("mcp-method", listed)))
    body = {"jsonrpc": "2.0", "id": 1, "method": listed, "params": params}
    return replace(request, body=json.dumps(body).encode())


def _method(rng: random.Random, request: Request) -> Request:
    return replace(request, method=rng.choice(("GET", "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", "FOO", "DELETE")))


def _path(rng: random.Random, request: Request) -> Request:
    return replace(request, path=rng.choice(PATHS), method=rng.choice(("GET", "GET", "POST", "DELETE")))


def _text(rng: random.Random, length: int) -> str:
    return "".join(rng.choice(string.printable.strip() + "é ÿ") for _ in range(rng.randint(1, length)))


FAULTS: tuple[Callable[[random.Random, Request], Request], ...] = (
    _flip,
    _cut,
    _blow,
    _noise,
    _header,
    _header,
    _header,
    _no_header,
    _resume,
    _cursor,
    _method,
    _path,
)
