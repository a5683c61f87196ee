"""What an attempt relies on, held alike by every executor: local processes, and a Ray cluster."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from benchmarks.process_stats import descendants, is_alive
from planner_mcp.settings import Settings
from tests.shared.processes.process_tree import LONGEST_S, exit_code, kill, until_gone
from tests.shared.scenarios.client_scenarios import SMALLEST
from tests.shared.scenarios.seeded_fleet import fleet_body
from tests.shared.workers.ray_cluster import RayCluster, ray_cluster
from workers.executors.executor_interface import Executor, Solver
from workers.solver_processes.solve_command import SolveCommand
from workers.solver_processes.solver_process_pool import SolverProcessPool

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore")]
MEMORY_MB = 128
"""Limit of a solve in MiB; less than the tables of 3,000 tickets and the program take together."""


@dataclass
class ExecutorHarness:
    """An executor, and the process below which its solvers run."""

    executor: Executor
    root: int
    others: frozenset[int] = frozenset()
    """Processes below the root that were there before; other tests have executors too."""

    def solver_processes(self) -> list[int]:
        """Return the fork servers and their children that run now."""
        new = [pid for pid in descendants(self.root) if pid not in self.others]
        return [pid for pid in new if is_alive(pid) and b"fork_server" in _command(pid)]


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


class Messages:
    """What a solver tells, in order."""

    def __init__(self, solver: Solver) -> None:
        self.all: list[dict[str, Any] | None] = []
        self._arrived = asyncio.Event()
        solver.listen(self._take)

    def _take(self, message: dict[str, Any] | None) -> None:
        self.all.append(message)
        self._arrived.set()

    async def until(self, kind: str | None) -> dict[str, Any] | None:
        """Return the first message of a kind; None stands for the end."""
        with anyio.fail_after(LONGEST_S):
            while not (found := [each for each in self.all if (each and each["kind"]) == kind]):
                self._arrived.clear()
                await self._arrived.wait()
        return found[0]


def command(body: dict[str, Any], solve_s: float, **more: Any) -> dict[str, Any]:
    """Return a solve as an attempt sends it."""
    fields: dict[str, Any] = {"engine": "auto", "seed": 1, "cores": 1, "memory_mb": 2048, **more}
    return SolveCommand("job_1", "0" * 32, body, "hash", solve_s=solve_s, **fields).as_message()


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    """One cluster for all tests: it takes ten seconds to start."""
    with ray_cluster() as cluster:
        yield cluster


@asynccontextmanager
async def _executor(name: str, request: pytest.FixtureRequest) -> AsyncIterator[ExecutorHarness]:
    async with AsyncExitStack() as stack:
        if name == "local":
            others = frozenset(descendants(os.getpid()))
            yield ExecutorHarness(await stack.enter_async_context(SolverProcessPool()), os.getpid(), others)
        else:
            cluster = request.getfixturevalue("cluster")
            from workers.executors.ray_executor import RayExecutor

            settings = Settings(ray_address=cluster.address, solve_memory_mb=MEMORY_MB)
            yield ExecutorHarness(await stack.enter_async_context(RayExecutor(settings)), cluster.pid)


@pytest.fixture(params=["local", pytest.param("ray", marks=pytest.mark.slow)])
async def harness(request: pytest.FixtureRequest) -> AsyncIterator[ExecutorHarness]:
    """Every executor in turn."""
    async with _executor(request.param, request) as harness:
        yield harness


async def test_a_solve_streams_its_plans_and_says_at_last_how_it_ended(harness: ExecutorHarness) -> None:
    """SPEC O8, J6: the attempt reports what the solver tells."""
    solver = await harness.executor.acquire()
    messages = Messages(solver)
    solver.send(command(SMALLEST, 5))
    assert (await messages.until("done")) is messages.all[-1]
    plans = [each for each in messages.all if each is not None and each["kind"] == "plan"]
    assert plans[-1]["plan"]["tickets_served"] == 1
    solver.release(is_reusable=False)
    await exit_code(solver)
    await until_gone(harness.solver_processes()[1:])


async def test_a_solver_that_is_asked_to_stop_sends_its_plan_and_ends(harness: ExecutorHarness) -> None:
    """SPEC T4: a cancel takes effect within a second, and the best plan stays."""
    solver = await harness.executor.acquire()
    messages = Messages(solver)
    solver.send(command(fleet_body(120), 60))
    await messages.until("plan")
    began = anyio.current_time()
    solver.send({"kind": "stop"})
    await messages.until(None)
    assert anyio.current_time() - began < 5
    assert await exit_code(solver) == os.EX_OK
    assert "done" not in {each["kind"] for each in messages.all if each}


async def test_a_solver_that_is_killed_ends_and_leaves_no_process(harness: ExecutorHarness) -> None:
    """SPEC J6: it is killed whatever it does, and its end is told once."""
    solver = await harness.executor.acquire()
    messages = Messages(solver)
    solver.send(command(fleet_body(120), 60))
    await messages.until("plan")
    processes = harness.solver_processes()
    assert len(processes) >= 2
    solver.kill()
    await messages.until(None)
    assert await exit_code(solver) == -signal.SIGKILL
    assert messages.all.count(None) == 1
    await until_gone(processes[1:])


async def test_the_death_of_the_process_that_searches_is_reported_as_its_end(harness: ExecutorHarness) -> None:
    """SPEC J6: a crash counts; the attempt runs again."""
    solver = await harness.executor.acquire()
    messages = Messages(solver)
    solver.send(command(fleet_body(120), 60))
    await messages.until("plan")
    kill(harness.solver_processes()[-1])
    await messages.until(None)
    assert await exit_code(solver) == -signal.SIGKILL


async def test_memory_above_the_limit_is_reported(harness: ExecutorHarness) -> None:
    """SPEC J6: the attempt ends a solve that takes too much."""
    solver = await harness.executor.acquire()
    messages = Messages(solver)
    solver.send(command(fleet_body(3000), 60))
    with anyio.fail_after(LONGEST_S):
        while solver.resident_mb() <= MEMORY_MB:  # noqa: ASYNC110 — the kernel sends no event
            await anyio.sleep(0.01)
    solver.kill()
    await messages.until(None)


async def test_a_context_that_is_left_leaves_no_process(request: pytest.FixtureRequest) -> None:
    """SPEC J6: no solver outlives its worker."""
    async with _executor("local", request) as harness:
        solver = await harness.executor.acquire()
        messages = Messages(solver)
        solver.send(command(fleet_body(120), 60))
        await messages.until("plan")
        processes = harness.solver_processes()
    await until_gone(processes)
