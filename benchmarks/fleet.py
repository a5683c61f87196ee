"""`python -m benchmarks.fleet`: what a team is worth against threads, and what a drain costs, through real workers.

Owns two paired comparisons over the same days and seeds, with workers that have solved before. *Team*: one job on two
workers with a core each, against one worker with two cores; the pair runs one after the other, in turning order.
*Drain*: the worker of a job is stopped by SIGTERM in mid-solve and an idle one goes on, against a job that is left
alone; the pair runs at the same time, on a core each. Every figure is the cost of the one over that of the other, so
the load of the machine falls on both.
"""

import argparse
import asyncio
import os
import signal
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, median
from typing import Any, Final

from benchmarks.result_files import machine, write
from benchmarks.scenarios import strewn_day
from planner_mcp.jobs import ids
from planner_mcp.jobs.job_model import Job, SolveRequest, StoredScenario
from planner_mcp.jobs.store.embedded_server import EmbeddedServer
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from workers.supervisor import Supervisor

OWNER: Final = "bench"
SIZES: Final = (60, 150, 400, 1000)
"""Tickets of the days."""
POLL_S: Final = 0.05
WARM_S: Final = 3
"""Of a first job of each worker."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One comparison on one day with one seed."""

    kind: str
    tickets: int
    seed: int
    cost: float
    """With a team, or with a drain."""
    base: float
    """With threads, or undisturbed."""
    load: float

    @property
    def ratio(self) -> float:
        """Above 1: what is compared is dearer than its base."""
        return self.cost / self.base


async def _submit(store: RedisStore, tickets: int, seed: int, solve_s: int, **more: Any) -> Job:
    scenario_id = ids.random_id("scn", 0)
    body = strewn_day(tickets, seed)
    await store.put_scenario(StoredScenario(scenario_id, OWNER, body, datetime.now(UTC), "hash"))
    request = SolveRequest(scenario_id, solve_s, seed=seed, fresh=True, **more)
    return await store.submit(OWNER, request, ids.random_id("job", 0))


async def _ended(store: RedisStore, job: Job) -> float:
    while not (now := await store.get_job(OWNER, job.id)).is_terminal:  # noqa: ASYNC110 — a benchmark has time
        await asyncio.sleep(POLL_S)
    assert now.summary is not None and now.summary.cost is not None, now.error
    return now.summary.cost


class Fleet:
    """Workers that stay for a measurement."""

    def __init__(self, settings: Settings, workers: int, cores: int) -> None:
        self.supervisor = Supervisor(settings.model_copy(update={"solve_cores": cores}), workers)
        self._running: asyncio.Task[None]

    async def __aenter__(self) -> "Fleet":
        self._running = asyncio.create_task(self.supervisor.run())
        return self

    async def __aexit__(self, *_: object) -> None:
        self.supervisor.drain()
        self.supervisor.drain()
        await self._running


async def _warm(store: RedisStore, workers: int) -> None:
    """Return when every worker has solved a job, and so has loaded the solvers."""
    while (await store.stats()).live_slots != workers:  # noqa: ASYNC110 — as above
        await asyncio.sleep(POLL_S)
    jobs = [await _submit(store, 20, number, WARM_S) for number in range(workers)]
    await asyncio.gather(*(_ended(store, job) for job in jobs))


async def _team(store: RedisStore, settings: Settings, tickets: int, seed: int, solve_s: int) -> Pair:
    async def with_team() -> float:
        async with Fleet(settings, 2, 1):
            await _warm(store, 2)
            return await _ended(store, await _submit(store, tickets, seed, solve_s, cores=2))

    async def with_threads() -> float:
        async with Fleet(settings, 1, 2):
            await _warm(store, 1)
            return await _ended(store, await _submit(store, tickets, seed, solve_s))

    if seed % 2:
        cost, base = await with_team(), await with_threads()
    else:
        base = await with_threads()
        cost = await with_team()
    return Pair("team", tickets, seed, cost, base, round(os.getloadavg()[0], 2))


async def _drain(store: RedisStore, settings: Settings, tickets: int, seed: int, solve_s: int) -> Pair:
    async with Fleet(settings, 3, 1) as fleet:
        await _warm(store, 3)
        base, drained = [await _submit(store, tickets, seed, solve_s) for _ in range(2)]
        while (now := await store.get_job(OWNER, drained.id)).progress.elapsed_s < solve_s / 2:  # noqa: ASYNC110
            await asyncio.sleep(POLL_S)
        worker = await store.redis.hget(f"{{p0}}:job:{drained.id}", "worker")
        os.kill(int(worker.split("-")[-2]), signal.SIGTERM)  # the supervisor starts another in its place
        cost, base_cost = await asyncio.gather(_ended(store, drained), _ended(store, base))
        assert now.crashes == 0 and fleet.supervisor.pids
    return Pair("drain", tickets, seed, cost, base_cost, round(os.getloadavg()[0], 2))


def summary(pairs: Sequence[Pair]) -> str:
    """Return a line for each kind and size, and one for each kind."""
    lines = [
        "| | tickets | pairs | mean ratio | median | best, worst | better, same, worse |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for kind in dict.fromkeys(pair.kind for pair in pairs):
        of_kind = [pair for pair in pairs if pair.kind == kind]
        for size in (*dict.fromkeys(pair.tickets for pair in of_kind), None):
            ratios = [pair.ratio for pair in of_kind if size in (pair.tickets, None)]
            signs = [sum(ratio < 0.99999 for ratio in ratios), 0, sum(ratio > 1.00001 for ratio in ratios)]
            signs[1] = len(ratios) - sum(signs)
            lines.append(
                f"| {kind} | {size or 'all'} | {len(ratios)} | {fmean(ratios):.4f} | {median(ratios):.4f} | "
                f"{min(ratios):.4f}, {max(ratios):.4f} | {', '.join(map(str, signs))} |"
            )
    return "\n".join(lines)


async def _measure(kinds: Sequence[str], sizes: Sequence[int], seeds: int, solve_s: int) -> list[Pair]:
    pairs: list[Pair] = []
    with tempfile.TemporaryDirectory() as folder, EmbeddedServer(Path(folder), appendfsync="everysec") as server:
        settings = Settings(redis_url=server.url, data_dir=Path(folder))
        async with connect(settings) as store:
            for seed in range(1, seeds + 1):
                for tickets in sizes:
                    for kind in kinds:
                        pair = await {"team": _team, "drain": _drain}[kind](store, settings, tickets, seed, solve_s)
                        pairs.append(pair)
                        print(f"{kind} {tickets} seed {seed}: {pair.ratio:.4f} (load {pair.load})", flush=True)
    return pairs


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, keep the pairs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", nargs="+", default=["team", "drain"], choices=["team", "drain"])
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--solve-s", type=int, default=10)
    parser.add_argument("--keep", action="store_true", help="write a file into benchmarks/results")
    asked = parser.parse_args(arguments)
    about = machine()
    pairs = asyncio.run(_measure(asked.kinds, asked.sizes, asked.seeds, asked.solve_s))
    print(summary(pairs))
    if asked.keep:
        write("fleet", about, {"solve_s": asked.solve_s, "pairs": [asdict(pair) for pair in pairs]})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
