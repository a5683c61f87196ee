"""The power fails: of each file only what was made durable is left (SPEC J7).

`kill -9` proves nothing about durability, because the kernel keeps what was written. So a small preloaded library
(`fsync_recorder.c`) notes how long a file was at each fsync; the test kills the server, cuts the append-only file to
that length or, harsher, somewhere between it and its end, and starts the server again. `CUTS` sets the number of power
cuts and `CUT_WRITES_S` how long is written before each.
"""

import asyncio
import random
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from planner_mcp.errors import NotFoundError, StoreUnavailableError
from planner_mcp.jobs import ids
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Progress, SolveRequest
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.chaos.job_driver import CLIENT, SubmittingClients
from tests.shared.store.chaos_results import keep, size_of, sizes
from tests.shared.store.store_audit import chaos_settings
from tests.shared.store.valkey_server import Valkey
from tests.shared.workers.stub_solver_worker import PLAN

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler"),
]
WRITERS = 4
EVERYSEC_LOSS_S = 3.0
"""What `everysec` may lose: the second between two flushes, and the two for which a write waits for a slow one."""


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled library."""
    library = tmp_path_factory.mktemp("shim") / "fsync_recorder.so"
    source = Path(__file__).with_name("fsync_recorder.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    return library


@dataclass
class Machine:
    """A server whose power can be cut."""

    valkey: Valkey
    log: Path
    dice: random.Random

    def cut_power(self, *, is_torn: bool) -> None:
        """Kill the server and take from its files what was not durable; torn: a random part of that was."""
        self.valkey.kill()
        for path, durable in self._durable().items():
            end = path.stat().st_size
            with path.open("r+b") as file:
                file.truncate(self.dice.randint(durable, end) if is_torn else durable)
        self.log.unlink(missing_ok=True)

    def _durable(self) -> dict[Path, int]:
        """Return how much of each part of the append-only file is durable: nothing of one never flushed."""
        lengths = dict.fromkeys(self.valkey.folder.glob("appendonlydir/*.incr.aof"), 0)
        for line in self.log.read_text().splitlines() if self.log.exists() else ():
            size, _space, name = line.partition(" ")
            if Path(name) in lengths:
                lengths[Path(name)] = int(size)
        return lengths


def machine(folder: Path, shim: Path, policy: str, dice: random.Random) -> Iterator[Machine]:
    """Start a server under the library; flushes that come with its start are noted too."""
    log = folder / "synced.log"
    environment = {"LD_PRELOAD": str(shim), "SYNCED_LOG": str(log)}
    with Valkey(folder / "data", environment=environment, appendfsync=policy) as valkey:
        yield Machine(valkey, log, dice)


@dataclass
class Written:
    """One acknowledged change."""

    job_id: str
    state: JobState
    at: float


async def write(store: RedisStore, scenario: str, numbers: Iterator[int], written: list[Written]) -> None:
    """Submit jobs, complete every second one, and note what was acknowledged and when, until the store is away."""
    worker = f"w{id(numbers)}-{random.random()}"
    try:
        for number in numbers:
            request = SolveRequest(scenario, 20, seed=number, callback_url="https://example.org")
            job = await store.submit(CLIENT, request, ids.random_id("job", 0))
            written.append(Written(job.id, JobState.QUEUED, time.monotonic()))
            if number % 2:
                await store.register(worker, 1)
                if claim := await store.claim(worker, 0):
                    await store.complete(claim, Progress(), PLAN)
                    written.append(Written(claim.job.id, JobState.COMPLETED, time.monotonic()))
    except StoreUnavailableError:
        return


async def losses(store: RedisStore, written: list[Written]) -> list[Written]:
    """Return the acknowledged changes that are gone; fail on a job that is there by half."""
    lost = []
    for change in written:
        try:
            job = await store.get_job(CLIENT, change.job_id)
        except NotFoundError:
            lost.append(change)
            continue
        if change.state is JobState.COMPLETED and job.state is not JobState.COMPLETED:
            lost.append(change)
        await assert_whole(store, change.job_id)
    return lost


async def assert_whole(store: RedisStore, job_id: str) -> None:
    """A job that is there has its events, its place and, when it has ended, its plan and its outbox entry."""
    job = await store.get_job(CLIENT, job_id)
    events = (await store.read_past(CLIENT, job_id)).events
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    assert events[-1].id == job.event_id
    redis = store.redis
    if job.state is JobState.QUEUED:
        waits = await redis.zscore(f"{{p0}}:bl:{CLIENT}", job_id) is not None
        is_out = bool(await redis.sismember(f"{{p0}}:out:{CLIENT}", job_id))
        assert waits != is_out
    if job.state is JobState.COMPLETED:
        assert await store.get_plan(CLIENT, job.plan_id or "") == PLAN
        assert (await redis.xrange("{p0}:outbox", events[-1].id.partition("-")[0], "+", count=1)) != []


async def one_cut(machine: Machine, settings: Settings, seconds: float, *, is_torn: bool) -> tuple[int, list[float]]:
    """Write for a while, cut the power, look; return what was acknowledged and the ages of what was lost."""
    written: list[Written] = []
    async with connect(settings) as store:
        await store.redis.flushall()
        crowd = SubmittingClients(store, machine.dice)
        await crowd.open()
        numbers = iter(range(10**9))
        writers = [asyncio.create_task(write(store, crowd.quick[0], numbers, written)) for _ in range(WRITERS)]
        await asyncio.sleep(seconds)
        cut_at = time.monotonic()
        await asyncio.to_thread(machine.cut_power, is_torn=is_torn)
        await asyncio.gather(*writers)
    await asyncio.to_thread(machine.valkey.start)
    async with connect(settings) as store:
        lost = await losses(store, written)
    return len(written), [cut_at - change.at for change in lost]


async def cuts(folder: Path, shim: Path, policy: str, seed: int, count: int) -> tuple[int, list[float]]:
    """Cut the power several times, every second time torn."""
    seconds, acknowledged, ages = size_of("CUT_WRITES_S", 3), 0, []
    for machine_ in machine(folder, shim, policy, random.Random(seed)):
        settings = chaos_settings(Settings(redis_url=machine_.valkey.url, data_dir=folder))
        for number in range(count):
            there, lost = await one_cut(machine_, settings, seconds, is_torn=number % 2 == 1)
            acknowledged, ages = acknowledged + there, ages + lost
    return acknowledged, ages


@sizes("CUTS", quick=1, long=6)
async def test_what_was_acknowledged_under_always_survives_a_power_cut(
    tmp_path: Path, shim: Path, seed: int, size: int
) -> None:
    """SPEC J7: `appendfsync always`, the default of the embedded store: nothing is lost, nothing is there by half."""
    began = time.monotonic()
    acknowledged, ages = await cuts(tmp_path, shim, "always", seed, size)
    keep("power cut, always", seed=seed, began=began, cuts=size, acknowledged=acknowledged, lost=len(ages))
    assert acknowledged > 50 * size
    assert ages == []


@sizes("CUTS", quick=1, long=6)
async def test_everysec_loses_no_more_than_its_window(tmp_path: Path, shim: Path, seed: int, size: int) -> None:
    """SPEC J7: what is lost was acknowledged within three seconds of the cut; a lost job is unknown, never half."""
    began = time.monotonic()
    acknowledged, ages = await cuts(tmp_path, shim, "everysec", seed, size)
    oldest_s = round(max(ages, default=0.0), 2)
    figures = {"cuts": size, "acknowledged": acknowledged, "lost": len(ages), "oldest_lost_s": oldest_s}
    keep("power cut, everysec", seed=seed, began=began, **figures)
    assert acknowledged > 50 * size
    assert oldest_s <= EVERYSEC_LOSS_S


@pytest.mark.chaos
async def test_without_flushes_the_model_loses_everything(tmp_path: Path, shim: Path, seed: int) -> None:
    """Our choice: a model that could not lose anything would prove nothing."""
    began = time.monotonic()
    acknowledged, ages = await cuts(tmp_path, shim, "no", seed, 1)
    keep("power cut, no (control)", seed=seed, began=began, cuts=1, acknowledged=acknowledged, lost=len(ages))
    assert len(ages) == acknowledged > 50
