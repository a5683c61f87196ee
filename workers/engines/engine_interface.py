"""What an engine is.

Owns the interface every solver stands behind. An engine turns a `Problem` into `Candidate`s; it is never believed:
the caller lays out times, verifies and prices each candidate itself. An engine must

* look at `should_stop()` at least every 50 ms in every phase, model building included, and return soon after it is true
  (an engine whose library cannot do that says so, and its process is ended instead);
* hand over each improvement as soon as it exists, by `on_improvement`, cheapest first not required;
* end by itself at `limits.deadline` (monotonic clock), with what it has;
* be repeatable for one seed as far as its solver allows, and say so in `is_deterministic`.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Protocol

from planner_mcp.routing.problem import Candidate, Feature, Problem


@cache
def version_of(package: str) -> str:
    """Return the version of an installed package, `""` without it. Read once: it takes longer than a small solve."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


class StopReason(StrEnum):
    """Why a search ended."""

    TIME_LIMIT = "time_limit"
    STOPPED = "stopped"
    EXHAUSTED = "exhausted"
    """The engine has nothing left to try (for example one ticket). Not a proof of optimality."""


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """What a search may use."""

    deadline: float
    """`time.monotonic()` at which to return."""
    seed: int = 0
    cores: int = 1
    asked_s: float | None = None
    """Seconds that were asked for. A search that paces itself goes by them, so that a seed repeats it whatever time was
    lost before it began; None: by what is left until the deadline."""

    @property
    def span_s(self) -> float:
        """Seconds by which a search paces itself."""
        return max(0.01, self.deadline - time.monotonic()) if self.asked_s is None else self.asked_s


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """How a search ended."""

    best: Candidate | None
    reason: StopReason
    iterations: int = 0


OnImprovement = Callable[[Candidate], None]
ShouldStop = Callable[[], bool]


class Engine(Protocol):
    """One solver."""

    @property
    def name(self) -> str:
        """Name a caller may ask for."""
        ...

    @property
    def features(self) -> frozenset[Feature]:
        """Features it respects. A problem whose `features` are not a subset is not for this engine."""
        ...

    @property
    def is_deterministic(self) -> bool:
        """Whether a seed repeats a run."""
        ...

    def is_available(self) -> bool:
        """Return whether its library can be loaded here."""
        ...

    def version(self) -> str:
        """Return the version of the solver behind it."""
        ...

    def solve(
        self,
        problem: Problem,
        limits: SearchLimits,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
        warm_start: Candidate | None = None,
    ) -> SearchOutcome:
        """Search until the deadline, `should_stop`, or nothing is left to try."""
        ...
