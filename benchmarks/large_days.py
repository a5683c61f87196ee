"""`python -m benchmarks.large_days`: what a large day costs through the tools, from upload to exports.

Owns days of any size with windows, four depots and three kinds of vehicles. Each day is created, solved, and read while
it is solved and after, over HTTP on one server with one worker.
"""

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import httpx2

from benchmarks.lean_mcp_client import META, Wire, connected
from benchmarks.process_stats import descendants, pss_mib
from examples.planner_server import PlannerServer, running_server

DEPOTS: Final = ((48.1, 11.5), (48.3, 11.65), (48.5, 11.8), (48.7, 11.95))
WATCH_S: Final = 0.05
TICKETS_PER_AGENT: Final = 12


class _PlainWire(Wire):
    """A client without tasks: it polls."""

    meta = META | {"io.modelcontextprotocol/clientCapabilities": {}}


def day(tickets: int, seed: int = 1) -> dict[str, Any]:
    """Return a day with half of its tickets in windows of three hours."""
    draw = random.Random(seed)
    places: list[dict[str, Any]] = [{"id": f"D{k}", "lat": lat, "lon": lon} for k, (lat, lon) in enumerate(DEPOTS)]
    orders: list[dict[str, Any]] = []
    for k in range(tickets):
        places.append(
            {"id": f"L{k}", "lat": round(47.9 + draw.random() * 0.9, 5), "lon": round(11.2 + draw.random() * 0.9, 5)}
        )
        order: dict[str, Any] = {"id": f"t{k}", "location": f"L{k}", "demand": draw.randint(1, 12)}
        order["service_time_s"] = draw.choice((180, 300, 600))
        if k % 2:
            opens = draw.randint(7, 14)
            order["time_windows"] = [[f"{opens:02}:00", f"{opens + 3:02}:00"]]
        orders.append(order)
    agents = [
        {
            "id": f"v{k}",
            "capacity": (120, 200, 80)[k % 3],
            "start_location": f"D{k % 4}",
            "end_location": f"D{k % 4}",
            "shift_start": "07:00",
            "shift_end": "18:00",
        }
        for k in range(max(3, tickets // TICKETS_PER_AGENT))
    ]
    return {
        "name": f"{tickets} tickets",
        "planning_date": "2025-07-15",
        "agents": agents,
        "tickets": orders,
        "locations": places,
    }


class _Peak:
    """The largest memory of the processes of one command line, read while a solve runs."""

    def __init__(self, server: PlannerServer) -> None:
        self._server = server
        self.mib = 0.0

    async def watch(self) -> None:
        while True:
            of_solvers = (pid for pid, line in descendants(self._server.pid).items() if "fork_server" in line)
            self.mib = max(self.mib, sum(map(pss_mib, of_solvers)))
            await asyncio.sleep(4 * WATCH_S)


async def measure(server: PlannerServer, tickets: int, solve_s: int) -> dict[str, Any]:
    """Return what one day cost, times in seconds."""
    body = day(tickets)
    figures: dict[str, Any] = {"tickets": tickets, "solve_s": solve_s, "load": round(os.getloadavg()[0], 1)}
    async with connected(server.mcp, _PlainWire) as wire, httpx2.AsyncClient(base_url=server.url, timeout=600) as http:
        began = time.monotonic()
        made = await wire.call("create_scenario", body)
        figures["create"] = _since(began)
        scenario = made["structuredContent"]["scenario_id"]
        began = time.monotonic()
        job = (await wire.call("solve_vrp", {"scenario_id": scenario, "solve_time": f"PT{solve_s}S"}))[
            "structuredContent"
        ]["job_id"]
        figures["submit"] = _since(began)
        peak = _Peak(server)
        watching = asyncio.create_task(peak.watch())
        figures |= await _followed(wire, job, began, solve_s)
        watching.cancel()
        figures["solver_mib"] = round(peak.mib)
        if figures["status"] == "COMPLETED":
            figures |= await _read(wire, http, job)
    return figures


async def _followed(wire: Wire, job: str, began: float, solve_s: int) -> dict[str, Any]:
    found: dict[str, Any] = {"first_plan": None}
    while True:
        state = (await wire.call("query_vrp_status", {"job_id": job}))["structuredContent"]
        if found["first_plan"] is None and state.get("cost") is not None:
            found["first_plan"] = _since(began)
        if state["status"] not in ("QUEUED", "SOLVING"):
            break
        await asyncio.sleep(WATCH_S)
    found["overrun"] = round(time.monotonic() - began - solve_s, 2)
    return found | {name: state.get(name) for name in ("status", "cost", "tickets_served", "improvements", "error")}


async def _read(wire: Wire, http: "httpx2.AsyncClient", job: str) -> dict[str, float]:
    """Return how long each way to read a plan takes."""
    times = {}
    reads: dict[str, dict[str, Any]] = {
        "summary": {"job_id": job},
        "routes": {"job_id": job, "view": "routes"},
        "visits": {"job_id": job, "view": "visits", "page": 40},
    }
    for name, arguments in reads.items():
        began = time.monotonic()
        await wire.call("read_plan", arguments)
        times[name] = _since(began)
    for name, media in (
        ("picture", "image/svg+xml"),
        ("png", "image/png"),
        ("csv", "text/csv"),
        ("geojson", "application/geo+json"),
        ("gpx", "application/gpx+xml"),
        ("json", "application/json"),
    ):
        began = time.monotonic()
        answer = await http.get(f"/v1/jobs/{job}/plan", headers={"accept": media})
        times[name if answer.status_code == httpx2.codes.OK else f"{name} {answer.status_code}"] = _since(began)
    return times


def _since(began: float) -> float:
    return round(time.monotonic() - began, 2)


async def _all(sizes: Sequence[int], solve_s: int, folder: Path) -> None:
    async with running_server(folder, workers=1) as server:
        await measure(server, 10, 1)  # loads the solvers
        for tickets in sizes:
            print(json.dumps(await measure(server, tickets, solve_s)), flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line of JSON for each size."""
    parser = argparse.ArgumentParser(prog="large_days", description=__doc__)
    parser.add_argument("--n", nargs="*", type=int, default=[100, 1000, 5000, 10_000])
    parser.add_argument("--seconds", type=int, default=8)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_all(options.n, options.seconds, Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
