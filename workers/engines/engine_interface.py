"""The interface of a solver engine.

Owns the protocols: what solves a problem, and what the registry knows of a single solver beside that. An engine turns a
`Problem` into `Candidate`s. The caller does not trust it: it computes times, verifies and prices each candidate itself.
An engine must

* call `should_stop()` at least every 50 ms in every phase, model building included, and return soon after it is true
  (an engine whose library cannot do that documents it, and its process is killed instead);
* report each improvement as soon as it exists, by `on_improvement`; the order of costs does not matter;
* return by `limits.deadline` (monotonic clock) with the best candidate it has;
* repeat its result for the same seed as far as its solver allows: the tool `solve_vrp` says whose runs a seed repeats.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from planner_mcp.routing.plan import ProofRecord, RecombinationRecord
from planner_mcp.routing.problem import Candidate, Feature, Problem


@cache
def version_of(package: str) -> str:
    """Return the version of an installed package, `""` if it is not installed. Cached, because reading it is slow."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


class StopReason(StrEnum):
    """The reason why a search ended."""

    TIME_LIMIT = "time_limit"
    STOPPED = "stopped"
    EXHAUSTED = "exhausted"
    """Nothing is left to try (for example, one ticket). This is no proof of optimality."""


class Team(Protocol):
    """The members of a team, as the search of one of them sees them (ADR 54)."""

    @property
    def number(self) -> int:
        """The number of this member; the owner of the job is 1."""
        ...

    @property
    def span_s(self) -> float:
        """Time span of the whole job, in seconds, the same for all members."""
        ...

    def members(self) -> Sequence[int]:
        """Return the numbers of the members that search now, ascending, this one among them."""
        ...

    def take_plan(self) -> Candidate | None:
        """Return a plan that another member has found since the last call."""
        ...

    def publish(self) -> None:
        """Have the best plan so far sent to the others now, rather than at the usual pace."""
        ...


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """The resources of a search."""

    deadline: float
    """`time.monotonic()` at which to return."""
    seed: int = 0
    cores: int = 1
    asked_s: float | None = None
    """Seconds the caller requested. Schedules such as cooling use them, so that a seed repeats a search whatever time
    was lost before it began. None: they use the time left until the deadline."""
    team: "Team | None" = None
    """The others that search for the same job, where there are any."""
    cooling: tuple[float, float] = (0.0, 1.0)
    """Where an engine cools: the shares of a longer cooling at which this search begins and ends."""
    route_log: NDArray[np.int64] | None = None
    """A buffer in which an engine may log routes of good plans, in the form of `native/route_log.hpp`."""
    on_proof: "OnProof | None" = None
    """Called with each better bound on the cost of every plan, by an engine that proves some. None: none is wanted."""
    proof_mb: int | None = None
    """Memory, in MiB, that the process of such an engine may take anew. None: as much as there is."""

    @property
    def span_s(self) -> float:
        """Time span, in seconds, for schedules such as cooling."""
        return max(0.01, self.deadline - time.monotonic()) if self.asked_s is None else self.asked_s


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The result of a search."""

    best: Candidate | None
    reason: StopReason
    iterations: int = 0
    recombination: RecombinationRecord | None = None
    """What recombination did, where the engine has it."""


OnImprovement = Callable[[Candidate], None]
OnProof = Callable[[ProofRecord], None]
ShouldStop = Callable[[], bool]


class Engine(Protocol):
    """A solver, or several behind one interface."""

    @property
    def name(self) -> str:
        """The name callers select it by."""
        ...

    def versions(self) -> dict[str, str]:
        """Return the version of each solver that may take part, by engine name; `""` where it is not installed."""
        ...

    def solve(
        self,
        problem: Problem,
        limits: SearchLimits,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
        warm_start: Candidate | None = None,
    ) -> SearchOutcome:
        """Search until the deadline, until `should_stop`, or until nothing is left to try."""
        ...


class RegisteredEngine(Engine, Protocol):
    """A single solver, which is chosen by the features of a problem."""

    @property
    def features(self) -> frozenset[Feature]:
        """Features it supports. It may only solve problems of which none is missing."""
        ...

    def is_available(self) -> bool:
        """Return whether its library is installed."""
        ...

    def missing(self, problem: Problem) -> frozenset[Feature]:
        """Return the features of a problem that it does not support, alone, in combination or at this size."""
        ...
