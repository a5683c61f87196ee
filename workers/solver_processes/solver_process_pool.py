"""The worker's side of the warm parent: ask for children, talk to them, learn how they ended.

Owns the handles `SolverProcessPool` and `SolverProcess`. The warm parent is started anew when it dies; its children
die with it and are reported like any death. See `workers/solver_processes/fork_server.py` for the conversation.
"""

import asyncio
import itertools
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self, TypeVar

from typing_extensions import override

from planner_mcp.errors import EngineCrashedError
from workers.child_processes import message_frames

MAX_SOLVES_PER_PROCESS: Final = 200
"""Orders a child serves before it is replaced, so that a leak stays small."""
START_S: Final = 60.0
"""Longest time the imports of the warm parent may take on a busy machine."""


@dataclass(frozen=True, slots=True)
class ProcessExit:
    """How a child ended."""

    code: int
    """As of `os.waitstatus_to_exitcode`: negative for the signal that killed it."""
    peak_mb: float = 0.0


KILLED: Final = ProcessExit(-signal.SIGKILL)
_ResultT = TypeVar("_ResultT")


class SolverProcess(asyncio.Protocol):
    """A solving process. What it says is told as it comes, to whoever listens."""

    def __init__(self, number: int, process_pool: "SolverProcessPool") -> None:
        loop = asyncio.get_running_loop()
        self.number = number
        self.pid: asyncio.Future[int] = loop.create_future()
        self.exit: asyncio.Future[ProcessExit] = loop.create_future()
        self.solves_started = 0
        self._process_pool = process_pool
        self._buffer = message_frames.FrameBuffer()
        self._on_message: Callable[[message_frames.Message | None], None] = _ignore
        self._has_hung_up = False
        self._transport: asyncio.WriteTransport

    async def open(self, sock: socket.socket) -> None:
        """Open the conversation; orders may be sent before the fork has happened."""
        self._transport, _ = await asyncio.get_running_loop().create_connection(lambda: self, sock=sock)

    def listen(self, on_message: Callable[[message_frames.Message | None], None]) -> None:
        """Have somebody hear every message from now on, and None when the child hung up."""
        self._on_message = on_message
        if self._has_hung_up:
            on_message(None)

    @override
    def data_received(self, data: bytes) -> None:
        """Tell every message that is whole."""
        for message in self._buffer.feed(data):
            self._on_message(message)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        """Tell that the child hung up."""
        self._has_hung_up = True
        self._on_message(None)

    def send(self, message: message_frames.Message) -> None:
        """Send a message; a child that is gone is noticed by who listens, not here."""
        self._transport.write(message_frames.pack(message))

    async def wait(self, timeout_s: float) -> None:
        """Wait for the process to end, for a while."""
        await asyncio.wait([self.exit], timeout=timeout_s)

    def kill(self) -> None:
        """Kill the process; `exit` tells when it is gone."""
        self._process_pool.kill(self)

    def close(self) -> None:
        """Hang up; an idle child then ends by itself."""
        self._transport.close()


class SolverProcessPool:
    """Children on demand. Use as an async context; leaving it kills every child."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._children: dict[int, SolverProcess] = {}
        self._idle: SolverProcess | None = None
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._writer: asyncio.StreamWriter
        self._listener: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """Process id of the warm parent."""
        return self._process.pid if self._process else None

    async def __aenter__(self) -> Self:
        await self._start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stop()

    async def acquire(self) -> SolverProcess:
        """Return a child without an order: the idle one, or a new fork."""
        child, self._idle = self._idle, None
        if child is not None and not child.exit.done():
            return child
        if self._control is None:
            await self._stop()
            await self._start()
        return await self._fork()

    def release(self, child: SolverProcess, *, is_reusable: bool) -> None:
        """Take back a child that has ended its order; one that is young and well is kept for the next."""
        if (
            is_reusable
            and self._idle is None
            and child.solves_started < MAX_SOLVES_PER_PROCESS
            and not child.exit.done()
        ):
            self._idle = child
        else:
            child.kill()
            child.close()

    def kill(self, child: SolverProcess) -> None:
        """Kill a child; through the warm parent, which alone knows that the process id is still its own."""
        self._send_request({"do": "kill", "child": child.number})

    async def _fork(self) -> SolverProcess:
        ours, theirs = socket.socketpair()
        child = SolverProcess(next(self._numbers), self)
        await child.open(ours)
        self._children[child.number] = child
        self._send_request({"do": "fork", "child": child.number}, theirs)
        theirs.close()
        return child

    def _send_request(self, request: message_frames.Message, attached: socket.socket | None = None) -> None:
        """Send a small request; when the warm parent cannot take it, it is dead or stuck and so are its children."""
        if self._control is None:
            return
        try:
            fds = [attached.fileno()] if attached else []
            socket.send_fds(self._control, [message_frames.pack(request)], fds)
        except (ConnectionError, BlockingIOError):
            self._mark_dead()

    async def _start(self) -> None:
        ours, theirs = socket.socketpair()
        self._process = _spawn_fork_server(theirs)
        theirs.close()
        self._control = ours.dup()
        self._control.setblocking(False)
        reader, self._writer = await asyncio.open_connection(sock=ours)
        try:
            async with asyncio.timeout(START_S):
                ready = await message_frames.receive(reader)
        except TimeoutError:
            ready = None
        if ready is None:
            self._mark_dead()
            raise EngineCrashedError("The process that loads the solvers did not start.")
        self._listener = asyncio.create_task(self._listen(reader))

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        """Hear the warm parent. Whatever ends that: children nobody hears of any more are dead."""
        try:
            while (message := await message_frames.receive(reader)) is not None:
                self._record(message)
        finally:
            self._mark_dead()

    def _record(self, message: message_frames.Message) -> None:
        child = self._children[message["child"]]
        if "pid" in message:
            _resolve_future(child.pid, message["pid"])
        else:
            del self._children[child.number]
            _resolve_future(child.exit, ProcessExit(os.waitstatus_to_exitcode(message["status"]), message["peak_mb"]))

    def _mark_dead(self) -> None:
        """Declare the warm parent and all its children dead, and make sure of it."""
        if self._control is None or self._process is None:
            return
        self._control.close()
        self._control = None
        self._writer.close()
        self._process.kill()
        for child in self._children.values():
            _resolve_future(child.exit, KILLED)
            child.close()
        self._children.clear()

    async def _stop(self) -> None:
        self._idle = None
        if self._listener is not None:
            self._listener.cancel()
            await asyncio.wait([self._listener])
        self._mark_dead()
        if self._process is not None:
            await asyncio.to_thread(self._process.wait)


def _resolve_future(future: asyncio.Future[_ResultT], result: _ResultT) -> None:
    if not future.done():  # whoever waited for it may have been cancelled, and the news with it
        future.set_result(result)


def _ignore(_message: message_frames.Message | None) -> None:
    """Hear nothing."""


def _spawn_fork_server(control: socket.socket) -> subprocess.Popen[bytes]:
    """Start the warm parent with its end of the conversation.

    Its stdout is our stderr: ours may be a protocol stream that a solver must not print into. Libraries are told to
    start no threads, because a fork would lose them.
    """
    command = [sys.executable, "-m", "workers.solver_processes.fork_server", str(control.fileno()), str(os.getpid())]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(  # noqa: S603 — our own interpreter and module
        command, pass_fds=[control.fileno()], env=environment, stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno()
    )
