"""Measures a whole server from outside: one server, one worker, the official MCP client over HTTP.

Owns one measurement per function. The cost of the client is part of every figure, because a caller pays it too; the
figure "read over HTTP" shows how much that is. Times of events are those of the store, on the same machine.
"""

import asyncio
import json
import time
from pathlib import Path
from typing import Any, Final

import httpx2
from mcp import Client

from benchmarks.result_files import Figure, rate, spread
from benchmarks.scenarios import ONE_TICKET
from examples.beijing import DAY_FILE
from examples.job_events import follow
from examples.planner_client import FINAL, call
from examples.planner_server import PlannerServer, running_server

IN_FLIGHT: Final = 16
"""Jobs a client keeps going while throughput is measured."""


async def measure(folder: Path, *, n: int, cancels: int) -> list[Figure]:
    """Return all figures.

    Args:
        folder: Empty data folder.
        n: Samples of quick measurements.
        cancels: Solves started and cancelled.
    """
    async with (
        running_server(folder, workers=1) as server,
        Client(server.mcp) as client,
        httpx2.AsyncClient(timeout=httpx2.Timeout(10, read=None), trust_env=False) as http,
    ):
        trivial = (await call(client, "create_scenario", ONE_TICKET))["scenario_id"]
        day = (await call(client, "create_scenario", json.loads(DAY_FILE.read_text(encoding="utf-8"))))["scenario_id"]
        await _trivial(client, trivial)  # first solve: imports and connections are warm after it
        return [
            await _floor(client, trivial, n),
            await _submit(client, trivial, n),
            await _pick_up(client, http, server, trivial, min(n, 100)),
            await _end_to_end(client, trivial, min(n, 100)),
            await _throughput(client, trivial, 2 * n),
            await _events(client, http, server, day),
            await _cancel(client, day, cancels),
        ]


async def _solve(client: Client, scenario_id: str, seconds: int = 1) -> str:
    asked = {"scenario_id": scenario_id, "solve_time": f"PT{seconds}S", "fresh": True}
    return str((await call(client, "solve_vrp", asked))["job_id"])


async def _end(client: Client, job_id: str) -> dict[str, Any]:
    status: dict[str, Any] = {"status": ""}
    while status["status"] not in FINAL:
        status = await call(client, "query_vrp_status", {"job_id": job_id, "wait_s": 30})
    return status


async def _trivial(client: Client, scenario_id: str) -> None:
    status = await _end(client, await _solve(client, scenario_id))
    assert status["status"] == "COMPLETED", status


async def _floor(client: Client, scenario_id: str, n: int) -> Figure:
    job_id = await _solve(client, scenario_id)
    await _end(client, job_id)
    samples = []
    for _ in range(n):
        started = time.perf_counter()
        await call(client, "query_vrp_status", {"job_id": job_id})
        samples.append(time.perf_counter() - started)
    return spread(
        "read over HTTP", samples, "query_vrp_status of an ended job: what client, protocol and one read cost"
    )


async def _submit(client: Client, scenario_id: str, n: int) -> Figure:
    samples, jobs = [], []
    for _ in range(n):
        started = time.perf_counter()
        jobs.append(await _solve(client, scenario_id))
        samples.append(time.perf_counter() - started)
    for job_id in jobs:
        await _end(client, job_id)
    return spread("submit over HTTP", samples, "solve_vrp until its answer; the worker solves meanwhile")


async def _pick_up(client: Client, http: httpx2.AsyncClient, server: PlannerServer, scenario_id: str, n: int) -> Figure:
    samples = []
    for _ in range(n):
        job_id = await _solve(client, scenario_id)
        times = [_moment(id_) async for id_, _ in follow(http, server.url, job_id)]
        samples.append(times[1] - times[0])
    return spread("submit → solving", samples, "first two events of the job, whole milliseconds of the store's clock")


def _moment(event_id: str) -> float:
    """Return the store's time of an event in seconds."""
    return int(event_id.partition("-")[0]) / 1000


async def _end_to_end(client: Client, scenario_id: str, n: int) -> Figure:
    samples = []
    for _ in range(n):
        started = time.perf_counter()
        await _trivial(client, scenario_id)
        samples.append(time.perf_counter() - started)
    return spread("end to end of a trivial job", samples, "solve_vrp, waiting query_vrp_status, COMPLETED; one ticket")


async def _throughput(client: Client, scenario_id: str, n: int) -> Figure:
    left = iter(range(n))

    async def client_loop() -> None:
        for _ in left:
            await _trivial(client, scenario_id)

    started = time.perf_counter()
    await asyncio.gather(*(client_loop() for _ in range(IN_FLIGHT)))
    elapsed_s = time.perf_counter() - started
    return rate("trivial jobs over HTTP, one worker", n, elapsed_s, f"end to end, {IN_FLIGHT} in flight")


async def _events(client: Client, http: httpx2.AsyncClient, server: PlannerServer, scenario_id: str) -> Figure:
    job_id = await _solve(client, scenario_id, 10)
    samples = []
    async for id_, message in follow(http, server.url, job_id):
        if message["method"] == "notifications/progress":
            samples.append(max(time.time() - _moment(id_), 0.0))
    return spread("event worker → client", samples, "job channel, of one 10 s solve of the city day, ±1 ms")


async def _cancel(client: Client, scenario_id: str, n: int) -> Figure:
    samples = []
    for _ in range(n):
        job_id = await _solve(client, scenario_id, 60)
        status: dict[str, Any] = {}
        while status.get("cost") is None:
            question = {"job_id": job_id, "wait_s": 30, "wait_for": "change"}
            status = await call(client, "query_vrp_status", question)
        started = time.perf_counter()
        answer = await call(client, "cancel_vrp_job", {"job_id": job_id})
        samples.append(time.perf_counter() - started)
        assert answer["cancelled"], answer
    return spread(
        "cancel of a running solve", samples, "cancel_vrp_job until its answer, which waits for the solver to end"
    )
