"""What the attempt of a job and the one of a seat have in common.

Owns the travel matrices and the command that a solver process gets, which of two plans is better, and shared times.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from planner_mcp.errors import StoreUnavailableError
from planner_mcp.jobs.job_ports import ClaimedWork, Exchanged, SeatClaim, WorkerStore
from planner_mcp.settings import Settings
from workers.attempts.job_reporter import RETRY_FIRST_S, RETRY_LONGEST_S
from workers.executors.executor_interface import Solver
from workers.solver_processes.solve_command import SolveCommand

if TYPE_CHECKING:
    from planner_mcp.routing.scenario.travel_matrices import Packed

EXCHANGE_S: Final = 0.5
"""Time between two exchanges of a team, and so the age of a plan that is lost with its seat."""
STOP_GRACE_S: Final = 0.3
"""Time a solver process has to send its last plan before it is killed, and then to end."""
MATRICES_WAIT_S: Final = 30.0
"""Longest wait for matrices whose shard is away. A replica takes over sooner; after it the worker serves other jobs."""


async def load_matrices(
    work: ClaimedWork, store: WorkerStore, settings: Settings, *, clock: Callable[[], float] = time.monotonic
) -> "Packed | None":
    """Return the matrices that the scenario refers to, if any; wait for them while their shard is away.

    Raises:
        StoreUnavailableError: Away for `MATRICES_WAIT_S`.
    """
    if not work.scenario.body.get("travel"):
        return None
    from planner_mcp.jobs.matrix_service import MatrixService  # loads numpy and an HTTP client
    from planner_mcp.travel.matrix_provider import MatrixProvider

    matrix_provider = MatrixProvider(MatrixService(store, settings), settings)
    gives_up_at, delay_s = clock() + MATRICES_WAIT_S, RETRY_FIRST_S
    while True:
        try:
            return await matrix_provider.provide_matrices(work.scenario)
        except StoreUnavailableError:
            if clock() >= gives_up_at:
                raise
        await asyncio.sleep(delay_s)
        delay_s = min(2 * delay_s, RETRY_LONGEST_S)


def solve_command(
    work: ClaimedWork, settings: Settings, matrices: "Packed | None", *, solve_s: float, seed: int, trace_id: str
) -> SolveCommand:
    """Return the command of a search of `solve_s` seconds, on the cores that the worker has for a solve."""
    return SolveCommand(
        job_id=work.job.id,
        trace_id=trace_id,
        body=work.scenario.body,
        input_hash=work.scenario.input_hash,
        engine=work.job.request.engine,
        seed=seed,
        solve_s=solve_s,
        member=work.number if isinstance(work, SeatClaim) else 1,
        span_s=work.job.request.solve_time_s if work.job.seats > 1 else 0.0,
        cores=min(work.job.request.cores or settings.solve_cores, settings.solve_cores),
        memory_mb=settings.solve_memory_mb,
        best_plan=work.best_plan,
        cuopt_url=settings.cuopt_url,
        matrices=matrices,
        prices=work.prices,
        has_made_up_prices=work.scenario.prices_of is not None,
    )


class TeamUpdates:
    """What a solver process has to hear of its team: a better plan, and who searches. Owns what it heard last."""

    def __init__(self) -> None:
        self._members: tuple[int, ...] = ()

    def send(self, solver: Solver | None, exchanged: Exchanged) -> None:
        """Send what is new to a solver process that is there."""
        if solver is not None and (exchanged.plan is not None or exchanged.members != self._members):
            self._members = exchanged.members
            solver.send({"kind": "team", "plan": exchanged.plan, "members": exchanged.members})


def is_better(plan: dict[str, object], other: dict[str, object] | None) -> bool:
    """Return whether a plan is better than another of the same scenario: penalty first, then cost."""
    return other is None or _rank(plan) < _rank(other)


def _rank(plan: dict[str, object]) -> tuple[object, object]:
    return (plan.get("penalty") or 0.0, plan["cost"])


async def wait_for(event: asyncio.Event, timeout_s: float) -> None:
    """Wait for an event and clear it, or for the time to pass. (`wait_for` of Python 3.11 can lose a cancellation.)"""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await event.wait()
    event.clear()
