"""Calls a function in a process of its own, with limits of time and memory.

Owns the caller's side: the call server of this process, which starts with the first call, and one exchange with a
child. Whose turn it is and what a call may cost is the caller's. A call that is cancelled is not waited for: the child
ends when its connection is closed.
"""

import asyncio
import atexit
import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from planner_mcp.bounded_calls.call_frames import HEAD, Call, CallLimits, FrameKind, packed, unpacked
from planner_mcp.bounded_calls.call_server import NAME_BYTES, OUT_OF_BOUNDS
from planner_mcp.errors import PlannerError, TooLargeError

T = TypeVar("T")
AnswerQuestion = Callable[[Any], Awaitable[Any]]
"""Answers what a child asks by `ask_caller`."""


USUAL_LIMITS: Final = CallLimits()
SLICE_BYTES: Final = 1 << 17
"""Written at once."""


async def bounded_call(
    function: Callable[..., T],
    *args: Any,
    limits: CallLimits = USUAL_LIMITS,
    answer: AnswerQuestion | None = None,
    spend: Callable[[float], None] | None = None,
) -> T:
    """Return what a function of a module returns, called in a process of its own.

    Args:
        function: Is found by its name in the child.
        args: Are pickled.
        limits: Of the child.
        answer: Answers what the function asks by `ask_caller`.
        spend: Is told the CPU seconds that the child took, whatever the call returns or raises. A child that reached a
            limit, or whose call was cancelled, cannot say them: the time that passed counts then.

    Raises:
        PlannerError: As the function raised it.
        TooLargeError: The child reached a limit.
    """
    reader, writer = await _open_connection(function.__module__)
    began, cpu_s = time.monotonic(), 0.0
    try:
        await _send(writer, packed(FrameKind.CALL, Call(function, args, limits)))
        del args  # of a large input nothing is kept while the child works
        while True:
            kind, length = HEAD.unpack(await reader.readexactly(HEAD.size))
            value = unpacked(await reader.readexactly(length))
            match kind.decode():
                case FrameKind.ERROR:
                    value, cpu_s = value
                    try:
                        raise value
                    finally:
                        del value  # a frame that names what it raises lives on, and with it the input of each caller
                case FrameKind.ANSWER:
                    result: T
                    result, cpu_s = value
                    return result
                case _:
                    await _send(writer, await _answered(answer, value))
    except asyncio.CancelledError:
        cpu_s = min(limits.cpu_s, time.monotonic() - began)
        raise
    except (asyncio.IncompleteReadError, ConnectionError):
        cpu_s = min(limits.cpu_s, time.monotonic() - began)
        raise TooLargeError(OUT_OF_BOUNDS) from None
    finally:
        if spend is not None:
            spend(cpu_s)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def _open_connection(module: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Return a connection to a new child. A caller that is cancelled meanwhile leaves the fork to end in its thread."""
    ours, theirs = socket.socketpair()
    try:
        await asyncio.shield(asyncio.create_task(_fork(module, theirs)))
        return await asyncio.open_connection(sock=ours)
    except BaseException:
        ours.close()
        raise


async def _fork(module: str, connection: socket.socket) -> None:
    """Hand a new child its end of a connection, which is open here until that is done."""
    with connection:
        await asyncio.to_thread(_call_server.fork, module, connection)


async def _send(writer: asyncio.StreamWriter, frame: tuple[bytes, bytes]) -> None:
    """Write a frame in slices: of one write the event loop would copy all that the socket does not take at once."""
    for part in frame:
        view = memoryview(part)
        for at in range(0, len(view), SLICE_BYTES):
            writer.write(view[at : at + SLICE_BYTES])
            await writer.drain()


async def _answered(answer: AnswerQuestion | None, question: Any) -> tuple[bytes, bytes]:
    try:
        return packed(FrameKind.ANSWER, await answer(question) if answer is not None else None)
    except PlannerError as error:
        return packed(FrameKind.ERROR, error.with_traceback(None))


class _CallServer:
    """The call server of this process, whichever event loop asks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def fork(self, module: str, connection: socket.socket) -> None:
        """Have a child forked that serves a connection; start the call server where it does not run."""
        with self._lock:
            for _ in range(2):
                control = self._control or self._start()
                try:
                    socket.send_fds(control, [module.encode().ljust(NAME_BYTES)], [connection.fileno()])
                except OSError:
                    self.stop()
                else:
                    return
        raise PlannerError

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-P", "-m", "planner_mcp.bounded_calls.call_server", str(theirs.fileno())]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 our own interpreter and module
                command,
                pass_fds=[theirs.fileno()],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        self._control = ours
        return ours

    def stop(self) -> None:
        """Stop the call server, and with it what its children do."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


_call_server: Final = _CallServer()
atexit.register(_call_server.stop)
