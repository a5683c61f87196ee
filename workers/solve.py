"""What a child does: read an order, search, send each better verified plan, say how it ended.

Owns the life of a solving process between its first and last message. It compiles the scenario itself, so that a big
day never blocks the worker's loop. It is asked to stop by a message and looks for one whenever the engine asks
`should_stop`: then it sends the plan that still waits and ends on the spot, without waiting for the engine to unwind.
An engine that does not ask is killed by the worker, and little is lost: plans leave as they are found.

worker → child: `order` (see `workers/order.py`), `stop`.
child → worker: `plan {plan, improvements}` repeatedly, then one of `done {reason, iterations}` and `error {error}`.
"""

import json
import logging
import os
import platform
import select
import socket
import sys
import time
from typing import Any, Final

from planner_mcp import __version__
from planner_mcp.errors import EngineMemoryError, PlannerError
from planner_mcp.vrp.compile.compiler import compile_scenario
from planner_mcp.vrp.day.tables import Tables
from planner_mcp.vrp.layout.schedule import candidate_of
from planner_mcp.vrp.plan import Plan
from planner_mcp.vrp.problem import Candidate, Problem
from planner_mcp.vrp.scenario import read_stored
from workers import frames, limits
from workers.engines import registry
from workers.engines.base import Engine, Limits, ShouldStop
from workers.engines.cautious import Cautious
from workers.engines.mending import mended
from workers.engines.portfolio import Portfolio
from workers.engines.refill import with_locked
from workers.incumbent import Incumbent, Stamp
from workers.order import OVERRUN_S, Order

_LAST_RESORT_S: Final = 10.0
_POLL_S: Final = 0.005
_READ_BYTES: Final = 1 << 16

log = logging.getLogger("planner.child")


class Desk:
    """The child's end of the conversation with its worker."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._buffer = frames.FrameBuffer()
        self._next_poll = 0.0
        self._is_stopped = False

    def next_order(self) -> Order | None:
        """Wait for an order; None when the worker hung up."""
        while data := self._sock.recv(_READ_BYTES):
            for message in self._buffer.feed(data):
                if message.pop("kind") == "order":
                    self._is_stopped = False
                    return Order(**message)
        return None

    def send(self, message: frames.Message) -> None:
        """Send a message; a worker that hung up ends this process."""
        try:
            frames.send(self._sock, message)
        except ConnectionError:
            os._exit(0)

    def is_stopped(self) -> bool:
        """Return whether the worker asked to stop. Cheap enough to be called at every iteration of a search."""
        now = time.monotonic()
        if not self._is_stopped and now >= self._next_poll:
            self._next_poll = now + _POLL_S
            self._look()
        return self._is_stopped

    def _look(self) -> None:
        while select.select([self._sock], [], [], 0)[0]:
            if not (data := self._sock.recv(_READ_BYTES)):
                os._exit(0)
            self._is_stopped |= any(message["kind"] == "stop" for message in self._buffer.feed(data))


def preload() -> None:
    """Import the solvers and read their versions, so that every fork has them."""
    for engine in registry.engines():
        if engine.is_available():
            engine.version()


def serve_orders(sock: socket.socket) -> int:
    """Serve orders one after another until the worker hangs up; return the exit status."""
    desk = Desk(sock)
    while (order := desk.next_order()) is not None:
        limits.cap_memory(order.memory_mb)
        limits.die_after(order.solve_s + OVERRUN_S + _LAST_RESORT_S)
        desk.send(answer(order, desk))
        limits.die_after(0)
    return os.EX_OK


def answer(order: Order, desk: Desk) -> frames.Message:
    """Carry an order out; return its last message. What no one foresaw ends the process with a traceback in the log."""
    try:
        return _search(order, desk)
    except PlannerError as error:
        return {"kind": "error", "error": error.as_json(order.trace_id)}
    except MemoryError:
        return {"kind": "error", "error": EngineMemoryError().as_json(order.trace_id)}


def _search(order: Order, desk: Desk) -> frames.Message:
    deadline = time.monotonic() + order.solve_s
    tables = None if order.tables is None else Tables.unpack(order.tables)
    problem = compile_scenario(read_stored(order.body, tables))
    engine = registry.choose(problem, order.engine)

    def publish(plan: Plan, improvements: int) -> None:
        desk.send({"kind": "plan", "plan": plan.as_json(), "improvements": improvements})

    def should_stop() -> bool:
        if desk.is_stopped():
            incumbent.flush()
            os._exit(os.EX_OK)
        incumbent.tick()
        return False

    incumbent = Incumbent(problem, _stamp(order, engine), publish)
    start = None if order.best_plan is None else _mended(problem, order.best_plan, deadline, desk.is_stopped)
    warm_start = None if start is None else incumbent.start_from(start)
    search = Limits(deadline, order.seed, order.cores, order.solve_s)
    try:
        outcome = engine.solve(problem, search, incumbent.offer, should_stop, warm_start)
    finally:
        incumbent.flush()  # an engine that dies leaves what it found
    incumbent.settle(outcome.best)
    if incumbent.violations:
        _log_rejection(order, engine, list(incumbent.violations))
    return {"kind": "done", "reason": outcome.reason.value, "iterations": outcome.iterations}


def _stamp(order: Order, engine: Engine) -> Stamp:
    searching = engine.engine if isinstance(engine, Cautious) else engine
    engines = searching.able if isinstance(searching, Portfolio) else (searching,)
    versions = {each.name: each.version() for each in engines}
    versions |= {"planner-mcp": __version__, "python": platform.python_version()}
    return Stamp(engine.name, order.seed, versions, order.input_hash)


def _mended(problem: Problem, plan: dict[str, Any], deadline: float, should_stop: ShouldStop) -> Candidate:
    """Return what is left of an earlier plan on this day, with what agents it leaves idle are locked to.

    A stop cuts it short; the search hears of it at its first look, when what is left has been told.
    """
    return with_locked(problem, mended(problem, candidate_of(problem, plan), deadline, should_stop), should_stop)


def _log_rejection(order: Order, engine: Engine, violations: list[str]) -> None:
    record = {"job_id": order.job_id, "trace_id": order.trace_id, "engine": engine.name, "violations": violations[:5]}
    log.error("plan rejected by the verifier %s", json.dumps(record))


def report_uncaught() -> None:
    """Write the exception that is ending this process to the log, as one line."""
    if (error := sys.exception()) is not None:
        log.critical("solving process failed", exc_info=error)
