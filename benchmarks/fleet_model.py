"""`python -m benchmarks.fleet_model`: what fleets carry, by a discrete-event model fed with measured step times.

Owns two parts. *Measured*: the time that the store's thread takes for each step, on a real store with 10, 100 and
1,000 workers registered (`INFO commandstats`, the least of some batches). *Modelled*: workers, jobs and shards as the
program runs them: a shard does one step at a time; a worker sends its heartbeat and sweeps four times a lease to every
shard, looks into several shards in turn while idle, reports once a second and renews while it solves.
"""

import argparse
import asyncio
import heapq
import json
import random
import tempfile
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from benchmarks.result_files import machine, write
from benchmarks.scenarios import strewn_day
from planner_mcp.jobs import ids
from planner_mcp.jobs.job_model import Progress, SolveRequest, StoredScenario
from planner_mcp.jobs.job_ports import Claim
from planner_mcp.jobs.store.embedded_server import EmbeddedServer
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.queue.worker_store import ROUND_S
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from workers.attempts.job_attempt import HEARTBEAT_S
from workers.lease_reaper import SWEEPS_PER_LEASE

OWNER: Final = "bench"
TICKETS: Final = 100
"""Of the day whose plan is reported: its text is what a step writes."""
CALLS: Final = 100
BATCHES: Final = 4
"""The least mean of so many batches counts: on a busy machine the store's thread is interrupted."""
FLEETS: Final = (10, 100, 1000)
SOLVE_S: Final = 30.0
"""The default of `solve_time`."""
PLANS: Final = 8
"""Better plans of a solve; each is a report with a plan."""
WINDOW_S: Final = 120.0
WARM_S: Final = 60.0
CASES: Final = (
    (10, 1, 4.0, 20_000), (100, 1, 4.0, 200_000), (400, 1, 4.0, 1_000_000), (1000, 1, 4.0, 1_000_000),
    (1000, 1, 4.0, 2_500_000), (1000, 3, 4.0, 2_500_000), (1000, 6, 4.0, 2_500_000), (1000, 12, 4.0, 2_500_000),
    (2000, 1, 4.0, 5_000_000), (2000, 3, 4.0, 5_000_000),
)  # fmt: skip
"""Workers, shards, lease in seconds, jobs a day."""
SMALL_FLEET: Final = 32
TIMES_A_LEASE: Final = 8
"""As in `_dispatch_jobs.lua`: a larger fleet shares roll calls and sweeps, so many a lease."""
STEPS: Final = (
    "submit",
    "register_all",
    "reap_all",
    "claim",
    "claim_empty",
    "report",
    "report_plan",
    "renew",
    "finish",
    "register",
    "reap",
    "exchange",
)


@dataclass(frozen=True, slots=True)
class Carried:
    """What a fleet did in the model."""

    workers: int
    shards: int
    lease_s: float
    jobs_a_day: float
    done_a_day: float
    wait_p50_s: float
    wait_p99_s: float
    busy_workers: float
    busy_shard: float
    """Share of the time that the busiest shard works."""
    step_p99_ms: float
    """Time a step waits for its shard."""


# ---- measured


async def step_times_us(store: RedisStore, workers: int) -> dict[str, float]:
    """Return the store's microseconds for each step with so many workers registered."""
    for number in range(workers):
        await store.register(f"w{number}", 1)
    plan = {"status": "feasible", "cost": 10.0, "penalty": 0.0, "distance_m": 0, "duration_s": 0, "agents_used": 7}
    visits = [
        {"ticket_id": f"t-{n}", "location": f"P{n}", "arrival_s": 1.0 * n, "departure_s": 2.0 * n}
        for n in range(TICKETS)
    ]
    plan |= {"tickets_served": TICKETS, "tickets_total": TICKETS, "routes": [{"visits": visits}], "unassigned": []}
    scenario = ids.random_id("scn", 0)
    await store.put_scenario(StoredScenario(scenario, OWNER, strewn_day(TICKETS, 1), datetime.now(UTC), "hash"))
    found: dict[str, float] = {}

    async def measure(name: str, act: Callable[[int], Awaitable[Any]], calls: int = CALLS) -> list[Any]:
        answers, size = [], -(-calls // BATCHES)
        for batch in range(0, calls, size):
            await store.redis.config_resetstat()
            answers += [await act(number) for number in range(batch, min(calls, batch + size))]
            stat = (await store.redis.info("commandstats"))["cmdstat_evalsha"]
            found[name] = round(min(found.get(name, 1e9), stat["usec"] / stat["calls"]), 1)
        return answers

    jobs = min(CALLS, workers)
    requests = [SolveRequest(scenario, int(SOLVE_S), seed=number, fresh=True) for number in range(jobs)]
    await measure("submit", lambda n: store.submit(OWNER, requests[n], ids.random_id("job", 0)), jobs)
    answers = await measure("claim", lambda n: store.claim(f"w{n}", 0.0), jobs)
    claims = [claim for claim in answers if isinstance(claim, Claim)]
    assert len(claims) == jobs
    await measure("claim_empty", lambda n: store.claim(f"w{workers - 1 - n % 5}-idle", 0.0))

    def progress(n: int) -> Progress:
        return Progress(percent=n % 99, cost=10.0, elapsed_s=float(n))

    await measure("report", lambda n: store.report(claims[n % jobs], progress(n), None))
    await measure("report_plan", lambda n: store.report(claims[n % jobs], progress(n), plan | {"duration_s": n}))
    await measure("renew", lambda n: store.renew(claims[n % jobs]))
    await measure("exchange", lambda n: store.exchange(claims[n % jobs], None))
    await measure("register", lambda n: store.register(f"w{n % workers}", 1))
    await measure("reap", lambda _n: store.script_client.step("reap", 0, {"poison": "{}", "count": 100}))

    async def afresh(chore: str, act: Awaitable[Any]) -> None:
        await store.redis.hdel("{p0}:clock", chore)
        await act

    await measure("register_all", lambda n: afresh("called_ms", store.register(f"w{n % workers}", 1)))
    await measure(
        "reap_all", lambda _n: afresh("swept_ms", store.script_client.step("reap", 0, {"poison": "{}", "count": 100}))
    )
    await measure("finish", lambda n: store.complete(claims[n], progress(99), plan), jobs)
    return found


async def measured() -> dict[int, dict[str, float]]:
    """Return the step times for each size of fleet, each on an empty store."""
    times = {}
    for workers in FLEETS:
        with tempfile.TemporaryDirectory() as folder, EmbeddedServer(Path(folder), appendfsync="everysec") as server:
            settings = Settings(redis_url=server.url, data_dir=Path(folder), max_solving_per_principal=100_000)
            async with connect(settings) as store:
                times[workers] = await step_times_us(store, workers)
    return times


def times_for(measured_us: dict[int, dict[str, float]], workers: int) -> dict[str, float]:
    """Return seconds of each step for a fleet, linear between the sizes measured and beyond them."""
    sizes = sorted(measured_us)
    low, high = next(((a, b) for a, b in pairwise(sizes) if workers <= b), (sizes[-2], sizes[-1]))
    part = (workers - low) / (high - low)
    return {
        name: max(1.0, measured_us[low][name] + part * (measured_us[high][name] - measured_us[low][name])) / 1e6
        for name in STEPS
    }


# ---- modelled


class Model:
    """Workers, jobs and shards on one clock.

    Args:
        times_s: Of each step.
        workers: Of one slot each.
        shards: Each does one step at a time.
        jobs_a_s: Arrivals, at random.
        lease_s: Of every worker.
    """

    def __init__(
        self, times_s: dict[str, float], workers: int, shards: int, jobs_a_s: float, lease_s: float, seed: int = 1
    ) -> None:
        self._times_s, self._shards, self._jobs_a_s, self._lease_s = times_s, shards, jobs_a_s, lease_s
        self._dice = random.Random(seed)
        self._events: list[tuple[float, int, Callable[[float], None]]] = []
        self._number = 0
        self._free_at, self._worked_s = [0.0] * shards, [0.0] * shards
        self._queue: deque[tuple[float, int]] = deque()
        self._idle = set(range(workers))
        self._workers = workers
        self._chores_at = 0.0
        self.done, self.busy_s = 0, 0.0
        self.waits_s: list[float] = []
        self.delays_s: list[float] = []

    def run(self) -> Carried:
        """Run the window, after a while in which the fleet fills."""
        for worker in range(self._workers):
            self._every(self._lease_s / SWEEPS_PER_LEASE, self._keep_alive, self._dice.random())
            if self._shards > 1:
                self._every(ROUND_S, partial(self._look, worker=worker), self._dice.random())
        self._at(0.0, self._arrive)
        while self._events and self._events[0][0] < WARM_S + WINDOW_S:
            now, _number, act = heapq.heappop(self._events)
            act(now)
        return self._carried()

    def _at(self, when: float, act: Callable[[float], None]) -> None:
        self._number += 1
        heapq.heappush(self._events, (when, self._number, act))

    def _every(self, period_s: float, act: Callable[[float], None], phase: float) -> None:
        def again(now: float) -> None:
            act(now)
            self._at(now + period_s, again)

        self._at(phase * period_s, again)

    def _step(self, now: float, shard: int, name: str) -> float:
        """Have a shard do a step; return when it is done."""
        begins = max(now, self._free_at[shard])
        ends = self._free_at[shard] = begins + self._times_s[name]
        if now >= WARM_S:
            self._worked_s[shard] += self._times_s[name]
            if self._number % 7 == 0:  # a sample is enough
                self.delays_s.append(begins - now)
        return ends

    def _keep_alive(self, now: float) -> None:
        is_due = self._workers <= SMALL_FLEET or now >= self._chores_at
        if is_due:
            self._chores_at = now + self._lease_s / TIMES_A_LEASE
        for shard in range(self._shards):
            if is_due:
                self._step(now, shard, "register_all")
                self._step(now, shard, "reap_all")
            self._step(now, shard, "register")  # the heartbeat
            self._step(now, shard, "register")  # and a sweep
            self._step(now, shard, "reap")

    def _look(self, now: float, worker: int) -> None:
        if worker in self._idle:
            for shard in range(self._shards):
                self._step(now, shard, "claim_empty")

    def _arrive(self, now: float) -> None:
        shard = self._dice.randrange(self._shards)
        self._queue.append((self._step(now, shard, "submit"), shard))
        self._at(now + self._dice.expovariate(self._jobs_a_s), self._arrive)
        self._match(now)

    def _match(self, now: float) -> None:
        while self._idle and self._queue:
            queued_at, shard = self._queue.popleft()
            began = self._step(max(now, queued_at), shard, "claim")
            if self._shards > 1:
                began += self._dice.random() * ROUND_S / max(1, len(self._idle))
            if now >= WARM_S:
                self.waits_s.append(began - queued_at)
            self._solve(began, shard, self._idle.pop())

    def _solve(self, began: float, shard: int, worker: int) -> None:
        ends_at, period_s = began + SOLVE_S, self._lease_s / 4

        def report(now: float) -> None:
            if now < ends_at:
                is_plan = self._dice.random() < PLANS * HEARTBEAT_S / SOLVE_S
                self._step(now, shard, "report_plan" if is_plan else "report")
                self._at(now + HEARTBEAT_S, report)

        def renew(now: float) -> None:
            if now < ends_at:
                self._step(now, shard, "renew")
                self._at(now + period_s, renew)

        def finish(now: float) -> None:
            done_at = self._step(now, shard, "finish")
            if now >= WARM_S:
                self.done += 1
                self.busy_s += min(SOLVE_S, now - WARM_S)
            self._idle.add(worker)
            self._match(done_at)

        self._at(began + HEARTBEAT_S, report)
        self._at(began + period_s, renew)
        self._at(ends_at, finish)

    def _carried(self) -> Carried:
        waits = sorted(self.waits_s) or [float("inf")]
        waits += [WARM_S + WINDOW_S - at for at, _shard in self._queue if at < WARM_S + WINDOW_S]
        waits.sort()
        delays = sorted(self.delays_s) or [0.0]
        return Carried(
            workers=self._workers,
            shards=self._shards,
            lease_s=self._lease_s,
            jobs_a_day=round(self._jobs_a_s * 86400),
            done_a_day=round(self.done / WINDOW_S * 86400),
            wait_p50_s=round(waits[len(waits) // 2], 3),
            wait_p99_s=round(waits[int(len(waits) * 0.99)], 3),
            busy_workers=round(1 - len(self._idle) / self._workers, 3),
            busy_shard=round(max(self._worked_s) / WINDOW_S, 3),
            step_p99_ms=round(1000 * delays[int(len(delays) * 0.99)], 2),
        )


def upkeep(times_s: dict[str, float], workers: int, lease_s: float) -> float:
    """Return the share of a shard's time that heartbeats and sweeps take."""
    chores_s = times_s["register_all"] + times_s["reap_all"]
    rate = workers * SWEEPS_PER_LEASE / lease_s
    return rate * (2 * times_s["register"] + times_s["reap"]) + TIMES_A_LEASE / lease_s * chores_s


def row(carried: Carried) -> str:
    """Return a line of the table."""
    values = asdict(carried)
    return "| " + " | ".join(f"{value:,}" for value in values.values()) + " |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, or read what was measured, then run the model and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=Path, help="a result file whose step times to use")
    parser.add_argument("--keep", action="store_true", help="write a file into benchmarks/results")
    asked = parser.parse_args(arguments)
    about = machine()
    kept = json.loads(asked.times.read_text())["step_us"] if asked.times else None
    step_us = {int(size): times for size, times in kept.items()} if kept else asyncio.run(measured())
    for size, times in step_us.items():
        print(size, times)
    found = []
    for workers, shards, lease_s, jobs_a_day in CASES:
        found.append(Model(times_for(step_us, workers), workers, shards, jobs_a_day / 86400, lease_s).run())
        print(row(found[-1]), flush=True)
    sizes = (10, 100, 500, 1000, 2000, 4000)
    walls = {size: round(upkeep(times_for(step_us, size), size, Settings().lease_s), 3) for size in sizes}
    print("upkeep", walls)
    if asked.keep:
        carried = [asdict(each) for each in found]
        write("fleet-model", about, {"solve_s": SOLVE_S, "step_us": step_us, "upkeep": walls, "carried": carried})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
