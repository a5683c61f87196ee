"""Locks on files, by which processes of one host agree who does something.

Owns taking one without waiting. The kernel drops the locks of a process that was killed, and keeps those that a child
inherited.
"""

import fcntl
from typing import IO


def take_lock(lock: IO[str], kind: int = fcntl.LOCK_EX) -> bool:
    """Return whether a lock is there to be had; it is held until the file is closed here and in every child."""
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
