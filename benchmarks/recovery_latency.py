"""Measures what no answer shows: when a solver process is gone, when a lost job runs again, what 500 watchers cost.

Owns one trial per function. Each runs a server of its own, as `planner-mcp serve` starts it, and reads the state of its
processes from `/proc`, so it runs on Linux only.
"""

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from benchmarks.lean_mcp_client import Wire, connected
from benchmarks.process_stats import command_lines, cpu_s, descendants, is_alive, parent, tree_cpu_s
from benchmarks.result_files import Figure, share, spread
from examples.beijing import DAY_FILE
from examples.planner_server import PlannerServer, running_server
from planner_mcp.jobs import ids
from planner_mcp.jobs.job_model import Progress, SolveRequest, StoredScenario
from planner_mcp.jobs.job_ports import Claim
from planner_mcp.jobs.principals import LOCAL
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings

WATCHERS: Final = 500
WATCHED_JOBS: Final = 50
EVENTS_EACH_S: Final = 10
"""Events of one job a second; all watchers together receive 5,000."""
LOOK_S: Final = 0.0005
COME_S: Final = 0.01
"""Watchers come one after another."""
BEGUN_S: Final = 0.5
"""A solve goes on for this long before it is stopped or its worker killed."""
_WATCHER_SETTINGS: Final = {"PLANNER_MAX_STREAMS": "1000", "PLANNER_MAX_OPEN_REQUESTS": "2000"}


async def measure(folder: Path, *, cancels: int, kills: int, watchers_s: float) -> list[Figure]:
    """Return all figures of the trials.

    Args:
        folder: Empty data folder.
        cancels: OR-Tools solves started and cancelled.
        kills: Workers killed.
        watchers_s: How long the watchers watch.
    """
    async with running_server(folder / "alone", workers=1) as server:
        async with connected(server.mcp) as wire:
            body = json.loads(DAY_FILE.read_text(encoding="utf-8"))
            day = (await wire.call("create_scenario", body))["structuredContent"]["scenario_id"]
            ends = [await _cancelled(server, wire, day) for _ in range(cancels)]
        again = [await _killed(server, day) for _ in range(kills)]
    return [
        spread("cancel → solver gone", ends, "OR-Tools in mid-search, from the call to the end of its process"),
        spread("SIGKILL of the worker → solving again", again, "one worker, default lease; killed in mid-solve"),
        *await _many_watchers(folder / "crowd", watchers_s),
    ]


# ---- a solver that is stopped, a worker that is killed


async def _cancelled(server: PlannerServer, wire: Wire, scenario_id: str) -> float:
    job_id = await _solving(wire, scenario_id, engine="ortools")
    solver = _busiest(server)
    began = time.perf_counter()
    cancelling = asyncio.create_task(wire.call("cancel_vrp_job", {"job_id": job_id}))
    while is_alive(solver):  # noqa: ASYNC110 - a stranger's death sends no event
        await asyncio.sleep(LOOK_S)
    elapsed_s = time.perf_counter() - began
    assert (await cancelling)["structuredContent"]["cancelled"]
    return elapsed_s


async def _killed(server: PlannerServer, scenario_id: str) -> float:
    async with connected(server.mcp) as wire:
        job_id = await _solving(wire, scenario_id)
    (worker,) = [pid for pid, command in descendants(server.pid).items() if "-m workers --ends-with-parent" in command]
    os.kill(worker, signal.SIGKILL)
    began = time.time()
    async with aclosing(_event_stream(server, job_id)) as events:
        again = await anext(at async for at, data in events if '"attempt":2' in data.replace(" ", ""))
    async with connected(server.mcp) as wire:
        await wire.call("cancel_vrp_job", {"job_id": job_id})
    return again - began


async def _solving(wire: Wire, scenario_id: str, engine: str = "auto") -> str:
    """Return a job that has a plan and goes on."""
    asked = {"scenario_id": scenario_id, "solve_time": "PT60S", "fresh": True, "engine": engine}
    job_id = str((await wire.call("solve_vrp", asked))["taskId"])
    status: dict[str, Any] = {}
    while status.get("cost") is None:
        question = {"job_id": job_id, "wait_s": 30, "wait_for": "change"}
        status = (await wire.call("query_vrp_status", question))["structuredContent"]
    await asyncio.sleep(BEGUN_S)
    return job_id


def _busiest(server: PlannerServer) -> int:
    """Return the process that solves: of the forks of fork servers the one that has used most CPU."""
    warm = [
        pid for pid, command in descendants(server.pid).items() if "workers.solver_processes.fork_server" in command
    ]
    return max((pid for pid in warm if parent(pid) in warm), key=cpu_s)


async def _event_stream(server: PlannerServer, job_id: str) -> AsyncGenerator[tuple[float, str], None]:
    """Yield the events of a job's channel: the store's time of each, in seconds, and its text."""
    where = urlsplit(server.url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    head = f"GET /jobs/{job_id}/events HTTP/1.1\r\nhost: {where.netloc}\r\naccept: text/event-stream\r\n\r\n"
    writer.write(head.encode())
    at = 0.0
    try:
        while line := await reader.readline():
            if line.startswith(b"id:"):
                at = int(line[3:].partition(b"-")[0]) / 1000
            elif line.startswith(b"data:"):
                yield at, line.decode()
    finally:
        writer.close()


# ---- many watchers


async def _many_watchers(folder: Path, seconds: float) -> list[Figure]:
    """Return how long watchers wait for an event, and the share of a core that serving them takes."""
    settings = Settings(data_dir=folder, lease_s=120)
    async with running_server(folder, workers=0, settings=_WATCHER_SETTINGS) as server, connect(settings) as store:
        claims = await _claimed(store, WATCHED_JOBS)
        delays_s: list[float] = []
        watching = []
        for claim in claims * (WATCHERS // WATCHED_JOBS):
            watching.append(asyncio.create_task(_watch(server, claim.job.id, delays_s)))
            await asyncio.sleep(COME_S)
        await _publish_events(store, claims, 2.0)  # all have connected and read the earlier events
        delays_s.clear()
        pids = (server.pid, *command_lines("valkey", str(folder)))
        used_s, began = tree_cpu_s(*pids), time.perf_counter()
        await _publish_events(store, claims, seconds)
        elapsed_s = time.perf_counter() - began
        used_s = tree_cpu_s(*pids) - used_s
        received = len(delays_s)
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)
    about = f"{WATCHERS} watchers of {WATCHED_JOBS} jobs, {received / elapsed_s:,.0f} events/s sent"
    return [
        spread("event → one of 500 watchers", delays_s, f"{about}; whole milliseconds of the store's clock"),
        share("core used by 500 watchers", used_s / elapsed_s, f"{about}; CPU of server and store"),
    ]


async def _claimed(store: RedisStore, count: int) -> list[Claim]:
    name = ids.random_id("scn", 0)
    await store.put_scenario(StoredScenario(name, LOCAL.id, {}, datetime.now(UTC), "h"))
    await store.register("crowd", count)
    for seed in range(count):
        await store.submit(LOCAL.id, SolveRequest(name, 60, seed=seed), ids.random_id("job", 0))
    claims = [await store.claim("crowd", 1.0) for _ in range(count)]
    return [claim for claim in claims if isinstance(claim, Claim)]


async def _watch(server: PlannerServer, job_id: str, delays_s: list[float]) -> None:
    async with aclosing(_event_stream(server, job_id)) as events:
        async for at, _text in events:
            delays_s.append(max(0.0, time.time() - at))


async def _publish_events(store: RedisStore, claims: list[Claim], seconds: float) -> None:
    """Report on every job, `EVENTS_EACH_S` times a second, evenly spread."""
    began, step_s = time.perf_counter(), 1 / EVENTS_EACH_S / len(claims)
    async with asyncio.TaskGroup() as reports:
        for number in range(int(seconds / step_s)):
            claim = claims[number % len(claims)]
            progress = Progress(percent=1, cost=1e6 - number, improvements=number, elapsed_s=time.monotonic())
            reports.create_task(store.report(claim, progress, None))
            await asyncio.sleep(max(0.0, began + number * step_s - time.perf_counter()))
