"""Frames between a caller and the child that does its call: a kind, a length, a pickled value.

Owns the form of the frames. What is pickled was made by our own code on both sides: text of clients travels inside, as
bytes or text, and is decoded in the child alone.
"""

import pickle
import struct
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

HEAD: Final = struct.Struct(">cQ")


class FrameKind(StrEnum):
    """What a frame says."""

    CALL = "c"
    """Caller to child: a `Call`."""
    QUESTION = "q"
    """Child to caller: what the child needs to know; the answer or an error follows."""
    ANSWER = "a"
    """Either way: what the call returns, with the CPU seconds it took, or the answer to a question."""
    ERROR = "e"
    """Either way: the `PlannerError` that was raised instead; that of the call with its CPU seconds."""


@dataclass(frozen=True, slots=True)
class CallLimits:
    """What one call may take."""

    cpu_s: float = 20.0
    wall_s: float = 60.0
    """Time in all, with a busy machine and the caller's answers."""
    memory_mb: int = 1024
    """Memory beside that of the imports; enforced on Linux."""


@dataclass(frozen=True, slots=True)
class Call:
    """What a child does, and its limits."""

    function: Any
    """Of a module, so that pickling keeps its name alone."""
    args: tuple[Any, ...]
    limits: CallLimits


def packed(kind: FrameKind, value: Any) -> tuple[bytes, bytes]:
    """Return the head and the body of a frame; to put them together would copy a large body once more."""
    body = pickle.dumps(value, protocol=5)
    return HEAD.pack(kind.encode(), len(body)), body


def unpacked(body: bytes) -> Any:
    """Return the value of a frame."""
    return pickle.loads(body)  # noqa: S301 written by our own code on the other side
