"""The process that forks one child for each bounded call, with the modules of earlier calls imported.

Owns forking and what a child does. The caller's process sends, over one stream socket, the name of a module and the
child's own socket; the rest is between caller and child. A child ends with its call, and with it all memory the call
took. This process ends with its caller's and takes its children with it.
"""

import contextlib
import gc
import importlib
import logging
import os
import select
import signal
import socket
import sys
import threading
from typing import Any, Final

from planner_mcp import process_limits
from planner_mcp.bounded_calls.call_frames import HEAD, Call, FrameKind, packed, unpacked
from planner_mcp.errors import PlannerError, TooLargeError
from planner_mcp.settings import Settings
from planner_mcp.telemetry import configure_logging

NAME_BYTES: Final = 256
"""Length of a name of a module as it is sent, blanks behind it."""
OUT_OF_BOUNDS: Final = "The input takes more memory or time than allowed."
USED_BY_CALLS: Final = ("numpy", "planner_mcp.addresses.offline_resolver", "planner_mcp.formats.import_formats")
"""What modules of calls import when they first use it. It is imported here, or each child would pay for it anew."""
log = logging.getLogger(__name__)
_connection: socket.socket | None = None


def ask_caller(question: Any) -> Any:
    """Return the caller's answer to a question; in a child alone.

    Raises:
        PlannerError: What the caller raised instead.
    """
    _send(FrameKind.QUESTION, question)
    return _received()


def serve(control: socket.socket) -> None:
    """Fork a child for each socket that comes, until the caller's process has gone."""
    parent = os.getpid()
    while True:
        name, fds, _, _ = socket.recv_fds(control, NAME_BYTES, 1, socket.MSG_WAITALL)
        if not name:
            return
        _import(name.decode().strip())
        if os.fork() == 0:
            control.close()
            _become_child(fds[0], parent)
        os.close(fds[0])


def _import(name: str) -> None:
    """Import the module of a call before the fork, so that later children have it, and what its `before_fork` reads."""
    if name not in sys.modules:
        with contextlib.suppress(ImportError):  # reported by the child, which meets it again
            module = importlib.import_module(name)
            if (prepare := getattr(module, "before_fork", None)) is not None:
                prepare()
        for each in USED_BY_CALLS:
            with contextlib.suppress(ImportError):
                importlib.import_module(each)
        gc.collect()
        gc.freeze()


def _become_child(fd: int, parent: int) -> None:
    """Do one call; never returns."""
    global _connection
    try:
        process_limits.die_with_parent(parent)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        gc.disable()
        process_limits.yield_to_servers()
        _connection = socket.socket(fileno=fd)
        call = _received()
        threading.Thread(target=_end_with_caller, args=(_connection,), daemon=True).start()
        _do(call)
    except ConnectionError:
        pass  # the caller has gone
    finally:
        os._exit(os.EX_OK)


def _end_with_caller(connection: socket.socket) -> None:
    """End this process once its caller has left: nobody waits for the call, and its turn is another's by now."""
    gone = select.poll()
    gone.register(connection, 0)  # of no event, so only the closed end is told
    gone.poll()
    os._exit(os.EX_OK)


def _do(call: Call) -> None:
    process_limits.die_after(call.limits.wall_s)
    process_limits.cap_cpu(call.limits.cpu_s)
    process_limits.cap_growth(call.limits.memory_mb)
    try:
        result = call.function(*call.args)
    except PlannerError as error:
        _send_error(error.with_traceback(None))
    except MemoryError:
        _send_error(TooLargeError(OUT_OF_BOUNDS))
    except Exception:  # what is left is a bug: one line in the log, and no detail for the caller
        log.exception("bounded call failed", extra={"function": str(call.function)})
        _send_error(PlannerError())
    else:
        _send(FrameKind.ANSWER, (result, _cpu_s()))


def _send_error(error: PlannerError) -> None:
    _send(FrameKind.ERROR, (error, _cpu_s()))


def _cpu_s() -> float:
    return sum(os.times()[:2])


def _send(kind: FrameKind, value: Any) -> None:
    if _connection is None:
        raise RuntimeError("a question is asked in a child alone")
    for part in packed(kind, value):
        _connection.sendall(part)


def _received() -> Any:
    kind, length = HEAD.unpack(_read(HEAD.size))
    value = unpacked(_read(length))
    if kind.decode() == FrameKind.ERROR:
        raise value
    return value


def _read(length: int) -> bytes:
    if _connection is None:
        raise RuntimeError("a question is asked in a child alone")
    data = bytearray(length)
    view = memoryview(data)
    while view:
        if not (count := _connection.recv_into(view)):
            raise ConnectionError
        view = view[count:]
    return bytes(data)


def main() -> None:
    """Run the call server: `python -m planner_mcp.bounded_calls.call_server CONTROL_FD`.

    It ends when its caller's end of the socket is closed. The kernel's signal at the death of a parent would come too
    early: it is sent when the thread ends that started the process.
    """
    control = socket.socket(fileno=int(sys.argv[1]))
    process_limits.outlive_terminal_signals()
    configure_logging(Settings())
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps: each child answers its caller itself
    # what runs as __main__ is another module than the one that calls import to ask their caller
    importlib.import_module("planner_mcp.bounded_calls.call_server").serve(control)


if __name__ == "__main__":
    main()
