"""`python -m benchmarks.peers`: this server and FastMCP with its tasks extension, in one run on one machine.

Owns the comparison. Both sides are asked by the same lean HTTP client in the same protocol revision (2026-07-28), keep
their jobs on the bundled store with `appendfsync always`, have one worker, and take turns. Our job is a scenario of one
ticket: validated, solved, evaluated and verified in a child process. The peer's job returns a constant, in the process
of its server. CPU is that of all processes of a side, its store included.

FastMCP's own client polls a task after 20 ms and then at doubling intervals. Throughput and CPU of the peer are taken
that way. Its end-to-end time is taken with a poll every 2 ms, because the pause is the client's. So each figure of the
peer is taken in the way that is better for it.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from benchmarks.lean_mcp_client import Wire, connected
from benchmarks.peers.programs import listening, peer_python
from benchmarks.performance_goals import goal_table
from benchmarks.process_stats import command_lines, tree_cpu_s
from benchmarks.result_files import Figure, machine, rate, report, spread
from benchmarks.scenarios import ONE_TICKET
from benchmarks.stdio_start import first_answers
from examples.planner_server import running_server
from planner_mcp.jobs.store.embedded_server import find_server

HERE: Final = Path(__file__).parent
IN_FLIGHT: Final = 16
ROUNDS: Final = 8
"""The sides take turns, so that a machine that is busier for a while is so for both of them."""
FULL: Final = 80
"""Samples of a run whose figures go into the README."""
POLL_S: Final = 0.002
"""Between polls of the peer where its end-to-end time is taken."""
FIRST_POLL_S: Final = 0.02
LONGEST_POLL_S: Final = 5.0
"""How FastMCP's own client polls: it doubles the pause from the first up to the longest."""

Submit = Callable[[Wire], Awaitable[str]]
Finish = Callable[[Wire, str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class JobCalls:
    """How a client submits a job and learns of its end."""

    submit: Submit
    finish: Finish
    """Learn of the end as soon as possible."""
    finish_as_advised: Finish
    """Learn of the end as the server's own client does."""


async def planner_calls(wire: Wire) -> JobCalls:
    """Return the calls to this server; a job is submitted as an MCP task, and a waiting call returns at its end."""
    scenario = (await wire.call("create_scenario", ONE_TICKET))["structuredContent"]["scenario_id"]

    async def submit(wire: Wire) -> str:
        asked = {"scenario_id": scenario, "solve_time": "PT1S", "fresh": True}
        return str((await wire.call("solve_vrp", asked))["taskId"])

    async def finish(wire: Wire, job_id: str) -> None:
        status = ""
        while status != "COMPLETED":
            answer = await wire.call("query_vrp_status", {"job_id": job_id, "wait_s": 30})
            status = answer["structuredContent"]["status"]

    return JobCalls(submit, finish, finish)


async def peer_calls(_wire: Wire) -> JobCalls:
    """Return the same for the peer, whose clients poll."""

    async def submit(wire: Wire) -> str:
        return str((await wire.call("trivial", {}))["taskId"])

    async def is_completed(wire: Wire, task_id: str) -> bool:
        return bool((await wire.send("tasks/get", task_id, {"taskId": task_id}))["status"] == "completed")

    async def finish(wire: Wire, task_id: str) -> None:
        while not await is_completed(wire, task_id):  # noqa: ASYNC110 - the protocol offers nothing else
            await asyncio.sleep(POLL_S)

    async def finish_as_advised(wire: Wire, task_id: str) -> None:
        delay_s = FIRST_POLL_S
        await asyncio.sleep(delay_s)
        while not await is_completed(wire, task_id):
            delay_s = min(2 * delay_s, LONGEST_POLL_S)
            await asyncio.sleep(delay_s)

    return JobCalls(submit, finish, finish_as_advised)


@dataclass
class Side:
    """One of the two servers, and what was measured of it."""

    who: str
    client_calls: Callable[[Wire], Awaitable[JobCalls]]
    url: str
    processes: tuple[int, ...]
    """Processes whose CPU is counted, with everything below them."""
    submits_s: list[float] = field(default_factory=list)
    ends_s: list[float] = field(default_factory=list)
    used_s: float = 0.0
    done: int = 0
    busy_s: float = 0.0

    async def round(self, n: int) -> None:
        """Run jobs one after another, then three times as many on `IN_FLIGHT` connections at once."""
        async with connected(self.url) as wire:
            calls = await self.client_calls(wire)
            await calls.finish(wire, await calls.submit(wire))  # loads what is loaded at first use
            for _ in range(n):
                began = time.perf_counter()
                job = await calls.submit(wire)
                self.submits_s.append(time.perf_counter() - began)
                await calls.finish(wire, job)
                self.ends_s.append(time.perf_counter() - began)
        async with AsyncExitStack() as stack:
            wires = [await stack.enter_async_context(connected(self.url)) for _ in range(IN_FLIGHT)]
            left = iter(range(3 * n))

            async def client_loop(wire: Wire) -> None:
                for _ in left:
                    await calls.finish_as_advised(wire, await calls.submit(wire))

            used_s, began = tree_cpu_s(*self.processes), time.perf_counter()
            await asyncio.gather(*(client_loop(wire) for wire in wires))
            self.busy_s += time.perf_counter() - began
            self.used_s += tree_cpu_s(*self.processes) - used_s
            self.done += 3 * n

    def figures(self) -> list[Figure]:
        """Return what was measured."""
        cpu_ms = round(1000 * self.used_s / self.done, 2)
        note = f"{IN_FLIGHT} in flight, one worker"
        return [
            spread(f"{self.who}: submit over HTTP", self.submits_s, "until the answer names the job"),
            spread(f"{self.who}: end to end", self.ends_s, "until the client knows that the job has ended"),
            rate(f"{self.who}: jobs over HTTP", self.done, self.busy_s, note),
            Figure(f"{self.who}: CPU a job", "ms", self.done, cpu_ms, None, f"of all processes, {note}"),
        ]


@asynccontextmanager
async def valkey(folder: Path) -> AsyncIterator[tuple[str, int]]:
    """Run a store on a free loopback port, as durable as the embedded one; yield its URL and process."""
    options = ["--bind", "127.0.0.1", "--appendonly", "yes", "--appendfsync", "always", "--save", ""]
    async with listening(lambda port: [find_server(), "--port", str(port), "--dir", folder, *options]) as (port, pid):
        yield f"redis://127.0.0.1:{port}/0", pid


@asynccontextmanager
async def fastmcp(folder: Path) -> AsyncIterator[tuple[str, tuple[int, int]]]:
    """Run the peer server; yield its MCP endpoint, its process and its store's."""
    async with (
        valkey(folder) as (url, store),
        listening(lambda port: [peer_python(), HERE / "fastmcp_app.py", str(port), url]) as (port, pid),
    ):
        yield f"http://127.0.0.1:{port}/mcp", (pid, store)


async def compare_jobs(n: int) -> list[Figure]:
    """Return the figures of jobs over HTTP, ours and the peer's in turn."""
    with tempfile.TemporaryDirectory(prefix="planner-bench-") as folder:
        root = Path(folder)
        for part in ("ours", "peer"):
            (root / part).mkdir()
        async with (
            running_server(root / "ours", workers=1) as server,
            fastmcp(root / "peer") as (url, pids),
        ):
            ours = (server.pid, *command_lines("valkey", str(root / "ours")))
            sides = [
                Side("planner-mcp", planner_calls, server.mcp, ours),
                Side("fastmcp-tasks", peer_calls, url, pids),
            ]
            for number in range(ROUNDS * len(sides)):
                await sides[number % len(sides)].round(n // ROUNDS)
    return [figure for side in sides for figure in side.figures()]


async def compare_starts(n: int) -> list[Figure]:
    """Return the time from a process start to the first `tools/list` over stdio, ours and the peer's in turn."""
    ours: list[float] = []
    theirs: list[float] = []
    peer = [str(peer_python()), str(HERE / "fastmcp_app.py")]
    for _ in range(n):
        with tempfile.TemporaryDirectory(prefix="planner-bench-") as folder:
            data = {"PLANNER_DATA_DIR": folder}
            ours.append((await first_answers([sys.executable, "-m", "planner_mcp"], data))[1])
        theirs.append((await first_answers(peer))[1])
    return [
        spread("planner-mcp: stdio to the first tools/list", ours, "empty data folder, store and worker included"),
        spread("fastmcp: stdio to the first tools/list", theirs, "one tool, no store, no tasks"),
    ]


async def compare(n: int) -> list[Figure]:
    """Return every figure."""
    return [*await compare_jobs(n), *await compare_starts(max(3, n // 40))]


def main() -> int:
    """Compare, print and keep."""
    parser = argparse.ArgumentParser(description="A job of one ticket here and a constant from FastMCP, in one run.")
    parser.add_argument("--samples", type=int, default=FULL, help="jobs of each measurement")
    options = parser.parse_args()
    about = machine()
    figures = asyncio.run(compare(options.samples))
    report(figures, about, goal_table, is_quick=options.samples < FULL, name="peers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
