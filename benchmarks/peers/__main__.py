"""`python -m benchmarks.peers`: ours and the peers, in one run on one machine.

Owns the comparison: the same lean HTTP client, the same protocol revision (2026-07-28), the same store (the bundled
server, `appendfsync always`), one worker process each, by turns. The peers live in environments of their own under
`build/peers`, made on first use. Their job does nothing at all. Ours is measured twice: with the same no-op job
(claimed and completed, nothing solved), and with a real one, a day of one ticket solved, laid out and verified in a
child process.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from socket import socket
from typing import Final

import httpx2
from redis.asyncio import Redis
from redis.exceptions import ConnectionError

from benchmarks import job_store_latency
from benchmarks.job_store_latency import SMALLEST
from benchmarks.lean_mcp_client import Wire, connected
from benchmarks.performance_goals import against_peers
from benchmarks.process_stats import cpu_s
from benchmarks.result_files import Figure, keep, machine, rate, spread, table
from examples.planner_server import running_server
from planner_mcp.jobs.store.embedded_server import find_server

HERE: Final = Path(__file__).parent
BUILD: Final = HERE.parent.parent / "build" / "peers"
IN_FLIGHT: Final = 16
ROUNDS: Final = 8
"""The sides take turns, so that a machine that is busier for a while is so for all of them."""
FULL: Final = 400
"""Samples of a run whose figures go into the README."""


Submit = Callable[[Wire], Awaitable[str]]
Finish = Callable[[Wire, str], Awaitable[None]]


async def planner_calls(wire: Wire) -> tuple[Submit, Finish]:
    """Return how a job is submitted to the planner (as an MCP task, like the peer's), and how its end is awaited."""
    scenario = (await wire.call("create_scenario", SMALLEST))["structuredContent"]["scenario_id"]

    async def submit(wire: Wire) -> str:
        asked = {"scenario_id": scenario, "solve_time": "PT1S", "fresh": True}
        return str((await wire.call("solve_vrp", asked))["taskId"])

    async def finish(wire: Wire, job_id: str) -> None:
        status = ""
        while status != "COMPLETED":
            answer = await wire.call("query_vrp_status", {"job_id": job_id, "wait_s": 30})
            status = answer["structuredContent"]["status"]

    return submit, finish


async def peer_calls(_wire: Wire) -> tuple[Submit, Finish]:
    """Return the same for the peer, whose clients poll; every 2 ms here, which flatters it."""

    async def submit(wire: Wire) -> str:
        return str((await wire.call("trivial", {}))["taskId"])

    async def finish(wire: Wire, task_id: str) -> None:
        while (await wire.send("tasks/get", task_id, {"taskId": task_id}))["status"] != "completed":  # noqa: ASYNC110 - how its clients do
            await asyncio.sleep(0.002)

    return submit, finish


ClientCalls = Callable[[Wire], Awaitable[tuple[Submit, Finish]]]


@dataclass
class Side:
    """One of those compared, and what was seen of it."""

    who: str
    client_calls: ClientCalls
    url: str
    server: int
    """Process whose CPU is counted."""
    submits_s: list[float] = field(default_factory=list)
    ends_s: list[float] = field(default_factory=list)
    used_s: float = 0.0
    done: int = 0
    busy_s: float = 0.0

    async def round(self, n: int) -> None:
        """Run jobs one after another, then three times as many side by side, one on each connection."""
        async with AsyncExitStack() as stack:
            wires = [await stack.enter_async_context(connected(self.url)) for _ in range(IN_FLIGHT)]
            submit, finish = await self.client_calls(wires[0])
            for wire in wires:  # what is loaded or connected at first use is there after it
                await finish(wire, await submit(wire))
            used_s = cpu_s(self.server)
            for _ in range(n):
                began = time.perf_counter()
                job = await submit(wires[0])
                self.submits_s.append(time.perf_counter() - began)
                await finish(wires[0], job)
                self.ends_s.append(time.perf_counter() - began)
            self.used_s += cpu_s(self.server) - used_s
            left = iter(range(3 * n))

            async def client_loop(wire: Wire) -> None:
                for _ in left:
                    await finish(wire, await submit(wire))

            began = time.perf_counter()
            await asyncio.gather(*(client_loop(wire) for wire in wires))
            self.busy_s += time.perf_counter() - began
            self.done += 3 * n

    def figures(self) -> list[Figure]:
        """Return what was seen."""
        cpu_ms = round(1000 * self.used_s / len(self.ends_s), 2)
        note = f"{IN_FLIGHT} in flight, one worker"
        return [
            spread(f"{self.who}: submit over HTTP", self.submits_s, "until the answer names the job"),
            spread(f"{self.who}: end to end", self.ends_s, "until the client knows it has ended"),
            rate(f"{self.who}: jobs over HTTP", self.done, self.busy_s, note),
            Figure(f"{self.who}: CPU a job", "ms", len(self.ends_s), cpu_ms, None, "of the server process, end to end"),
        ]


@asynccontextmanager
async def idle_worker(folder: Path) -> AsyncIterator[None]:
    """Run a worker that does nothing."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "benchmarks.peers.noop_worker", str(folder))
    try:
        yield
    finally:
        process.terminate()
        await process.wait()


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
async def fastmcp(python: Path, folder: Path) -> AsyncIterator[tuple[str, int]]:
    """Run the peer server; yield its MCP endpoint and its process."""
    port = _free_port()
    async with valkey(folder) as url, httpx2.AsyncClient(trust_env=False) as http:
        process = await asyncio.create_subprocess_exec(python, HERE / "fastmcp_app.py", str(port), url)
        try:
            async with asyncio.timeout(30):
                while not await _listens(http, port):  # noqa: ASYNC110 - another process, no word when it listens
                    await asyncio.sleep(0.1)
            yield f"http://127.0.0.1:{port}/mcp", process.pid
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
    note = f"no-op jobs, {job_store_latency.DRAINING} slots of one worker"
    return rate(f"{library}: drain of a backlog", total, total / speed, note)


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
        for part in ("ours", "noop", "peer", "room"):
            (root / part).mkdir()
        async with (
            running_server(root / "ours", workers=1) as planner_server,
            running_server(root / "noop", workers=0) as idle,
            idle_worker(root / "noop"),
            fastmcp(environment("mcp"), root / "peer") as (url, pid),
        ):
            sides = [
                Side("planner-mcp", planner_calls, planner_server.mcp, planner_server.pid),
                Side("planner-mcp, no-op", planner_calls, idle.mcp, idle.pid),
                Side("fastmcp-tasks", peer_calls, url, pid),
            ]
            for number in range(ROUNDS * len(sides)):
                await sides[number % len(sides)].round(n // ROUNDS)
        figures += [figure for side in sides for figure in side.figures()]
        for library, where in (("taskiq", "mcp"), ("saq", "mcp"), ("arq", "arq")):
            figures.append(await drain(environment(where), library, 10 * n))
        figures += await job_store_latency.measure(root / "room", n=5 * n)
    return figures


def main() -> int:
    """Compare, print and keep."""
    parser = argparse.ArgumentParser(description="The same trivial job here and elsewhere, in one run.")
    parser.add_argument("--samples", type=int, default=FULL, help="jobs of each measurement")
    options = parser.parse_args()
    about = machine()
    figures = asyncio.run(compare(options.samples))
    goals, is_quick = against_peers(figures), options.samples < FULL
    print(f"{table(figures)}\n\n{goals}")
    print(f"\nkept: {keep(figures, about, seed=0, is_quick=is_quick, name='peers', goals=goals)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
