"""Many streams, each broken off again and again and taken up at the other replica, while many jobs run.

`SOAK_STREAMS`, `SOAK_JOBS`, `SOAK_CUTS` and `SOAK_EVENTS` scale the long run; `SOAK_RECORD=file` keeps its figures.
"""

import itertools
import json
import os
import random
import resource
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

from benchmarks.result_files import commit, machine
from examples.planner_server import PlannerServer, running_server
from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.job_model import Progress, SolveRequest
from planner_mcp.jobs.job_ports import Claim
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import LOCAL
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.shared.scenarios.client_scenarios import SMALLEST
from tests.shared.scenarios.empty_plan import empty_plan
from tests.soak.sse_socket_reader import BusyError, Event, call, events

pytestmark = pytest.mark.anyio
PLAN = empty_plan()
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
VERSION = "2025-11-25"
SEED = int(os.environ.get("SOAK_SEED", "1"))


@dataclass(frozen=True)
class Size:
    """How much of it."""

    streams: int
    jobs: int
    cuts: int
    events: int
    """Of each job, the queueing and the end included."""


QUICK = Size(streams=60, jobs=12, cuts=5, events=20)
LONG = Size(
    *(int(os.environ.get(f"SOAK_{k}", v)) for k, v in (("STREAMS", 1000), ("JOBS", 200), ("CUTS", 20), ("EVENTS", 40)))
)


@dataclass
class Listener:
    """One reader that follows one job, breaks off where it was told to, and goes on elsewhere."""

    urls: list[str]
    headers: dict[str, str]
    cuts: set[int]
    expected: int
    heard: list[Event] = field(default_factory=list)
    opened: int = 0
    deferred: int = 0
    """Times a replica asked to come back."""

    async def run(self) -> None:
        while len(self.heard) < self.expected:
            try:
                await self._listen()
            except BusyError as busy:
                self.deferred += 1
                await anyio.sleep(busy.retry_after_s * (0.5 + random.random()))

    async def _listen(self) -> None:
        """Hear events until it is time to break off, or the stream ends."""
        resume = {"Last-Event-ID": self.heard[-1].id} if self.heard else {}
        url = self.urls[self.opened % len(self.urls)]
        async with aclosing(events(url, self.headers | resume, self._count)) as stream:
            async for event in stream:
                self.heard.append(event)
                if len(self.heard) >= self.expected or len(self.heard) in self.cuts:
                    self.cuts.discard(len(self.heard))
                    return

    def _count(self) -> None:
        self.opened += 1

    def faults(self) -> list[str]:
        """Return what is wrong with what was heard: something twice, out of order, or missing."""
        ids = [tuple(int(n) for n in event.id.rpartition(".")[2].split("-")) for event in self.heard]
        found = []
        if ids != sorted(set(ids)):
            found.append("repeated or out of order")
        if len(ids) != self.expected:
            found.append(f"{len(ids)} events instead of {self.expected}")
        return found


@dataclass
class Scene:
    """Two replicas, and the test in the part of the workers."""

    replicas: tuple[PlannerServer, PlannerServer]
    store: RedisStore
    job_service: JobService
    turns: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(8))
    """Of reports: all jobs report from this one process, beside the readers."""

    async def submit(self) -> str:
        scenario = await self.job_service.create_scenario(LOCAL, SMALLEST)
        return (await self.job_service.submit(LOCAL, SolveRequest(scenario.id, 60, fresh=True))).id

    async def work(self, jobs: int, count: int) -> None:
        """Claim every job and tell its events, all jobs side by side."""
        await self.store.register("soak", jobs)
        claims = [await self.store.claim("soak", 10) for _ in range(jobs)]
        async with anyio.create_task_group() as tasks:
            for claim in claims:
                assert claim is not None
                tasks.start_soon(self._report, claim, count - 3)

    async def _report(self, claim: Claim, improvements: int) -> None:
        for k in range(1, improvements + 1):
            share = 99 * k // (improvements + 1)
            progress = Progress(
                percent=share, cost=1000.0 - k, tickets_served=1, tickets_total=1, improvements=k, elapsed_s=float(k)
            )
            async with self.turns:
                await self.store.report(claim, progress, PLAN)
            await anyio.sleep(random.random() * 0.4)
        async with self.turns:
            await self.store.complete(claim, progress, PLAN)

    async def open_session(self, replica: PlannerServer) -> dict[str, str]:
        """Return the headers of a new session."""
        info = {"name": "soak", "version": "1"}
        params = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": info}
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        found, _answer = await call(replica.mcp, HEADERS, body)
        return {"Mcp-Session-Id": found["mcp-session-id"], "MCP-Protocol-Version": VERSION}

    async def subscribe(self, replica: PlannerServer, job_id: str) -> dict[str, str]:
        """Return the headers of a new session that watches a job."""
        session = await self.open_session(replica)
        body = {"jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": {"uri": f"job://{job_id}"}}
        _found, answer = await call(replica.mcp, HEADERS | session, body)
        assert answer["result"] == {}, answer
        return session

    def resident_mib(self) -> list[float]:
        """Return the memory of each replica."""
        pages = [int(Path(f"/proc/{server.pid}/statm").read_text().split()[1]) for server in self.replicas]
        return [round(count * os.sysconf("SC_PAGE_SIZE") / 2**20, 1) for count in pages]


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 8192)), hard))
    limits = {"PLANNER_MAX_STREAMS": "5000", "PLANNER_MAX_QUEUED_PER_PRINCIPAL": "5000"}
    settings = Settings(data_dir=tmp_path, lease_s=900, max_queued_per_principal=5000, max_solving_per_principal=5000)
    async with (
        running_server(tmp_path, workers=0, settings=limits) as one,
        running_server(tmp_path, workers=0, settings=limits, log=tmp_path / "two.log") as two,
        connect(settings) as store,
        EventFeed(store) as feed,
    ):
        yield Scene((one, two), store, JobService(store, feed, settings=settings))


def listener(scene: Scene, job_id: str, session: dict[str, str] | None, size: Size, rng: random.Random) -> Listener:
    """Return a listener on the job's own channel, or on the standalone stream of a session that watches it."""
    servers = list(scene.replicas)
    rng.shuffle(servers)
    expected = size.events - (1 if session else 0)  # a session is not told of what was before its subscription
    cuts = set(rng.sample(range(1, expected), min(size.cuts, expected - 1)))
    if session is None:
        return Listener([f"{server.url}/jobs/{job_id}/events" for server in servers], {}, cuts, expected)
    return Listener([server.mcp for server in servers], session, cuts, expected)


async def soak(scene: Scene, size: Size) -> dict[str, Any]:
    """Run it; return the figures."""
    rng, began = random.Random(SEED), time.monotonic()
    jobs = [await scene.submit() for _ in range(size.jobs)]
    empty = scene.resident_mib()
    sessions = [await scene.subscribe(scene.replicas[n % 2], jobs[n % size.jobs]) for n in range(size.streams // 2)]
    idle = scene.resident_mib()
    listeners = [
        listener(scene, jobs[n % size.jobs], sessions[n] if n < len(sessions) else None, size, rng)
        for n in range(size.streams)
    ]
    async with anyio.create_task_group() as tasks:
        for each in listeners:
            tasks.start_soon(each.run)
            await anyio.sleep(0.005)  # nobody's readers all come in the same instant
        while not all(each.opened for each in listeners):  # noqa: ASYNC110 the figure is looked at once
            await anyio.sleep(0.05)
        quiet = scene.resident_mib()
        tasks.start_soon(scene.work, size.jobs, size.events)
    bad = [fault for each in listeners for fault in each.faults()]
    assert bad == []
    return {
        "streams": size.streams,
        "jobs": size.jobs,
        "reconnects": sum(each.opened - 1 for each in listeners),
        "asked_to_come_back": sum(each.deferred for each in listeners),
        "events_heard": sum(len(each.heard) for each in listeners),
        "missed_or_repeated": len(bad),
        "empty_mib": empty,
        "idle_sessions": len(sessions),
        "with_idle_sessions_mib": idle,
        "with_streams_mib": quiet,
        "at_the_end_mib": scene.resident_mib(),
        "kib_per_idle_session": per_unit(empty, idle, len(sessions)),
        "kib_per_stream": per_unit(idle, quiet, size.streams),
        "took_s": round(time.monotonic() - began, 1),
    }


def per_unit(before: list[float], after: list[float], count: int) -> float:
    """Return how many KiB each unit cost, both replicas together."""
    return round((sum(after) - sum(before)) * 1024 / count, 2)


def print_figures(figures: dict[str, Any]) -> None:
    """Print the figures; keep them in the file that `SOAK_RECORD` names."""
    print(f"\n[soak] seed={SEED} " + " ".join(f"{name}={value}" for name, value in figures.items()))  # noqa: T201
    if name := os.environ.get("SOAK_RECORD"):
        at = datetime.now(UTC).isoformat(timespec="seconds")
        record = {"at": at, "commit": commit(), "seed": SEED, "figures": figures, "machine": machine()}
        Path(name).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


@pytest.mark.slow
async def test_readers_that_change_replica_hear_every_event_once(scene: Scene) -> None:
    """SPEC J4, J2: job channel and MCP streams alike; nothing missed, nothing twice, in order."""
    print_figures(await soak(scene, QUICK))


@pytest.mark.chaos
@pytest.mark.timeout(7200)
async def test_a_thousand_streams_hear_every_event_once(scene: Scene) -> None:
    """SPEC J4: 1000 streams on two replicas, each broken off twenty times, while 200 jobs run."""
    print_figures(await soak(scene, LONG))


@pytest.mark.slow
async def test_idle_session_costs_the_process_nothing(scene: Scene) -> None:
    """SPEC X1, J9: a session is a row in the store; a thousand idle ones leave no trace in a replica."""
    replica = scene.replicas[0]
    resident = []
    for _ in range(6):
        for _ in range(500):
            await scene.open_session(replica)
        resident.append(scene.resident_mib()[0])
    growth = [after - before for before, after in itertools.pairwise(resident)]
    print(f"\n[soak] MiB for each 500 sessions: {growth}")  # noqa: T201
    assert min(growth) * 1024 / 500 < 0.5, "what leaks grows in every batch; caches and arenas fill once"
