"""Runs searches in parallel, each in a forked process.

Owns the processes of one solve: start, messages, end. A search is a function that reports what it finds: better plans,
and bounds that hold for all plans. It may hold the GIL as long as it likes, because its process is not shared. A search
that crashes loses its core and nothing else. All processes end with the process that started them.
"""

import logging
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from planner_mcp import process_limits
from planner_mcp.errors import EngineCrashedError, EngineMemoryError
from planner_mcp.routing.plan import ProofRecord
from planner_mcp.routing.problem import Candidate, Route, Stop, StopKind
from planner_mcp.text import plain_fields
from workers import message_frames
from workers.engines.engine_interface import ShouldStop

POLL_S: Final = 0.02
OVERTIME_S: Final = 0.3
"""A search still running this long after the deadline is killed; its improvements were already received."""
_READ_BYTES: Final = 1 << 16

log = logging.getLogger("planner.child")

Finding = Candidate | ProofRecord
OnFinding = Callable[[Finding], None]
SearchFunction = Callable[[OnFinding], None]


def run(
    searches: Sequence[SearchFunction],
    deadline: float,
    on_finding: OnFinding,
    should_stop: ShouldStop,
    *,
    needs_plan: bool = False,
) -> bool:
    """Run every search until all have ended, the deadline, or `should_stop`; return whether `should_stop` was true.

    Args:
        searches: One for each process.
        deadline: Monotonic clock.
        on_finding: Called with what they find.
        should_stop: Asked every `POLL_S`.
        needs_plan: No plan is known yet: the deadline counts only once a search has found one.

    Raises:
        EngineCrashedError: Every search crashed.
    """
    running = [_SearchFork(search) for search in searches]
    started = list(running)
    try:
        with selectors.DefaultSelector() as selector:
            for search_fork in running:
                selector.register(search_fork.sock, selectors.EVENT_READ, search_fork)
            while running and (needs_plan or time.monotonic() < deadline + OVERTIME_S):
                for key, _ in selector.select(POLL_S):
                    if key.data.read(on_finding):
                        needs_plan = False
                    else:
                        selector.unregister(key.data.sock)
                        running.remove(key.data)
                if should_stop():
                    return True
            for search_fork in running:
                search_fork.read_rest(on_finding)
    finally:
        for search_fork in started:
            search_fork.end()
    if all(search_fork.has_crashed for search_fork in started):
        raise EngineCrashedError
    return False


class _SearchFork:
    """One forked process and the socket it reports over."""

    def __init__(self, search: SearchFunction) -> None:
        self.sock, child_sock = socket.socketpair()
        self._buffer = message_frames.FrameBuffer()
        self.has_crashed = False
        self._is_reaped = False
        parent = os.getpid()
        if (pid := os.fork()) == 0:
            self.sock.close()
            _run_in_fork(search, child_sock, parent)
        child_sock.close()
        self._pid = pid

    def read(self, on_finding: OnFinding) -> bool:
        """Report the findings received; return False when the process has ended."""
        if data := self.sock.recv(_READ_BYTES):
            for message in self._buffer.feed(data):
                on_finding(decode(message))
            return True
        _, status = os.waitpid(self._pid, 0)
        self.has_crashed = status != os.EX_OK
        self._is_reaped = True
        return False

    def read_rest(self, on_finding: OnFinding) -> None:
        """Report the findings that were sent and not yet read."""
        self.sock.setblocking(False)
        with suppress(BlockingIOError):
            while data := self.sock.recv(_READ_BYTES):
                for message in self._buffer.feed(data):
                    on_finding(decode(message))

    def end(self) -> None:
        """Kill the process, if it has not ended, and reap it."""
        if not self._is_reaped:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        self.sock.close()


def _run_in_fork(search: SearchFunction, sock: socket.socket, parent: int) -> None:
    """Search and exit; never returns."""
    status = os.EX_SOFTWARE
    try:
        process_limits.die_with_parent(parent)
        search(lambda finding: message_frames.send(sock, encode(finding)))
        status = os.EX_OK
    except (MemoryError, EngineMemoryError):
        log.info("a search ran out of memory; the others go on")
    finally:
        if (error := sys.exception()) is not None:
            sys.excepthook(type(error), error, error.__traceback__)
        os._exit(status)


def encode(finding: Finding) -> message_frames.Message:
    """Return a finding as a JSON message."""
    if isinstance(finding, ProofRecord):
        return {"proof": plain_fields(finding)}
    routes = [[route.agent, [[stop.kind.value, stop.index] for stop in route.stops]] for route in finding.routes]
    return {"routes": routes, "found_by": finding.found_by}


def decode(message: message_frames.Message) -> Finding:
    """Return the finding of a JSON message."""
    if (proof := message.get("proof")) is not None:
        return ProofRecord.from_json(proof)
    return Candidate(
        tuple(
            Route(agent, tuple(Stop(StopKind(kind), index) for kind, index in stops))
            for agent, stops in message["routes"]
        ),
        tuple(message["found_by"]),
    )
