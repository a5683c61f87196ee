"""The fork server: a single-threaded process that has imported the solvers once and forks one child per solve.

Owns forking, killing and reaping. It solves nothing itself, so it always answers; it dies with its worker and takes
its children with it. The worker's side is `workers/solver_processes/solver_process_pool.py`; what a child does is
`workers/solver_processes/solver_child.py`. ADR 0027 says why this is not the standard library's forkserver.

Messages over one stream socket (frames of `workers/message_frames.py`):
worker → server: `{"do": "fork", "child": n}` with the child's socket attached, `{"do": "kill", "child": n}`;
server → worker: `{"child": n, "pid": p}` when forked, `{"child": n, "status": wait status, "peak_mb": m}` when reaped.
"""

import contextlib
import gc
import os
import selectors
import signal
import socket
import sys
from collections import deque

from planner_mcp import process_limits
from planner_mcp.settings import Settings
from planner_mcp.telemetry import configure_logging
from workers import message_frames
from workers.solver_processes import solver_child

_MAX_FDS = 8
_READ_BYTES = 65536


class ForkServer:
    """Serves fork and kill requests until its worker closes the control socket."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._buffer = message_frames.FrameBuffer()
        self._sockets: deque[int] = deque()
        self._pids: dict[int, int] = {}
        self._wake_read, self._wake_write = socket.socketpair()
        self._wake_read.setblocking(False)
        self._wake_write.setblocking(False)

    def run(self) -> None:
        """Serve until the worker closes its end, then kill every child."""
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake_write.fileno(), warn_on_full_buffer=False)
        with selectors.DefaultSelector() as selector, contextlib.suppress(ConnectionError):
            selector.register(self._control, selectors.EVENT_READ, self._read_requests)
            selector.register(self._wake_read, selectors.EVENT_READ, self._reap)
            while all(key.data() for key, _ in selector.select()):
                pass
        for pid in self._pids.values():
            os.kill(pid, signal.SIGKILL)

    def _read_requests(self) -> bool:
        data, fds, _, _ = socket.recv_fds(self._control, _READ_BYTES, _MAX_FDS)
        self._sockets.extend(fds)
        for request in self._buffer.feed(data):
            if request["do"] == "fork":
                self._fork(request["child"])
            elif (pid := self._pids.get(request["child"])) is not None:
                os.kill(pid, signal.SIGKILL)
        return bool(data)

    def _fork(self, child: int) -> None:
        fd = self._sockets.popleft()
        parent = os.getpid()
        if (pid := os.fork()) == 0:
            self._become_child(fd, parent)
        os.close(fd)
        self._pids[child] = pid
        message_frames.send(self._control, {"child": child, "pid": pid})

    def _become_child(self, fd: int, parent: int) -> None:
        """Turn the fork into a child; never returns."""
        status = os.EX_SOFTWARE
        try:
            process_limits.die_with_parent(parent)
            process_limits.yield_to_servers()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for end in (self._control, self._wake_read, self._wake_write):
                end.close()
            for stray in self._sockets:
                os.close(stray)
            status = solver_child.serve_commands(socket.socket(fileno=fd))
        finally:
            solver_child.report_uncaught()
            os._exit(status)

    def _reap(self) -> bool:
        with contextlib.suppress(BlockingIOError):
            while self._wake_read.recv(_READ_BYTES):
                pass
        for child, pid in list(self._pids.items()):
            done, status, usage = os.wait4(pid, os.WNOHANG)
            if done:
                del self._pids[child]
                report = {"child": child, "status": status, "peak_mb": process_limits.peak_mb(usage)}
                message_frames.send(self._control, report)
        return True


def preload() -> None:
    """Import what every child needs, and exclude it from garbage collection, which would copy its shared pages."""
    solver_child.preload()
    gc.collect()
    gc.freeze()


def main() -> None:
    """Run the fork server: `python -m workers.solver_processes.fork_server CONTROL_FD PARENT_PID`."""
    control = socket.socket(fileno=int(sys.argv[1]))
    process_limits.die_with_parent(int(sys.argv[2]))
    process_limits.outlive_terminal_signals()
    configure_logging(Settings())
    preload()
    message_frames.send(control, {"ready": True})
    ForkServer(control).run()


if __name__ == "__main__":
    main()
