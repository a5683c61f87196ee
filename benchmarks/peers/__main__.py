"""`python -m benchmarks.peers`: ours and the peers, in one run on one machine.

Owns the comparison: the same raw HTTP client, the same protocol revision (2026-07-28), the same store (the bundled
server, `appendfsync always`), one worker each, in turn. The peers live in environments of their own under
`build/peers`, made on first use. A trivial job of ours is a whole day with one ticket, solved, laid out and verified in
a child process; the peers' does nothing at all, so their figures are a floor.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from socket import socket
from typing import Any, Final

import httpx2
from redis.asyncio import Redis
from redis.exceptions import ConnectionError

from benchmarks import engine_room
from benchmarks.engine_room import SMALLEST
from benchmarks.record import Figure, keep, machine, rate, spread, table
from examples.house import running
from planner_mcp.store.embedded import find_server

HERE: Final = Path(__file__).parent
BUILD: Final = HERE.parent.parent / "build" / "peers"
IN_FLIGHT: Final = 16
VERSION: Final = "2026-07-28"
TASKS: Final = "io.modelcontextprotocol/tasks"
META: Final = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"extensions": {TASKS: {}}},
}
_ids = count(1)


class Rpc:
    """A bare client of one MCP endpoint."""

    def __init__(self, http: httpx2.AsyncClient, url: str) -> None:
        self._http, self._url = http, url

    async def send(self, method: str, name: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the result of one request."""
        headers = {
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": VERSION,
            "mcp-method": method,
            "mcp-name": name,
        }
        body = {"jsonrpc": "2.0", "id": next(_ids), "method": method, "params": {**params, "_meta": META}}
        answer = await self._http.post(self._url, json=body, headers=headers)
        text = answer.text
        if answer.headers["content-type"].startswith("text/event-stream"):
            text = [line for line in text.splitlines() if line.startswith("data: {")][-1].removeprefix("data: ")
        reply = httpx2.Response(200, text=text).json()
        if "result" not in reply:
            raise RuntimeError(f"{method}: {text[:300]}")
        result: dict[str, Any] = reply["result"]
        return result

    async def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the result of one tool call."""
        return await self.send("tools/call", tool, {"name": tool, "arguments": arguments})


Submit = Callable[[], Awaitable[str]]
Finish = Callable[[str], Awaitable[None]]


async def ours(rpc: Rpc) -> tuple[Submit, Finish]:
    """Return how a job is submitted to the planner (as an MCP task, like the peer's), and how its end is awaited."""
    scenario = (await rpc.call("create_scenario", SMALLEST))["structuredContent"]["scenario_id"]

    async def submit() -> str:
        asked = {"scenario_id": scenario, "solve_time": "PT1S", "fresh": True}
        return str((await rpc.call("solve_vrp", asked))["taskId"])

    async def finish(job_id: str) -> None:
        status = ""
        while status != "COMPLETED":
            answer = await rpc.call("query_vrp_status", {"job_id": job_id, "wait_s": 30})
            status = answer["structuredContent"]["status"]

    return submit, finish


async def theirs(rpc: Rpc) -> tuple[Submit, Finish]:
    """Return the same for the peer, whose clients poll; every 2 ms here, which flatters it."""

    async def submit() -> str:
        return str((await rpc.call("trivial", {}))["taskId"])

    async def finish(task_id: str) -> None:
        while (await rpc.send("tasks/get", task_id, {"taskId": task_id}))["status"] != "completed":  # noqa: ASYNC110 - how its clients do
            await asyncio.sleep(0.002)

    return submit, finish


async def measure(who: str, submit: Submit, finish: Finish, n: int) -> list[Figure]:
    """Return submit, end to end and throughput of one side."""
    await finish(await submit())
    submits, ends = [], []
    for _ in range(n):
        began = time.perf_counter()
        job = await submit()
        submits.append(time.perf_counter() - began)
        await finish(job)
        ends.append(time.perf_counter() - began)
    left = iter(range(2 * n))

    async def lane() -> None:
        for _ in left:
            await finish(await submit())

    began = time.perf_counter()
    await asyncio.gather(*(lane() for _ in range(IN_FLIGHT)))
    return [
        spread(f"{who}: submit over HTTP", submits, "until the answer names the job"),
        spread(f"{who}: end to end", ends, "until the client knows it has ended"),
        rate(f"{who}: jobs over HTTP", 2 * n, time.perf_counter() - began, f"{IN_FLIGHT} in flight, one worker"),
    ]


@asynccontextmanager
async def valkey(folder: Path) -> AsyncIterator[str]:
    """Run a store on a free loopback port, as durable as the embedded one."""
    port = _free_port()
    options = ["--port", port, "--bind", "127.0.0.1", "--dir", folder, "--appendonly", "yes", "--appendfsync", "always"]
    process = await asyncio.create_subprocess_exec(
        find_server(), *map(str, options), "--save", "", stdout=subprocess.DEVNULL
    )
    url = f"redis://127.0.0.1:{port}/0"
    try:
        await _answers(Redis.from_url(url))
        yield url
    finally:
        process.terminate()
        await process.wait()


async def _answers(client: Redis) -> None:
    async with asyncio.timeout(10), client:
        while True:
            try:
                await client.ping()
                return
            except ConnectionError:
                await asyncio.sleep(0.02)


@asynccontextmanager
async def fastmcp(python: Path, folder: Path) -> AsyncIterator[str]:
    """Run the peer server; yield its MCP endpoint."""
    port = _free_port()
    async with valkey(folder) as url, httpx2.AsyncClient(trust_env=False) as http:
        process = await asyncio.create_subprocess_exec(python, HERE / "fastmcp_app.py", str(port), url)
        try:
            async with asyncio.timeout(30):
                while not await _listens(http, port):  # noqa: ASYNC110 - another process, no word when it listens
                    await asyncio.sleep(0.1)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()
            await process.wait()


async def _listens(http: httpx2.AsyncClient, port: int) -> bool:
    try:
        await http.get(f"http://127.0.0.1:{port}/")
    except httpx2.ConnectError:
        return False
    return True


async def drain(python: Path, library: str, total: int) -> Figure:
    """Return how fast one worker of a job library empties a backlog."""
    with tempfile.TemporaryDirectory(prefix="planner-peer-") as folder:
        async with valkey(Path(folder)) as url:
            command = [str(python), str(HERE / "drains.py"), library, url, str(total)]
            process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            out, _ = await asyncio.wait_for(process.communicate(), 300)
    speed = float(out.split()[-1])
    return rate(f"{library}: drain of a backlog", total, total / speed, "no-op jobs, 8 slots of one worker")


def environment(name: str) -> Path:
    """Return the Python of a peer's environment, made on first use."""
    folder = BUILD / name
    python = folder / "bin" / "python"
    if not (folder / ".installed").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        wanted = HERE / f"requirements-{name}.txt"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", wanted], check=True)
        (folder / ".installed").touch()
    return python


def _free_port() -> int:
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def compare(n: int) -> list[Figure]:
    """Return every figure, ours and theirs in turn."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="planner-bench-") as folder:
        root = Path(folder)
        for part in ("ours", "peer", "room"):
            (root / part).mkdir()
        async with httpx2.AsyncClient(trust_env=False, timeout=60) as http:
            async with running(root / "ours", workers=1) as house:
                figures += await measure("planner-mcp", *await ours(Rpc(http, house.mcp)), n)
            async with fastmcp(environment("mcp"), root / "peer") as url:
                figures += await measure("fastmcp-tasks", *await theirs(Rpc(http, url)), n)
        for library, where in (("taskiq", "mcp"), ("saq", "mcp"), ("arq", "arq")):
            figures.append(await drain(environment(where), library, 10 * n))
        figures += await engine_room.measure(root / "room", n=5 * n)
    return figures


def main() -> int:
    """Compare, print and keep."""
    parser = argparse.ArgumentParser(description="The same trivial job here and elsewhere, in one run.")
    parser.add_argument("--samples", type=int, default=200, help="jobs of each measurement")
    options = parser.parse_args()
    about = machine()
    figures = asyncio.run(compare(options.samples))
    print(table(figures))
    print(f"\nkept: {keep(figures, about, seed=0, is_quick=False, name='peers')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
