"""A fault at each place in the engine that calls Redis, three ways: before, after, and without an answer.

The places are searched for in the sources, and each must be reached; a day in which every use case occurs is then
played once for each place and kind of fault. Whoever calls repeats, as real callers and workers do.
"""

import ast
import inspect
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import pytest
from redis.exceptions import ConnectionError as ConnectionLostError
from redis.exceptions import TimeoutError as NoAnswerError

from planner_mcp.errors import IdempotencyConflictError, NotFoundError, StoreUnavailableError
from planner_mcp.jobs import ids
from planner_mcp.jobs.job_model import Job, Progress, SolveRequest, StoredScenario
from planner_mcp.jobs.job_ports import Claim
from planner_mcp.jobs.store.connection import store_part
from planner_mcp.jobs.store.connection.script_client import ScriptClient
from planner_mcp.jobs.store.events import event_log
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.queue import job_store, worker_store
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.shared.store.store_audit import audit

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]
ENGINE: tuple[ModuleType, ...] = (store_part, job_store, worker_store, event_log)
CLIENT_METHODS = ("step", "safe_step", "command", "owned", "read_group", "read_stream")
FAULTS = ("before", "after", "no answer")
LONGEST_S = 60
SHORT_WAIT_S, LONG_WAIT_S = 0.01, 0.5
"""Of a claim that finds nothing; it waits at the store only if looking into each shard has not taken as long."""
PLAN_SITES = 2
"""Places that read the plan a job starts from."""
OWNER = "ann"
PLAN = {"status": "feasible", "cost": 1.0, "unassigned": []}
HALF = Progress(percent=50, cost=1.0)
Site = tuple[str, int]
"""File and line."""

_here: ContextVar[Site] = ContextVar("_here")


def sites_in_source() -> dict[Site, str]:
    """Return every call of the line to Redis in the engine, with what it looks like."""
    found = {}
    for module in ENGINE:
        path = Path(inspect.getsourcefile(module) or "")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _is_client_call(node.func):
                found[path.name, node.lineno] = ast.unparse(node)[:60]
    return found


def _is_client_call(called: ast.expr) -> bool:
    return (
        isinstance(called, ast.Attribute)
        and called.attr in CLIENT_METHODS
        and ast.unparse(called.value) == "self._script_client"
    )


@dataclass
class Saboteur:
    """Decides which call fails, how, and remembers who called."""

    site: Site | None = None
    fault: str = ""
    has_struck: bool = False
    reached: set[Site] = field(default_factory=set)

    def is_due(self) -> bool:
        """Return whether the call of now is the one to fail, once."""
        is_it = not self.has_struck and _here.get(("", 0)) == self.site
        self.has_struck |= is_it
        return is_it


class MarkedScriptClient:
    """A line to Redis that notes from which place it is called."""

    def __init__(self, script_client: ScriptClient, saboteur: Saboteur) -> None:
        self._script_client, self._saboteur = script_client, saboteur

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._script_client, name)
        return self._marked(found) if name in CLIENT_METHODS else found

    def _marked(self, call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        def called(*args: Any, **named: Any) -> Awaitable[Any]:
            frame = sys._getframe(1)
            return marked((Path(frame.f_code.co_filename).name, frame.f_lineno), *args, **named)

        async def marked(site: Site, *args: Any, **named: Any) -> Any:
            self._saboteur.reached.add(site)
            token = _here.set(site)
            try:
                return await call(*args, **named)
            finally:
                _here.reset(token)

        return called


class FaultyClient:
    """A client of which one command fails."""

    def __init__(self, client: Any, saboteur: Saboteur) -> None:
        self._client, self._saboteur = client, saboteur

    async def execute_command(self, *words: Any) -> Any:
        if not self._saboteur.is_due():
            return await self._client.execute_command(*words)
        if self._saboteur.fault == "before":
            raise ConnectionLostError
        await self._client.execute_command(*words)
        raise ConnectionLostError if self._saboteur.fault == "after" else NoAnswerError

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)


@pytest.fixture
async def sabotaged(settings: Settings) -> AsyncIterator[tuple[RedisStore, Saboteur]]:
    """A store of two shards, so that nothing an engine does is left out, and who makes it fail."""
    saboteur = Saboteur()
    wide = {"pools": 2, "lease_s": 1.0}
    async with connect(settings.model_copy(update=wide)) as store:
        script_client = store._script_client
        script_client.commands, script_client._blocking = (
            FaultyClient(each, saboteur) for each in (script_client.commands, script_client._blocking)
        )
        store._script_client = MarkedScriptClient(script_client, saboteur)  # type: ignore[assignment]
        yield store, saboteur


async def insist(call: Callable[..., Awaitable[Any]], *args: Any, **named: Any) -> Any:
    """Call until the store confirms it."""
    while True:
        with suppress(StoreUnavailableError):
            return await call(*args, **named)


class Day:
    """One of everything that callers and workers do, each step repeated until it is confirmed."""

    def __init__(self, store: RedisStore, *, wait_s: float) -> None:
        self._store = store
        self._wait_s = wait_s
        self._numbers: Iterator[int] = iter(range(100))
        self.scenario = ids.random_id("scn", 0)
        self.jobs: list[str] = []
        self.began_warm = False

    async def play(self) -> None:
        """Play it."""
        store = self._store
        scenario = StoredScenario(self.scenario, OWNER, {}, datetime.now(UTC), "h", prices_of=self.scenario)
        await insist(store.put_scenario, scenario)
        await insist(store.get_scenario, OWNER, self.scenario)
        await insist(store.last_job, OWNER, self.scenario)
        await insist(store.parent, OWNER, self.scenario)
        await insist(store.register, "w1", 1)
        assert await insist(store.claim, "w1", self._wait_s) is None
        await insist(store.wait_control, 0.01)
        first = await self.completed()
        await self.completed(warm_plan_id=ids.plan_of(first.id))
        await self.failed()
        await self.crashed()
        await self.handed_back()
        await self.cancelled()
        await self.refused()
        await self.watched(first)
        await insist(store.register, "w1", 0)

    async def submit(self, **more: Any) -> Job:
        number = next(self._numbers)
        request = SolveRequest(self.scenario, 1, seed=number, idempotency_key=f"k{number}", callback_url=HOOK, **more)
        job: Job = await insist(self._store.submit, OWNER, request, ids.random_id("job", 0))
        self.jobs.append(job.id)
        return job

    async def claim(self) -> Claim:
        """Take the next job, and look after deliveries of which no answer came."""
        while (claim := await insist(self._store.claim, "w1", 0.05)) is None:
            await insist(self._store.reap)
            await insist(self._store.register, "w1", 1)
        held: Claim = claim
        return held

    async def completed(self, **more: Any) -> Job:
        job = await self.submit(**more)
        claim = await self.claim()
        assert claim.best_plan is None or more
        self.began_warm = claim.best_plan is not None
        await insist(self._store.renew, claim)
        await insist(self._store.report, claim, HALF, PLAN)
        await insist(self._store.finish_now, OWNER, job.id)
        await insist(self._store.complete, claim, HALF, PLAN)
        return job

    async def failed(self) -> None:
        await self.submit()
        await insist(self._store.fail, await self.claim(), {"code": 1})

    async def crashed(self) -> None:
        await self.submit()
        await insist(self._store.crash, await self.claim(), {"code": 1})
        await insist(self._store.complete, await self.claim(), HALF, PLAN)

    async def handed_back(self) -> None:
        await self.submit()
        await insist(self._store.hand_back, await self.claim())
        await insist(self._store.complete, await self.claim(), HALF, PLAN)

    async def cancelled(self) -> None:
        job = await self.submit()
        await insist(self._store.get_job, OWNER, job.id)
        claim = await self.claim()
        await insist(self._store.cancel, OWNER, job.id, keep_best=True)
        await insist(self._store.wait_control, 0.01)
        await insist(self._store.settle_cancel, claim)

    async def refused(self) -> None:
        """Have a submit refused that named a key, and then one that names it with other arguments."""
        for solve_time_s in (1, 2):
            request = SolveRequest(ids.random_id("scn", 0), solve_time_s, idempotency_key="refused")
            with suppress(NotFoundError, IdempotencyConflictError):  # a conflict: the first may be under way
                await insist(self._store.submit, OWNER, request, ids.random_id("job", 0))

    async def watched(self, job: Job) -> None:
        store = self._store
        await insist(store.get_job, OWNER, job.id)
        await insist(store.list_jobs, OWNER, None, offset=0, count=5)
        await insist(store.list_scenarios, OWNER, offset=0, count=5)
        await insist(store.get_plan, OWNER, ids.plan_of(job.id))
        await insist(store.share_generation, OWNER, job.id)
        assert (await insist(store.read_past, OWNER, job.id)).is_over
        await insist(store.feed_end, 0)
        await insist(store.read_feed, 0, "0", wait_s=0.01, wanted={job.id})
        await insist(store._was_trimmed, "{p0}:feed", "0")
        await insist(store.stats)
        await insist(store.open_work)
        await insist(store.workers)
        await insist(store.measurements)
        await insist(store.ping)
        await insist(store.confirm)
        await insist(store.reap)


HOOK = "https://example.org"


@pytest.mark.slow
async def test_each_call_to_redis_may_fail(
    sabotaged: tuple[RedisStore, Saboteur], capsys: pytest.CaptureFixture[str]
) -> None:
    """SPEC J6, J7, W3: nothing is lost, happens twice or is stuck, whichever call fails; in one of three ways each."""
    await _fail_at_each_site(*sabotaged, capsys, lambda number: (FAULTS[number % len(FAULTS)],))


@pytest.mark.slow
async def test_each_call_to_redis_may_fail_in_three_ways(
    sabotaged: tuple[RedisStore, Saboteur], capsys: pytest.CaptureFixture[str]
) -> None:
    """SPEC J6, J7, W3: nothing is lost, nothing happens twice, nothing is stuck, whichever call fails and how."""
    await _fail_at_each_site(*sabotaged, capsys, lambda _number: FAULTS)


async def _fail_at_each_site(
    store: RedisStore,
    saboteur: Saboteur,
    capsys: pytest.CaptureFixture[str],
    faults_at: Callable[[int], Sequence[str]],
) -> None:
    """Play the day once for each place and each fault that is tried there."""
    sites, cold, tried = sites_in_source(), 0, 0
    for number, site in enumerate(sites):
        for fault in faults_at(number):
            tried += 1
            saboteur.site, saboteur.fault, saboteur.has_struck = site, fault, False
            await store.redis.flushdb()
            store._control_read_to.clear()  # as a worker that has just started
            day = Day(store, wait_s=LONG_WAIT_S if "read_group" in sites[site] else SHORT_WAIT_S)
            with anyio.fail_after(LONGEST_S):
                await day.play()
            assert saboteur.has_struck, f"{site} {sites[site]} was not reached"
            assert (await audit(store.redis, day.jobs, principal=OWNER)).faults == [], (sites[site], fault)
            cold += not day.began_warm
    assert cold <= PLAN_SITES * len(FAULTS), "a plan to start from is done without only where it cannot be read"
    assert saboteur.reached == set(sites)
    with capsys.disabled():
        print(f"\n[faults] {len(sites)} call sites in {len(ENGINE)} files, {tried} faults")  # noqa: T201
