"""A lock between the processes of a test run, for what only one of them may do."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def machine_lock(name: str) -> Iterator[None]:
    """Hold a lock of this machine for the length of the block."""
    with (Path(tempfile.gettempdir()) / f"planner-tests-{os.getuid()}-{name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
