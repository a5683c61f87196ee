"""The worker's side of the fork server: starts solver processes, talks to them, reports how they ended.

Owns the handles `SolverProcessPool` and `SolverProcess`. The fork server holds the solvers in memory, so it is started
with the first job and stopped after `IDLE_S` without one. It is started again when it dies; its children die with it
and are reported like any death. `workers/solver_processes/fork_server.py` describes the messages.
"""

import asyncio
import itertools
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self, TypeVar

from typing_extensions import override

from planner_mcp import process_limits
from planner_mcp.errors import EngineCrashedError
from planner_mcp.task_cancellation import cancel_and_wait
from workers import message_frames

MAX_SOLVES_PER_PROCESS: Final = 200
"""Solves of one process before it is replaced, so that a memory leak stays small."""
START_S: Final = 60.0
"""Longest time the imports of the fork server may take on a busy machine."""
IDLE_S: Final = 300.0
"""The fork server and its idle child are stopped after this time without a job."""


@dataclass(frozen=True, slots=True)
class ProcessExit:
    """How a solver process ended."""

    code: int
    """As of `os.waitstatus_to_exitcode`: negative for the signal that killed it."""
    peak_mb: float = 0.0


KILLED: Final = ProcessExit(-signal.SIGKILL)
_ResultT = TypeVar("_ResultT")


class SolverProcess(asyncio.Protocol):
    """A process that solves. Its messages go to the function that `listen` was given."""

    def __init__(self, number: int, process_pool: "SolverProcessPool") -> None:
        loop = asyncio.get_running_loop()
        self.number = number
        self.pid: asyncio.Future[int] = loop.create_future()
        self.exit: asyncio.Future[ProcessExit] = loop.create_future()
        self.solves = 0
        """Solves it was acquired for."""
        self._process_pool = process_pool
        self._buffer = message_frames.FrameBuffer()
        self._on_message: Callable[[message_frames.Message | None], None] = _ignore
        self._is_disconnected = False
        self._transport: asyncio.WriteTransport

    async def open(self, sock: socket.socket) -> None:
        """Connect; messages may be sent before the fork has happened."""
        self._transport, _ = await asyncio.get_running_loop().create_connection(lambda: self, sock=sock)

    def listen(self, on_message: Callable[[message_frames.Message | None], None]) -> None:
        """Pass every message to a function from now on, and None when the process has closed its end."""
        self._on_message = on_message
        if self._is_disconnected:
            on_message(None)

    @override
    def data_received(self, data: bytes) -> None:
        """Pass on every message that is complete."""
        for message in self._buffer.feed(data):
            self._on_message(message)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        """Pass on that the process has closed its end."""
        self._is_disconnected = True
        self._on_message(None)

    def send(self, message: message_frames.Message) -> None:
        """Send a message. A process that is gone is noticed by the listener, not here."""
        self._transport.write(message_frames.pack(message))

    async def wait(self, timeout_s: float) -> None:
        """Wait until the process has ended, or for the timeout."""
        await asyncio.wait([self.exit], timeout=timeout_s)

    def resident_mb(self) -> float:
        """Return the memory the process holds, in MiB; 0 before it was forked and after its end."""
        return process_limits.resident_mb(self.pid.result()) if self.is_started else 0.0

    def cpu_s(self) -> float:
        """Return the CPU time the process has used, in seconds; 0 before it was forked and after its end."""
        return process_limits.cpu_s(self.pid.result()) if self.is_started else 0.0

    @property
    def is_started(self) -> bool:
        """Whether it was forked. A host without a free process, or memory for one, ends the fork server instead."""
        return self.pid.done() and not self.pid.cancelled()

    def kill(self) -> None:
        """Kill the process; `exit` is resolved when it is gone."""
        self._process_pool.kill(self)

    def release(self, *, is_reusable: bool) -> None:
        """Give the process back to its pool after a solve."""
        self._process_pool.release(self, is_reusable=is_reusable)

    def close(self) -> None:
        """Close the connection; an idle process then ends by itself."""
        self._transport.close()


class SolverProcessPool:
    """Solver processes on demand. Use as an async context; leaving it kills every process."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._children: dict[int, SolverProcess] = {}
        self._idle: SolverProcess | None = None
        self._in_use = 0
        """Processes that are acquired or about to be."""
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._writer: asyncio.StreamWriter
        self._listener: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()
        """Held while the fork server is started or stopped."""
        self._idle_since = time.monotonic()
        self._idle_task: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """Process id of the fork server; None while it is not running."""
        return self._process.pid if self._process and self._control else None

    async def __aenter__(self) -> Self:
        self._idle_task = asyncio.create_task(self._stop_when_idle())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._idle_task is not None:
            await cancel_and_wait(self._idle_task)
        async with self._lock:
            await self._stop()

    async def acquire(self) -> SolverProcess:
        """Return a process without a command: the idle one, or a new fork.

        Raises:
            EngineCrashedError: The fork server does not start, or this host has no room for a process.
        """
        self._in_use += 1
        try:
            child, self._idle = self._idle, None
            if child is None or child.exit.done():
                # a caller that is cancelled must not leave the fork server half started
                await asyncio.shield(asyncio.create_task(self._ensure_started()))
                child = await self._fork()
        except OSError as error:  # this host has no process, file or memory for it
            self._in_use -= 1
            raise EngineCrashedError(f"No solver process can be started: {error.strerror}.") from error
        except BaseException:
            self._in_use -= 1
            raise
        child.solves += 1
        return child

    def release(self, child: SolverProcess, *, is_reusable: bool) -> None:
        """Take back a process whose solve has ended; it is kept for the next solve if it may be used again."""
        self._in_use -= 1
        self._idle_since = time.monotonic()
        if is_reusable and self._idle is None and child.solves < MAX_SOLVES_PER_PROCESS and not child.exit.done():
            self._idle = child
        else:
            child.kill()
            child.close()

    def kill(self, child: SolverProcess) -> None:
        """Kill a process through the fork server, which alone knows that the process id is still its child's."""
        self._send_request({"do": "kill", "child": child.number})

    async def _fork(self) -> SolverProcess:
        ours, theirs = socket.socketpair()
        child = SolverProcess(next(self._numbers), self)
        with theirs:
            await child.open(ours)
            self._children[child.number] = child
            self._send_request({"do": "fork", "child": child.number}, theirs)
        if self._control is None:  # the fork server has died meanwhile, and nobody reports how this child ended
            self._children.pop(child.number, None)
            _resolve_future(child.exit, KILLED)
        return child

    async def _ensure_started(self) -> None:
        async with self._lock:
            if self._control is None:
                await self._stop()
                await self._start()

    async def _stop_when_idle(self) -> None:
        """Stop the fork server whenever there was no job for `IDLE_S`."""
        while True:
            await asyncio.sleep(IDLE_S / 10)
            async with self._lock:
                if not self._in_use and time.monotonic() - self._idle_since > IDLE_S:
                    await self._stop()

    def _send_request(self, request: message_frames.Message, attached: socket.socket | None = None) -> None:
        """Send a small request; a fork server that cannot take it is dead or stuck, and so are its children."""
        if self._control is None:
            return
        try:
            fds = [attached.fileno()] if attached else []
            socket.send_fds(self._control, [message_frames.pack(request)], fds)
        except (ConnectionError, BlockingIOError):
            self._mark_dead()

    async def _start(self) -> None:
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                self._process = _spawn_fork_server(theirs)
            self._control = ours.dup()
        except OSError:
            ours.close()
            raise
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
        """Read the reports of the fork server. When there are no more, its children count as dead."""
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
        """Kill the fork server, and with it all its children, and report them dead."""
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
    if not future.done():  # a waiter that was cancelled may have cancelled the future
        future.set_result(result)


def _ignore(_message: message_frames.Message | None) -> None:
    """Drop a message that nobody listens for."""


def _spawn_fork_server(control: socket.socket) -> subprocess.Popen[bytes]:
    """Start the fork server with its end of the control socket.

    Its stdout is our stderr, because our stdout may be a protocol stream that a solver must not print into. Libraries
    are configured to start no threads, because a fork would lose them.
    """
    module = "workers.solver_processes.fork_server"
    command = [sys.executable, "-P", "-m", module, str(control.fileno()), str(os.getpid())]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(  # noqa: S603 — our own interpreter and module
        command, pass_fds=[control.fileno()], env=environment, stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno()
    )
