"""Submits jobs as clients do, waits for the last of them to end, and lets something happen meanwhile.

Owns the client's half of a storm: every submit carries an idempotency key and is repeated until it is acknowledged, so
what was acknowledged is known exactly. What dies, and when, is a test's.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from planner_mcp.errors import StoreUnavailableError
from planner_mcp.jobs import ids
from planner_mcp.jobs.job_model import SolveRequest, StoredScenario
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.task_cancellation import cancel_until_done
from tests.shared.processes.wait_until import until
from tests.shared.scenarios.client_scenarios import SMALLEST
from tests.shared.scenarios.seeded_fleet import fleet_body

CLIENT: Final = "ann"
HOOK: Final = "https://example.org/hook"
CLIENTS: Final = 4
"""Submits that are under way at once."""


@dataclass
class SubmittingClients:
    """Clients with jobs to submit.

    Args:
        store: Where to.
        dice: Decides which job is long.
        long_share: Share of jobs that take about a second; the others take none.
        is_light: Whether light workers solve, which read `busy_s` and nothing else, and leave the outbox alone.
        among: Pools the jobs are dealt to in turn; all of them unless said otherwise.
        is_keyed: Whether a submit carries a key, which has a home in some pool, or is known by its arguments.
        cores: What each job asks for; more than a worker has make teams.
    """

    store: RedisStore
    dice: random.Random
    long_share: float = 0.05
    is_light: bool = True
    among: Sequence[int] = ()
    is_keyed: bool = True
    cores: int | None = None
    acknowledged: dict[int, str] = field(default_factory=dict)
    refusals: int = 0
    quick: list[str] = field(default_factory=list)
    long: list[str] = field(default_factory=list)

    async def open(self) -> None:
        """Create the scenarios, a quick and a long one in each pool."""
        self.among = self.among or range(self.store.script_client.pools)
        for shard in self.among:
            self.quick.append(await self.scenario({"busy_s": 0} if self.is_light else SMALLEST, shard))
            self.long.append(await self.scenario({"busy_s": 1.0} if self.is_light else fleet_body(120), shard))

    async def scenario(self, body: dict[str, Any], shard: int = 0) -> str:
        """Keep a scenario and return its name."""
        name = ids.random_id("scn", shard)
        await self.store.put_scenario(StoredScenario(name, CLIENT, body, datetime.now(UTC), "hash"))
        return name

    async def submit(self, numbers: range, *, per_s: float = 1e9) -> None:
        """Submit jobs, no faster than `per_s`; return when each is acknowledged."""
        begins, left = time.monotonic(), iter(numbers)

        async def client() -> None:
            for number in left:
                await asyncio.sleep(begins + (number - numbers.start) / per_s - time.monotonic())
                await self._block_with_retry(number)

        await asyncio.gather(*(client() for _ in range(CLIENTS)))

    async def _block_with_retry(self, number: int) -> None:
        is_long, turn = self.dice.random() < self.long_share, number % len(self.among)
        request = SolveRequest(
            (self.long if is_long else self.quick)[turn],
            1 if is_long else 20,
            seed=number,
            idempotency_key=f"call-{number}" if self.is_keyed else None,
            callback_url=HOOK if self.is_light else None,
            cores=self.cores,
        )
        while True:
            try:
                job = await self.store.submit(CLIENT, request, ids.random_id("job", self.among[turn]))
            except StoreUnavailableError:
                self.refusals += 1
                await asyncio.sleep(0.05)
            else:
                self.acknowledged[number] = job.id
                return

    async def ended(self) -> int:
        """Return how many of the jobs have ended; -1 while the store, or a part of it, is away."""
        try:
            stats = await self.store.stats()
        except StoreUnavailableError:
            return -1
        return -1 if stats.pools_away else len(self.acknowledged) - stats.queued - stats.solving

    async def until_ended(self, count: int, within_s: float) -> None:
        """Return when `count` jobs were acknowledged and have ended."""

        async def have_ended() -> bool:
            return len(self.acknowledged) >= count and await self.ended() >= count

        await until(have_ended, within_s)


@asynccontextmanager
async def beside(*works: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Let works go on for the length of a block; a work that fails ends the block."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(work) for work in works]
        try:
            yield
        finally:
            await cancel_until_done(tasks)


async def repeated_faults(every_s: float, strike: Callable[[], Awaitable[None]]) -> None:
    """Strike again and again until cancelled."""
    while True:
        await asyncio.sleep(every_s)
        await strike()
