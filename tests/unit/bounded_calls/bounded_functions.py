"""Functions that tests have called in a process of its own, where they are found by name."""

import os
import time
from typing import Any

from planner_mcp.bounded_calls.call_server import ask_caller
from planner_mcp.errors import Fault, input_error


def doubled(number: int) -> int:
    return 2 * number


class Sent:
    """An input that can be watched."""

    def close(self) -> None:
        """Say that its owner needs it to the end."""


def refused(_sent: Sent | None = None) -> None:
    raise input_error([Fault("/a", "It is wrong.", "something else")])


def refused_late() -> None:
    """Refuse after a tenth of a second of work."""
    ends_s = time.process_time() + 0.1
    while time.process_time() < ends_s:
        pass
    refused()


def failing() -> None:
    raise RuntimeError("the secret is hunter2")


def greedy(count: int) -> int:
    return len([bytes(1 << 20) for _ in range(count)])


def endless() -> None:
    while True:
        pass


def killed() -> None:
    os.abort()


def asking(names: list[str]) -> list[Any]:
    return [ask_caller(name) for name in names]


def reporting_pid() -> None:
    ask_caller(os.getpid())
    endless()
