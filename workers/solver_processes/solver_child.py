"""What a solver process does: read a command, search, send each better verified plan, report how it ended.

Owns the life of a solver process between its first and last message. It compiles the scenario itself, so that a large
one never blocks the worker's event loop. It reads stop messages whenever the engine calls `should_stop`: it then sends
the plan that still waits and exits at once, without waiting for the engine to return. An engine that does not call it
is killed by the worker, which loses little, because plans are sent as they are found.

worker → child: `solve` (see `workers/solver_processes/solve_command.py`), `stop`, `team {plan, members}` (of a team).
child → worker: `plan {plan, improvements}` repeatedly, then one of `done` and `error {error}`.
"""

import json
import logging
import os
import platform
import select
import socket
import sys
import time
from dataclasses import replace
from typing import Final

from planner_mcp import __version__, process_limits
from planner_mcp.errors import EngineError, EngineMemoryError, PlannerError
from planner_mcp.routing.analysis.alternative_plans import at_prices_of
from planner_mcp.routing.analysis.plan_repricing import repriced_on
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.engine_names import PROVE
from planner_mcp.routing.evaluation.plan_builder import candidate_of
from planner_mcp.routing.feasibility.infeasibility_faults import infeasibility_faults
from planner_mcp.routing.plan import Plan, PlanJson, PlanStatus
from planner_mcp.routing.problem import Candidate, Problem
from planner_mcp.routing.scenario.scenario_parsing import read_stored
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from workers import message_frames
from workers.engines.bounds.proof_engine import ProofEngine
from workers.engines.engine_interface import Engine, SearchLimits, ShouldStop
from workers.engines.heuristics.reinsertion_search import with_locked
from workers.engines.heuristics.warm_start_repair import repaired
from workers.engines.selection import engine_registry
from workers.solver_processes.solve_command import SolveCommand
from workers.solver_processes.verified_incumbent import Incumbent, PlanOrigin

_LAST_RESORT_S: Final = 600.0
"""Time beyond its limit after which the kernel ends a process that its worker did not end."""
_END_CPU_PER_TICKET_S: Final = 80e-6
"""CPU that follows a search, by ticket: the last plan is built and verified twice, written out, and stored."""
_MOST_KEPT_BACK: Final = 0.2
"""Share of the time of a solve that is kept back for that at most."""
_POLL_S: Final = 0.005
MEMBERS_WAIT_S: Final = 1.0
"""How long a search waits to hear of its team: its worker asks twice a second."""
_READ_BYTES: Final = 1 << 16
MADE_UP_PRICES: Final = (
    "Costs follow from prices that were made up to find this alternative: those of its base scenario are not available."
)
"""Assumption of a plan whose costs could not be computed at the prices of the caller."""

log = logging.getLogger("planner.child")


class WorkerConnection:
    """The solver process's end of the connection to its worker."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._buffer = message_frames.FrameBuffer()
        self._next_poll = 0.0
        self._is_stopped = False
        self._team_plan: PlanJson | None = None
        self.members: tuple[int, ...] = ()
        """Of the team, as the worker last named them."""

    def next_command(self) -> SolveCommand | None:
        """Wait for a command; return None when the worker has closed the connection."""
        while data := self._sock.recv(_READ_BYTES):
            for message in self._buffer.feed(data):
                if message.pop("kind") == "solve":
                    self._is_stopped, self._team_plan, self.members = False, None, ()
                    return SolveCommand(**message)
        return None

    def send(self, message: message_frames.Message) -> None:
        """Send a message; exit when the worker has closed the connection."""
        try:
            message_frames.send(self._sock, message)
        except ConnectionError:
            os._exit(0)

    def send_plan(self, plan: Plan, improvements: int) -> None:
        """Send a plan, and how many better ones there were so far."""
        self.send({"kind": "plan", "plan": plan.as_json(), "improvements": improvements})

    def is_stopped(self) -> bool:
        """Return whether the worker asked to stop. Cheap enough to be called at every iteration of a search."""
        now = time.monotonic()
        if not self._is_stopped and now >= self._next_poll:
            self._next_poll = now + _POLL_S
            self._look()
        return self._is_stopped

    def _look(self) -> None:
        self._take(b"")  # what came together with the command
        while select.select([self._sock], [], [], 0)[0]:
            if not (data := self._sock.recv(_READ_BYTES)):
                os._exit(0)
            self._take(data)

    def _take(self, data: bytes) -> None:
        for message in self._buffer.feed(data):
            if message["kind"] == "stop":
                self._is_stopped = True
            else:
                self._team_plan = message["plan"] or self._team_plan
                self.members = tuple(message["members"])

    def take_team_plan(self) -> Plan | None:
        """Return the last plan of the team that came since the last call."""
        written, self._team_plan = self._team_plan, None
        return None if written is None else Plan.from_json(written)


class TeamOfSearch:
    """The team of a job as the search of one member sees it (`engine_interface.Team`)."""

    def __init__(
        self, command: SolveCommand, connection: WorkerConnection, problem: Problem, incumbent: Incumbent
    ) -> None:
        self.number, self.span_s = command.member, command.span_s
        self._connection, self._problem, self._incumbent = connection, problem, incumbent
        self._knows_by = time.monotonic() + MEMBERS_WAIT_S

    def members(self) -> tuple[int, ...]:
        """Return who searches now; at first, wait until the worker has said so."""
        while not (self._connection.is_stopped() or self._connection.members) and time.monotonic() < self._knows_by:
            time.sleep(_POLL_S)
        return tuple(sorted({self.number, *self._connection.members}))

    def take_plan(self) -> Candidate | None:
        """Return a plan that another member has found since the last call."""
        plan = self._connection.take_team_plan()
        return None if plan is None else candidate_of(self._problem, plan)

    def publish(self) -> None:
        """Have the best plan so far evaluated and sent now."""
        self._incumbent.flush()


def preload() -> None:
    """Import the solvers and read their versions, so that every fork has them."""
    for engine in engine_registry.engines():
        if engine.is_available():
            engine.versions()


def serve_commands(sock: socket.socket) -> int:
    """Run commands one after another until the worker closes the connection; return the exit status."""
    connection = WorkerConnection(sock)
    while (command := connection.next_command()) is not None:
        process_limits.cap_memory(command.memory_mb)
        process_limits.die_after(command.solve_s + _LAST_RESORT_S)
        connection.send(run_solve(command, connection))
        process_limits.die_after(0)
    return os.EX_OK


def run_solve(command: SolveCommand, connection: WorkerConnection) -> message_frames.Message:
    """Run a command; return the final message. An unforeseen exception ends the process with a traceback in the log."""
    try:
        return _search(command, connection)
    except PlannerError as error:
        return {"kind": "error", "error": error.as_json(command.trace_id)}
    except MemoryError:
        return {"kind": "error", "error": EngineMemoryError().as_json(command.trace_id)}


def _search(command: SolveCommand, connection: WorkerConnection) -> message_frames.Message:
    began_s, cpu_began_s = time.monotonic(), time.process_time()
    deadline = began_s + command.solve_s
    matrices = None if command.matrices is None else TravelMatrices.unpack(command.matrices)
    problem = compile_scenario(read_stored(command.body, matrices, prove_infeasible=infeasibility_faults))
    stated = None if command.prices is None else at_prices_of(command.body, command.prices, matrices)
    if command.matrices is not None:
        command.matrices.clear()  # the tables of the problem are all that is read from here on
    del matrices
    if command.engine == PROVE:
        return _prove(command, connection, problem, deadline)
    engine = engine_registry.choose(problem, command.engine, command.cuopt_url)

    def publish(plan: Plan, improvements: int) -> None:
        published = plan if stated is None else repriced_on(stated, plan)
        if published is None or (stated is None and command.has_made_up_prices):
            published = replace(plan, assumptions=(*plan.assumptions, MADE_UP_PRICES))
        connection.send_plan(published, improvements)

    def should_stop() -> bool:
        if connection.is_stopped():
            incumbent.flush()
            os._exit(os.EX_OK)
        incumbent.evaluate_if_due()
        return False

    incumbent = Incumbent(problem, _origin(command, engine), publish)
    warm_start = None
    if command.best_plan is not None:
        start = _repaired_start(problem, Plan.from_json(command.best_plan), deadline, connection.is_stopped)
        warm_start = incumbent.start_from(start)

    wait = (time.monotonic() - began_s) / max(1e-3, time.process_time() - cpu_began_s)
    ends_s = deadline - kept_back_s(len(problem.tickets), command.solve_s, wait)
    team = TeamOfSearch(command, connection, problem, incumbent) if command.span_s else None
    on_proof = incumbent.attach if command.member == 1 and not command.has_made_up_prices else None
    proof_mb = command.memory_mb // 2  # with the whole of it the proof would end the solve
    search = SearchLimits(
        ends_s, command.seed, command.cores, command.solve_s, team, on_proof=on_proof, proof_mb=proof_mb
    )
    try:
        outcome = engine.solve(problem, search, incumbent.offer, should_stop, warm_start)
    finally:
        incumbent.flush()  # keep what an engine found before it failed
    best = outcome.best
    if best is None and incumbent.plan is None:
        best = engine_registry.first_plan(problem, should_stop)
    incumbent.settle(best, outcome.recombination)
    if incumbent.violations:
        _log_rejection(command, engine, list(incumbent.violations))
    return {"kind": "done"}


def kept_back_s(tickets: int, solve_s: float, wait: float) -> float:
    """Return the time of a solve that is kept back for what follows its search.

    Args:
        tickets: Of the scenario.
        solve_s: The whole time, in seconds.
        wait: Seconds that passed for each second of CPU so far: how busy the machine is.
    """
    return min(_MOST_KEPT_BACK * solve_s, tickets * _END_CPU_PER_TICKET_S * max(1.0, wait))


def _prove(
    command: SolveCommand, connection: WorkerConnection, problem: Problem, deadline: float
) -> message_frames.Message:
    """Prove the plan of the command: publish it again with each better bound, and a cheaper plan where one is found."""

    def should_stop() -> bool:
        if connection.is_stopped():
            os._exit(os.EX_OK)
        return False

    if command.best_plan is None:
        raise EngineError("The plan to prove is no longer there.")
    plan = Plan.from_json(command.best_plan)
    if plan.status is PlanStatus.PARTIAL:
        raise EngineError("The plan to prove leaves out wanted tickets.")
    origin = PlanOrigin(plan.engine, plan.seed, plan.versions, command.input_hash)
    incumbent = Incumbent(problem, origin, connection.send_plan)
    if (candidate := incumbent.start_from(candidate_of(problem, plan))) is None:
        raise EngineError("The plan to prove does not fit its scenario.")

    def offer(better: Candidate) -> None:
        incumbent.offer(replace(better, found_by=(*candidate.found_by, PROVE)))

    limits = SearchLimits(deadline, command.seed, on_proof=incumbent.attach)
    ProofEngine().solve(problem, limits, offer, should_stop, candidate)
    incumbent.flush()
    return {"kind": "done"}


def _origin(command: SolveCommand, engine: Engine) -> PlanOrigin:
    versions = engine.versions() | {"planner-mcp": __version__, "python": platform.python_version()}
    return PlanOrigin(engine.name, command.seed, versions, command.input_hash)


def _repaired_start(problem: Problem, plan: Plan, deadline: float, should_stop: ShouldStop) -> Candidate:
    """Return the part of an earlier plan that still holds, plus the locked tickets of agents that it leaves idle.

    A stop cuts the repair short; the search notices the stop at its first check, after the repaired plan was sent.
    """
    return with_locked(problem, repaired(problem, candidate_of(problem, plan), deadline, should_stop), should_stop)


def _log_rejection(command: SolveCommand, engine: Engine, violations: list[str]) -> None:
    record = {
        "job_id": command.job_id,
        "trace_id": command.trace_id,
        "engine": engine.name,
        "violations": violations[:5],
    }
    log.error("plan rejected by the verifier %s", json.dumps(record))


def report_uncaught() -> None:
    """Write the exception that is ending this process to the log, as one line."""
    if (error := sys.exception()) is not None:
        log.critical("solving process failed", exc_info=error)
