"""A real Redis server on a local socket whose wall clock is set by the simulation.

The steps read `TIME`, and Redis itself reads a clock for ids of stream entries, idle times of deliveries and expiries,
which no argument reaches. So the clock is scripted below the server (`scripted_clock.c`), and the steps run as they
are. One connection sends every command, so commands run one after another. Valkey 9 counts milliseconds with the
processor's own counter, which nothing can script; so the server is the `redis-server` on PATH.
"""

import mmap
import shutil
import socket
import struct
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, Self

import hiredis
from redis.exceptions import ResponseError

from tests.shared.store.valkey_server import Valkey

EPOCH_S: Final = 1_800_000_000
"""Where the clock of each history begins, seconds of the Unix epoch."""
COMPILER: Final = shutil.which("cc")
PROGRAM: Final = shutil.which("redis-server")
CHUNK: Final = 65536


class ScriptedServer:
    """The server, its clock and the one connection."""

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="planner-")))
            clock, library = folder / "clock", folder / "scripted_clock.so"
            source = Path(__file__).with_name("scripted_clock.c")
            subprocess.run([COMPILER or "cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
            clock.write_bytes(bytes(8))
            with clock.open("r+b") as file:
                self._clock = stack.enter_context(mmap.mmap(file.fileno(), 8))
            self.set_clock(0.0)
            environment = {"LD_PRELOAD": str(library), "SCRIPTED_CLOCK": str(clock)}
            path = str(folder / "socket")
            options = {"appendonly": "no", "unixsocket": path}
            stack.enter_context(Valkey(folder, environment=environment, program=PROGRAM, **options))
            self._socket = stack.enter_context(socket.socket(socket.AF_UNIX))
            self._socket.connect(path)
            self._loaded: set[str] = set()
            self._reader = hiredis.Reader(encoding="utf-8", replyError=ResponseError)
            self._undo = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()

    def set_clock(self, at_s: float) -> None:
        """Set the wall clock, in seconds since the beginning of a history."""
        self._clock[:] = struct.pack("q", round((EPOCH_S + at_s) * 1e6))

    def load(self, scripts: Mapping[str, str]) -> None:
        """Load scripts, each once."""
        new = scripts.keys() - self._loaded
        self._loaded |= new
        self.ask_all([("SCRIPT", "LOAD", scripts[sha]) for sha in new])

    def ask(self, *words: Any) -> Any:
        """Run one command.

        Raises:
            ResponseError: As redis-py raises it.
        """
        return self.ask_all([words])[0]

    def ask_all(self, commands: list[tuple[Any, ...]]) -> list[Any]:
        """Run commands sent together; raise the first error among the replies."""
        self._socket.sendall(b"".join(map(hiredis.pack_command, commands)))
        replies = [self._reply() for _ in commands]
        for reply in replies:
            if isinstance(reply, ResponseError):
                raise reply
        return replies

    def _reply(self) -> Any:
        while (reply := self._reader.gets()) is False:
            self._reader.feed(self._socket.recv(CHUNK))
        return reply
