"""A deployment is rolled over and over while clients submit: every process gets SIGTERM in turn (SPEC J7).

`ROLL_S` sets for how long, `ROLL_PER_S` the submits a second, `CHAOS_SEED` which jobs are long.
"""

import asyncio
import itertools
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from planner_mcp.jobs.principals import LOCAL
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.chaos.job_driver import beside
from tests.chaos.stateless_client import call
from tests.shared.http.free_ports import free_port
from tests.shared.processes.wait_until import until
from tests.shared.scenarios.client_scenarios import SMALLEST
from tests.shared.scenarios.seeded_fleet import fleet_body
from tests.shared.store.chaos_results import keep, size_of
from tests.shared.store.store_audit import audit
from workers.supervisor import environment_of

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.chaos,
    pytest.mark.timeout(3600),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
REPLICAS = 2
WORKERS = 2
ROLL_EVERY_S = 10.0
EXIT_WITHIN_S = 25.0
LONG_SHARE = 0.002
LONG_S = 6
"""Longer than a drain lasts here, so that such a job is handed back."""
DRAIN_S = 4.0


class Process:
    """A command of `planner-mcp` that is started again whenever it was asked to go."""

    def __init__(self, settings: Settings, log: Path, *words: str) -> None:
        self._settings, self._log, self._words = settings, log, words
        self.process: subprocess.Popen[bytes]
        self.start()

    def start(self) -> None:
        """Start it."""
        with self._log.open("ab") as lines:
            command = [sys.executable, "-X", "faulthandler", "-m", "planner_mcp", *self._words]
            self.process = subprocess.Popen(command, env=environment_of(self._settings), stderr=lines)

    def roll(self) -> float:
        """Ask it to go, see it gone, start it again; return how long it took to go.

        One that stays too long is made to write into its log where it hangs.
        """
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            assert self.process.wait(EXIT_WITHIN_S) == 0, f"{self._words} left with {self.process.returncode}"
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)
            raise
        left_s = time.monotonic() - began
        self.start()
        return left_s

    def end(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.wait()


@dataclass
class Deployment:
    """Replicas and supervisors of workers over one store."""

    processes: list[Process]
    urls: list[str]
    rolls: list[float] = field(default_factory=list)

    async def roll(self) -> None:
        """Send SIGTERM to one process after another, for ever."""
        for process in itertools.cycle(self.processes):
            next_at = time.monotonic() + ROLL_EVERY_S
            self.rolls.append(await asyncio.to_thread(process.roll))
            await asyncio.sleep(max(0.0, next_at - time.monotonic()))


@contextmanager
def deployed(settings: Settings, folder: Path) -> Iterator[Deployment]:
    """Run a deployment for the length of a block."""
    ports = [free_port() for _ in range(REPLICAS)]
    serve = [
        Process(settings, folder / f"serve-{port}.log", "serve", "--port", str(port), "--workers", "0")
        for port in ports
    ]
    work = [Process(settings, folder / f"worker-{number}.log", "worker") for number in range(WORKERS)]
    try:
        yield Deployment([*serve, *work], [f"http://127.0.0.1:{port}/mcp" for port in ports])
    finally:
        for process in [*serve, *work]:
            process.end()


@dataclass
class Clients:
    """Callers who know several replicas and call again until one acknowledges."""

    http: httpx.AsyncClient
    urls: list[str]
    dice: random.Random
    repeats: int = 0
    acknowledged: dict[int, str] = field(default_factory=dict)
    scenarios: dict[bool, str] = field(default_factory=dict)

    async def insist(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool at one replica or another until it answers."""
        while True:
            try:
                answer = await call(self.http, self.dice.choice(self.urls), tool, **arguments)
            except (httpx.TransportError, ValueError):  # cut off, or cut short when its drain was over
                answer = {"retryable": True}
            if not answer.get("retryable"):
                return answer
            self.repeats += 1
            await asyncio.sleep(0.1)

    async def open(self) -> None:
        """Create the scenarios."""
        for is_long, body in ((False, SMALLEST), (True, fleet_body(120))):
            self.scenarios[is_long] = (await self.insist("create_scenario", **body))["scenario_id"]

    async def submit(self, number: int) -> None:
        """Submit one job."""
        is_long = self.dice.random() < LONG_SHARE
        answer = await self.insist(
            "solve_vrp",
            scenario_id=self.scenarios[is_long],
            solve_time=f"PT{LONG_S}S" if is_long else "PT20S",
            idempotency_key=f"call-{number}",
        )
        self.acknowledged[number] = answer["job_id"]


async def submit_for(clients: Clients, seconds: float, per_s: float) -> None:
    """Submit jobs at a rate that does not ask whether the last one was answered."""
    began = time.monotonic()
    async with asyncio.TaskGroup() as calls:
        for number in range(int(seconds * per_s)):
            await asyncio.sleep(max(0.0, began + number / per_s - time.monotonic()))
            calls.create_task(clients.submit(number))


async def _are_up(urls: list[str], http: httpx.AsyncClient, store: RedisStore) -> bool:
    """Return whether every replica answers and every worker is there: who is told to go before that just dies."""
    for url in urls:
        try:
            await http.get(url.replace("/mcp", "/healthz"))
        except httpx.TransportError:
            return False
    return (await store.stats()).live_workers >= WORKERS


async def _is_idle(store: RedisStore) -> bool:
    stats = await store.stats()
    return stats.queued + stats.solving == 0


async def test_rolling_every_process_loses_nothing_and_burns_no_attempt(
    storm_store: tuple[RedisStore, Settings], seed: int, tmp_path: Path
) -> None:
    """SPEC J7: servers and workers get SIGTERM in turn, each ten seconds, under fifty submits a second."""
    (store, settings), began = storm_store, time.monotonic()
    seconds, per_s = size_of("ROLL_S", 60), size_of("ROLL_PER_S", 50)
    settings = settings.model_copy(update={"drain_s": DRAIN_S, "solve_drain_s": DRAIN_S, "lease_s": 6.0})
    limits = httpx.Limits(max_connections=64)
    with deployed(settings, tmp_path) as deployment:
        async with httpx.AsyncClient(timeout=20, trust_env=False, limits=limits) as http:
            clients = Clients(http, deployment.urls, random.Random(seed))
            await clients.open()
            await until(partial(_are_up, deployment.urls, http, store), 120)
            async with beside(deployment.roll()):
                await submit_for(clients, seconds, per_s)
            await until(partial(_is_idle, store), 300)
    found = await audit(store.redis, clients.acknowledged.values(), principal=LOCAL.id)
    figures = {"rolls": len(deployment.rolls), "slowest_exit_s": round(max(deployment.rolls), 2)}
    keep("rolling SIGTERM", seed=seed, began=began, per_s=per_s, repeats=clients.repeats, **figures, **found.as_json())
    assert found.faults == []
    assert found.states["completed"] == seconds * per_s
    assert found.crashes == 0
