"""`python -m benchmarks.hostile_bodies`: what one principal's hostile bodies do to another principal (SPEC A3, X3).

Owns the bodies, the attacker (a process of its own) and the bystander: one call of a tool and one look at `/healthz`
every 50 ms. A figure is the bystander's slowest answers, the server's memory over that before the attack, and how the
attacker's requests were answered. `tests/chaos/test_hostile_bodies.py` holds the goals.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from benchmarks.process_stats import descendants, tree_pss_mib
from examples.planner_server import running_server

MEBIBYTE: Final = 1024 * 1024
BODY: Final = 4 * MEBIBYTE - 1024
"""Bytes of a body of `/mcp`: just within the default limit."""
MATRIX: Final = 64 * MEBIBYTE - 1024
"""Bytes of a body of `PUT /matrices`: just within the default limit."""
EVERY_S: Final = 0.05
MOST_S: Final = 150.0
"""Longest time one attack is waited for."""
LEAST_S: Final = 6.0
"""How long a body is sent again and again, so that the bystander's 99th percentile is of a hundred calls and more: of
fewer it is the slowest one, which one slow flush of the disk decides."""
RECOVERY_S: Final = 30.0
META: Final = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def called(tool: str, arguments: bytes) -> bytes:
    """Return the body of a call whose arguments are written as they stand."""
    head = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call"})[:-1].encode()
    params = json.dumps({"name": tool, "_meta": META})[:-1].encode()
    return head + b', "params": ' + params + b', "arguments": ' + arguments + b"}}"


def filled(before: bytes, token: bytes, after: bytes, size: int) -> bytes:
    """Return a text that repeats a token until it has about `size` bytes."""
    return before + token * max(1, (size - len(before) - len(after)) // len(token)) + after


def day_of(token: bytes, size: int, last: bytes = b"{}") -> bytes:
    """Return a call of `create_scenario` with a list of tickets of one form."""
    return called("create_scenario", filled(b'{"planning_date": "2025-07-15", "tickets": [', token, last + b"]}", size))


BODIES: Final[Mapping[str, Callable[[int], bytes]]] = {
    "escapes": lambda size: called(
        "create_scenario", filled(b'{"name": "\\ud83d\\ude00', b'\\"', b'", "tickets": []}', size)
    ),
    "wrong tickets": lambda size: day_of(b"1,", size, b"1"),
    "empty objects": lambda size: day_of(b"{},", size),
    "empty lists": lambda size: day_of(b"[],", size),
    "one key each": lambda size: day_of(b'{"a":1},', size),
    "unknown keys": lambda size: called(
        "create_scenario",
        b'{"planning_date": "2025-07-15", "tickets": [{'
        + b",".join(b'"%x":1' % number for number in range(size // 10))
        + b"}]}",
    ),
    "pairs": lambda size: day_of(b'"\\ud83d\\ude00",', size, b'""'),
    "long numbers": lambda size: day_of(b"1" * 4000 + b",", size, b"1"),
    "deep": lambda size: day_of(b"[" * 25 + b"]" * 25 + b",", size),
    "other tool": lambda size: called("list_jobs", filled(b'{"state": [', b"{},", b"{}]}", size)),
    "no tool": lambda size: filled(
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": [', b"[],", b"1]}}", size
    ),
    "not JSON": lambda size: filled(b'{"a": [', b"{},", b"{]}", size),
    "import brackets": lambda size: called(
        "import_scenario",
        filled(b'{"format": "csv", "planning_date": "2025-07-15", "content": "id,location,', b"[", b'\\na,A,1"}', size),
    ),
    "import rows": lambda size: called(
        "import_scenario",
        filled(b'{"format": "csv", "planning_date": "2025-07-15", "content": "id,location\\n', b"a\\n", b'a,A"}', size),
    ),
}
"""Bodies of `POST /mcp` by name, each for a size in bytes."""
MATRICES: Final[Mapping[str, Callable[[int], bytes]]] = {
    "matrix row": lambda size: filled(b'{"locations":["a"],"distances":[[', b"1,", b"1]]}", size),
    "matrix locations": lambda size: filled(b'{"locations":["a",', b"[],", b'"b"],"distances":[[0]]}', size),
    "matrix rows": lambda size: filled(b'{"locations":["a"],"distances":[', b"[],", b"[0]]}", size),
    "matrix keys": lambda size: filled(b'{"locations":["a"],', b'"a":[],', b'"distances":[[0]]}', size),
    "matrix blanks": lambda size: filled(b'{"locations":["a"],', b" ", b'"distances":[[0]]}', size),
    "matrix text": lambda size: filled(b'{"locations":["', b'\\"', b'"],"distances":[[0]]}', size),
}
"""Bodies of `PUT /matrices`."""
BATCHES: Final[Mapping[str, Callable[[int], bytes]]] = {
    "addresses": lambda size: called(
        "resolve_addresses",
        json.dumps({"addresses": [f"北京市海淀区学院路{number}号" for number in range(size // 64)]}).encode(),
    ),
    "bridged answers": lambda _size: called("get_orders", b"{}"),
}
"""Calls of the address server and of a bridge: small bodies that make much work."""
ATTACKS: Final = {**BODIES, **MATRICES, **BATCHES}


@dataclass(slots=True)
class AttackFigures:
    """What one attack did."""

    name: str
    at_once: int
    sent_mib: float
    """Of all bodies that are sent at once."""
    took_s: float = 0.0
    answers: dict[str, int] = field(default_factory=dict)
    """Of the attacker, by status; `dropped` for a connection without one."""
    call_p99_ms: float = 0.0
    call_max_ms: float = 0.0
    calls: int = 0
    failed_calls: int = 0
    health_p99_ms: float = 0.0
    health_max_ms: float = 0.0
    memory_mib: float = 0.0
    """Highest growth of the server and its children, the store aside."""
    memory_after_mib: float = 0.0
    """Growth that is left `RECOVERY_S` later, at most."""


class Wire:
    """A kept connection that asks the same again and again."""

    def __init__(self, url: str, request: bytes) -> None:
        self._where, self._request = urlsplit(url), request
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.times_ms: list[float] = []
        self.failed = 0

    async def ask(self) -> None:
        """Ask once and note how long the answer took."""
        began = time.perf_counter()
        try:
            status = await self._exchange()
        except (OSError, asyncio.IncompleteReadError):
            status, self._streams = 0, None
        self.failed += status != 200
        self.times_ms.append((time.perf_counter() - began) * 1000)

    async def close(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def _exchange(self) -> int:
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._where.hostname, self._where.port)
        reader, writer = self._streams
        writer.write(self._request)
        return await read_answer(reader)


async def read_answer(reader: asyncio.StreamReader) -> int:
    """Read one answer; return its status."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode("latin-1").lower().split("\r\n")
    length = next((int(line.partition(":")[2]) for line in lines if line.startswith("content-length:")), None)
    if length is not None:
        await reader.readexactly(length)
    else:
        while (size := int((await reader.readuntil(b"\r\n")).strip() or b"0", 16)) > 0:
            await reader.readexactly(size + 2)
        await reader.readexactly(2)
    return int(lines[0].split()[1])


def request_of(url: str, key: str, body: bytes, *, method: str = "POST", path: str = "/mcp", tool: str = "") -> bytes:
    """Return a whole HTTP request."""
    mcp = f"mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: {tool}\r\n" if tool else ""
    head = (
        f"{method} {path} HTTP/1.1\r\nhost: {urlsplit(url).netloc}\r\nauthorization: Bearer {key}\r\n{mcp}"
        "content-type: application/json\r\naccept: application/json, text/event-stream\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def attack(url: str, key: str, name: str, size: int, at_once: int) -> Counter[str]:
    """Send one body over many connections at once, for `LEAST_S` at least; return how often which answer came."""
    body = ATTACKS[name](size)
    tool = json.loads(body)["params"]["name"] if b'"tools/call"' in body[:100] and name != "not JSON" else ""
    is_matrix = name in MATRICES
    request = request_of(
        url, key, body, method="PUT" if is_matrix else "POST", path="/matrices" if is_matrix else "/mcp", tool=tool
    )
    if name in ("no tool", "not JSON"):
        request = request.replace(b"content-type", b"mcp-protocol-version: 2026-07-28\r\ncontent-type", 1)
    where = urlsplit(url)

    async def once() -> str:
        with suppress(OSError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection(where.hostname, where.port)
            sending = asyncio.create_task(_send(writer, request))
            try:
                return str(await read_answer(reader))
            finally:
                sending.cancel()
                writer.close()
        return "dropped"

    found: Counter[str] = Counter()
    began = time.monotonic()
    while not found or time.monotonic() - began < LEAST_S:
        found += Counter(await asyncio.gather(*(once() for _ in range(at_once))))
    return found


async def _send(writer: asyncio.StreamWriter, request: bytes) -> None:
    with suppress(OSError):
        view = memoryview(request)
        for at in range(0, len(request), 1 << 18):
            writer.write(view[at : at + (1 << 18)])
            await writer.drain()


def p99(times_ms: list[float]) -> float:
    """Return the 99th percentile."""
    ordered = sorted(times_ms)
    return ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]


def memory_mib(pid: int) -> float:
    """Return the memory of a server and its children, the embedded store aside."""
    stores = [each for each, command in descendants(pid).items() if "valkey" in command or "redis" in command]
    return tree_pss_mib(pid) - (tree_pss_mib(*stores) if stores else 0.0)


async def measured(
    url: str,
    pid: int,
    keys: tuple[str, str],
    name: str,
    at_once: int,
    size: int = 0,
    asked: tuple[str, bytes] = ("list_jobs", b"{}"),
) -> AttackFigures:
    """Return what one attack did to a bystander, who calls a tool with arguments, and to the server."""
    size = size or (MATRIX if name in MATRICES else BODY)
    figures = AttackFigures(name, at_once, round(at_once * size / MEBIBYTE, 1))
    call = Wire(url, request_of(url, keys[1], called(*asked), tool=asked[0]))
    health = Wire(url, request_of(url, keys[1], b"", method="GET", path="/healthz"))
    for _ in range(5):
        await asyncio.gather(call.ask(), health.ask())
    call.times_ms.clear()
    health.times_ms.clear()
    before, peak = memory_mib(pid), 0.0
    command = [
        sys.executable,
        "-m",
        "benchmarks.hostile_bodies",
        "--attack",
        url,
        keys[0],
        name,
        str(size),
        str(at_once),
    ]
    began = time.monotonic()
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    ended = asyncio.create_task(process.communicate())

    async def ask_until_end(wire: Wire) -> None:
        while not ended.done():
            asking = asyncio.create_task(wire.ask())
            await asyncio.sleep(EVERY_S)
            await asking

    async def watch_memory() -> None:
        nonlocal peak
        while not ended.done():
            peak = max(peak, await asyncio.to_thread(memory_mib, pid))
            await asyncio.sleep(0.2)

    try:
        async with asyncio.timeout(MOST_S):
            await asyncio.gather(ask_until_end(call), ask_until_end(health), watch_memory())
            figures.answers = json.loads(ended.result()[0] or b"{}")
    except TimeoutError:
        process.kill()
        figures.answers = {"not ended": at_once}
    figures.took_s = round(time.monotonic() - began, 1)
    figures.calls, figures.failed_calls = len(call.times_ms), call.failed + health.failed
    figures.call_p99_ms, figures.call_max_ms = round(p99(call.times_ms)), round(max(call.times_ms))
    figures.health_p99_ms, figures.health_max_ms = round(p99(health.times_ms)), round(max(health.times_ms))
    figures.memory_mib = round(peak - before, 1)
    deadline = time.monotonic() + RECOVERY_S
    while (left := memory_mib(pid) - before) > 50 and time.monotonic() < deadline:  # noqa: ASYNC110
        await asyncio.sleep(1.0)
    figures.memory_after_mib = round(left, 1)
    return figures


def made_key(folder: Path, subject: str, environment: Mapping[str, str]) -> str:
    """Return a new API key of a subject."""
    command = [sys.executable, "-m", "planner_mcp", "keys", "create", subject, "--data-dir", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=True)
    return done.stdout.split()[-1]


async def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description="One principal's hostile bodies, another principal's answers.")
    parser.add_argument("names", nargs="*", help="attacks; absent: all")
    parser.add_argument("--at-once", type=int, nargs="+", default=[1, 12])
    parser.add_argument("--size", type=int, default=0)
    parser.add_argument("--attack", nargs=5, metavar=("URL", "KEY", "NAME", "SIZE", "COUNT"), help="be the attacker")
    asked = parser.parse_args()
    if asked.attack:
        url, key, name, size, count = asked.attack
        print(json.dumps(await attack(url, key, name, int(size), int(count))))
        return
    settings = {"PLANNER_AUTH_API_KEYS": "true", "PLANNER_TOOLSETS": "all"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with running_server(folder, workers=0, settings=settings) as server:
            keys = made_key(folder, "mallory", settings), made_key(folder, "alice", settings)
            for which in asked.names or (*BODIES, *MATRICES):
                for count in asked.at_once:
                    found = await measured(server.url, server.pid, keys, which, count, asked.size)
                    print(json.dumps(asdict(found)), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
