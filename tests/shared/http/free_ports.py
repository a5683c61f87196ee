"""Ports for servers whose address must be known before they listen, or must stay theirs while they are away.

They lie below those that the kernel gives to clients: such a port that was free a moment ago may be some client's the
next. Each is handed out once, so two servers of a test never get the same.
"""

import os
import random
import socket
from contextlib import suppress
from itertools import cycle
from typing import Final

BUS: Final = 10_000
"""A node of a cluster listens on its port and on one this much above."""
LOWEST: Final = 12_000
PROCESSES: Final = 16
"""Test processes side by side that get ports of their own."""
_process = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % PROCESSES
_own = range(LOWEST + _process, LOWEST + BUS, PROCESSES)
_untried = cycle(random.SystemRandom().sample(_own, len(_own)))
"""With those of the bus all are below 32,000: the kernel's own begin at 32,768."""


def free_port() -> int:
    """Return a port on which nobody listens, nor on the one that a node of a cluster needs beside it."""
    for port in _untried:
        with suppress(OSError), _listening(port), _listening(port + BUS):
            return port
    raise AssertionError


def _listening(port: int) -> socket.socket:
    return socket.create_server(("127.0.0.1", port))
