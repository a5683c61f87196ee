"""Searches side by side, each in a fork of its own.

Owns the forks of one solve: start, news, end. A lane is a function that searches and tells of improvements; it may hold
the interpreter as long as it likes, since nobody shares it. A lane that dies costs its core and nothing else; all lanes
die with the process that started them.
"""

import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from planner_mcp.errors import EngineCrashedError
from planner_mcp.routing.problem import Candidate, Route, Stop, StopKind
from workers.child_processes import message_frames, process_limits
from workers.engines.engine_interface import OnImprovement, ShouldStop

POLL_S: Final = 0.02
OVERTIME_S: Final = 0.3
"""A lane still searching this long after the deadline is ended; what it found is here already."""
_READ_BYTES: Final = 1 << 16

SearchFunction = Callable[[OnImprovement], None]


def run(
    parallel_search: Sequence[SearchFunction], deadline: float, on_improvement: OnImprovement, should_stop: ShouldStop
) -> bool:
    """Run every lane until all have ended, the deadline, or `should_stop`; return whether it was the last.

    Raises:
        EngineCrashedError: Every lane died.
    """
    running = [_SearchFork(search) for search in parallel_search]
    started = list(running)
    try:
        with selectors.DefaultSelector() as selector:
            for search_fork in running:
                selector.register(search_fork.sock, selectors.EVENT_READ, search_fork)
            while running and time.monotonic() < deadline + OVERTIME_S:
                for key, _ in selector.select(POLL_S):
                    if not key.data.read(on_improvement):
                        selector.unregister(key.data.sock)
                        running.remove(key.data)
                if should_stop():
                    return True
            for search_fork in running:
                search_fork.read_last(on_improvement)
    finally:
        for search_fork in started:
            search_fork.end()
    if all(search_fork.has_crashed for search_fork in started):
        raise EngineCrashedError
    return False


class _SearchFork:
    """One fork and the socket it speaks over."""

    def __init__(self, search: SearchFunction) -> None:
        self.sock, theirs = socket.socketpair()
        self._buffer = message_frames.FrameBuffer()
        self.has_crashed = False
        self._is_reaped = False
        parent = os.getpid()
        if (pid := os.fork()) == 0:
            self.sock.close()
            _run_in_fork(search, theirs, parent)
        theirs.close()
        self._pid = pid

    def read(self, on_improvement: OnImprovement) -> bool:
        """Pass on what the lane has found; return False when it has ended."""
        if data := self.sock.recv(_READ_BYTES):
            for message in self._buffer.feed(data):
                on_improvement(decode(message))
            return True
        _, status = os.waitpid(self._pid, 0)
        self.has_crashed = status != os.EX_OK
        self._is_reaped = True
        return False

    def read_last(self, on_improvement: OnImprovement) -> None:
        """Pass on what the lane told last while others were heard: the best of what it told since."""
        self.sock.setblocking(False)
        messages: list[message_frames.Message] = []
        with suppress(BlockingIOError):
            while data := self.sock.recv(_READ_BYTES):
                messages = [*self._buffer.feed(data)] or messages
        if messages:
            on_improvement(decode(messages[-1]))

    def end(self) -> None:
        """End the lane, if it has not ended itself, and bury it."""
        if not self._is_reaped:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        self.sock.close()


def _run_in_fork(search: SearchFunction, sock: socket.socket, parent: int) -> None:
    """Search and end; never returns."""
    status = os.EX_SOFTWARE
    try:
        process_limits.die_with_parent(parent)
        search(lambda candidate: message_frames.send(sock, encode(candidate)))
        status = os.EX_OK
    finally:
        if (error := sys.exception()) is not None:
            sys.excepthook(type(error), error, error.__traceback__)
        os._exit(status)


def encode(candidate: Candidate) -> message_frames.Message:
    """Return a candidate as it travels."""
    routes = [[route.agent, [[stop.kind.value, stop.index] for stop in route.stops]] for route in candidate.routes]
    return {"routes": routes, "found_by": candidate.found_by}


def decode(message: message_frames.Message) -> Candidate:
    """Return the candidate that travelled."""
    return Candidate(
        tuple(
            Route(agent, tuple(Stop(StopKind(kind), index) for kind, index in stops))
            for agent, stops in message["routes"]
        ),
        tuple(message["found_by"]),
    )
