"""An attempt: what that of a job and that of a seat have in common.

Owns the start of a search in a solver process, the release of the worker, which of two plans is better, and shared
times.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from planner_mcp.errors import StoreUnavailableError
from planner_mcp.jobs.job_ports import ClaimedWork, Exchanged, SeatClaim, WorkerStore
from planner_mcp.routing.plan import PlanJson
from planner_mcp.settings import Settings
from workers.attempts.job_reporter import RETRY_FIRST_S, RETRY_LONGEST_S
from workers.executors.executor_interface import Executor, Solver
from workers.message_frames import Message
from workers.solver_processes.solve_command import SolveCommand

if TYPE_CHECKING:
    from planner_mcp.routing.scenario.travel_matrices import Packed

Work = TypeVar("Work", bound=ClaimedWork)
EXCHANGE_S: Final = 0.5
"""Time between two exchanges of a team, and so the age of a plan that is lost with its seat."""
STOP_GRACE_S: Final = 0.3
"""Time a solver process has to send its last plan before it is killed, and then to end."""
MATRICES_WAIT_S: Final = 30.0
"""Longest wait for matrices whose shard is away. A replica takes over sooner; after it the worker serves other jobs."""


class Attempt(Generic[Work]):
    """A claim that a worker works on.

    Args:
        claim: The job or the seat.
        executor: Where the solver process comes from.
        store: Where plans are reported or exchanged.
        settings: Cores, memory and lease of a solve.
        trace_id: Joins log lines and a failed job.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        claim: Work,
        executor: Executor,
        store: WorkerStore,
        settings: Settings,
        *,
        trace_id: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._claim = claim
        self._executor = executor
        self._store = store
        self._settings = settings
        self._trace_id = trace_id
        self._clock = clock
        self._solver: Solver | None = None
        """The solver process, once there is one."""
        self._members: tuple[int, ...] = ()
        """Of the team, as the solver process knows them."""
        self._flags_changed = asyncio.Event()
        self.lacked_solver = False
        """Whether no solver process could be started, which says nothing of the job."""
        self.worker_released: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the worker may go on with another job."""

    @property
    def job_id(self) -> str:
        """The job that is solved."""
        return self._claim.job.id

    def refresh_flags(self) -> None:
        """Ask the store at once how the job stands: cancelled, to be finished, or at its end."""
        self._flags_changed.set()

    def release_worker(self, *, is_reusable: bool = False) -> None:
        """Give the solver process back and let the worker go on. Only the first call has an effect."""
        if self.worker_released.done():
            return
        if self._solver is not None:
            self._solver.release(is_reusable=is_reusable)
        self.worker_released.set_result(None)

    async def _start_search(self, on_message: Callable[[Message | None], None], *, solve_s: float, seed: int) -> Solver:
        """Load the matrices, and start a search of `solve_s` seconds on the cores that the worker has for a solve.

        Raises:
            StoreUnavailableError: The shard of the matrices is unavailable.
            EngineCrashedError: No solver process can be started.
            PlannerError: The matrices cannot be had.
        """
        matrices = await self._matrices()
        solver = self._solver = await self._executor.acquire()
        solver.listen(on_message)
        work, settings = self._claim, self._settings
        command = SolveCommand(
            job_id=work.job.id,
            trace_id=self._trace_id,
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
        solver.send(command.as_message())
        return solver

    async def _matrices(self) -> "Packed | None":
        """Return the matrices that the scenario refers to, if any; wait for them while their shard is away.

        Raises:
            StoreUnavailableError: Away for `MATRICES_WAIT_S`.
        """
        if not self._claim.scenario.body.get("travel"):
            return None
        from planner_mcp.jobs.matrix_service import MatrixService  # loads numpy and an HTTP client
        from planner_mcp.travel.matrix_provider import MatrixProvider

        matrix_provider = MatrixProvider(MatrixService(self._store, self._settings), self._settings)
        gives_up_at, delay_s = self._clock() + MATRICES_WAIT_S, RETRY_FIRST_S
        while True:
            try:
                return await matrix_provider.provide_matrices(self._claim.scenario)
            except StoreUnavailableError:
                if self._clock() >= gives_up_at:
                    raise
            await asyncio.sleep(delay_s)
            delay_s = min(2 * delay_s, RETRY_LONGEST_S)

    def _send_team(self, exchanged: Exchanged) -> None:
        """Send a solver process that is there what is new in its team: a better plan, and who searches."""
        if self._solver is not None and (exchanged.plan is not None or exchanged.members != self._members):
            self._members = exchanged.members
            self._solver.send({"kind": "team", "plan": exchanged.plan, "members": exchanged.members})


def is_better(plan: PlanJson, other: PlanJson | None) -> bool:
    """Return whether a plan is better than another of the same scenario: by penalty, then cost, then what is proved."""
    return other is None or _rank(plan) < _rank(other)


def _rank(plan: PlanJson) -> tuple[float, float, float, bool]:
    proof = plan.get("proof") or {}
    return (plan.get("penalty") or 0.0, plan["cost"], -proof.get("lower_bound", 0.0), not proof.get("is_optimal"))


async def wait_for(event: asyncio.Event, timeout_s: float) -> None:
    """Wait for an event and clear it, or for the time to pass. (`wait_for` of Python 3.11 can lose a cancellation.)"""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await event.wait()
    event.clear()
