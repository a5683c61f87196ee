"""The native engine: slack induction by string removals (SISR) in C++.

Owns the calls into the library of `workers/engines/native`. A thread searches without the GIL. This side reads its
incumbents from a shared buffer and passes on the deadline and the stop request.

Source: Christiaens and Vanden Berghe, Transportation Science 54 (2), 2020.
"""

import ctypes
import threading
import time
from dataclasses import replace
from functools import cache, partial
from typing import Final

import numpy as np

from planner_mcp.errors import EngineError, EngineMemoryError
from planner_mcp.routing.engine_features import ENGINE_FEATURES
from planner_mcp.routing.problem import Candidate, Feature, GroupKind, Problem
from workers.engines.engine_interface import OnImprovement, SearchLimits, SearchOutcome, ShouldStop, StopReason
from workers.engines.heuristics.best_verified import BestVerified
from workers.engines.native import native_arrays
from workers.engines.native.build import LIBRARY

POLL_S: Final = 0.02
"""Interval at which the stop request and the incumbent are polled."""
CALLBACK_SHARE: Final = 4
"""A callback of t seconds is followed by a pause of at least this many t, so that reports do not slow the search."""
FILL_SHARE: Final = 0.6
"""Share of the time in which routes below their least load are filled; in the rest they count as not driven, so that
tickets of a route that cannot be filled are served by others."""
_REASONS: Final = (StopReason.TIME_LIMIT, StopReason.STOPPED, StopReason.EXHAUSTED)
_OUT_OF_MEMORY: Final = 3
_COMPLETE, _LISTING_OUT_OF_MEMORY = 0, 2


@cache
def _library() -> ctypes.CDLL | None:
    """Return the library, or None when it was not built or has another interface version."""
    try:
        library = ctypes.CDLL(str(LIBRARY))
    except OSError:
        return None
    library.sisr_abi.restype = library.sisr_read.restype = ctypes.c_int64
    numbers = ctypes.POINTER(ctypes.c_int64)
    library.sisr_solve.argtypes = [
        ctypes.POINTER(native_arrays.Input),
        ctypes.POINTER(native_arrays.NativeOptions),
        numbers,
        ctypes.c_int64,
    ]
    library.sisr_read.argtypes = [numbers, numbers]
    if library.sisr_abi() != native_arrays.ABI_VERSION:
        return None
    library.sisr_price.restype = library.sisr_enumerate.restype = ctypes.c_int
    library.sisr_enumerate.argtypes = [ctypes.c_void_p, ctypes.c_void_p, numbers, ctypes.c_int64, numbers]
    library.sisr_price.argtypes = [*library.sisr_enumerate.argtypes, numbers]
    for listing in (library.proof_list_routes, library.proof_list_small_day):
        listing.restype = ctypes.c_int
        listing.argtypes = [ctypes.c_void_p, numbers, ctypes.c_int64, numbers]
    return library


def library() -> ctypes.CDLL:
    """Return the native library.

    Raises:
        EngineError: It is not built.
    """
    if (found := _library()) is None:
        raise EngineError("The native library is not built; run: python -m workers.engines.native.build")
    return found


def is_complete(end: int) -> bool:
    """Return whether a pricing or a listing of the native library has found everything, by how it ended.

    Raises:
        EngineMemoryError: It ran out of memory.
    """
    if end == _LISTING_OUT_OF_MEMORY:
        raise EngineMemoryError
    return end == _COMPLETE


class SisrEngine:
    """Ruin and recreate with simulated annealing; parallel by decomposition on more than one core.

    Args:
        max_iterations: Ends each search by count instead of time; cooling then follows the count, and a seed repeats a
            run.
    """

    name = "sisr"
    features = ENGINE_FEATURES["sisr"]

    def __init__(self, *, max_iterations: int | None = None) -> None:
        self.max_iterations = max_iterations

    def is_available(self) -> bool:
        """Return whether the library was built (`python -m workers.engines.native.build` needs a C++ compiler)."""
        return _library() is not None

    def versions(self) -> dict[str, str]:
        """Return the version of the library's interface; `""` without it."""
        return {self.name: "" if _library() is None else f"1.{native_arrays.ABI_VERSION}"}

    def missing(self, problem: Problem) -> frozenset[Feature]:
        """Return the features of a problem that it does not support: groups with a shipment in two ONE_OF groups."""
        unsupported = frozenset({Feature.GROUPS}) if _splits_shipments(problem) else frozenset()
        return problem.features - self.features | unsupported

    def solve(
        self,
        problem: Problem,
        limits: SearchLimits,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
        warm_start: Candidate | None = None,
    ) -> SearchOutcome:
        """Search until the deadline, until `should_stop`, or until nothing is left to try.

        The first plan is built even if the deadline passes meanwhile, for at most 10 s of CPU.

        Raises:
            EngineError: The library is not built.
            EngineMemoryError: The problem does not fit into memory.
        """
        if Feature.MIN_LOAD not in problem.features:
            return self._search(problem, limits, on_improvement, should_stop, warm_start)
        best, now = BestVerified(problem, on_improvement, warm_start), time.monotonic()
        search = partial(self._search, problem, on_improvement=best.offer, should_stop=should_stop)
        filling = replace(limits, deadline=now + FILL_SHARE * (limits.deadline - now))
        outcome = search(filling, warm_start=warm_start)
        start = best.settle()
        has_time = start is None or time.monotonic() < limits.deadline
        if has_time and outcome.reason is not StopReason.STOPPED:
            last = search(limits, warm_start=start, drops_short_routes=True)
            outcome = replace(last, iterations=outcome.iterations + last.iterations)
        return replace(outcome, best=best.settle())

    def first_plan(self, problem: Problem, should_stop: ShouldStop) -> Candidate | None:
        """Return the plan that a search begins with; None where there is none."""
        builder = SisrEngine(max_iterations=0)
        return builder.solve(problem, SearchLimits(time.monotonic()), lambda _: None, should_stop).best

    def _search(
        self,
        problem: Problem,
        limits: SearchLimits,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
        warm_start: Candidate | None,
        *,
        drops_short_routes: bool = False,
    ) -> SearchOutcome:
        most = -1 if self.max_iterations is None else self.max_iterations
        run = _Run(problem, limits, most, warm_start, drops_short_routes=drops_short_routes)
        return run.follow(on_improvement, should_stop)


def _splits_shipments(problem: Problem) -> bool:
    """Return whether the tickets of a shipment are in different ONE_OF groups."""
    delivery_of = {ticket.pickup: index for index, ticket in enumerate(problem.tickets) if ticket.pickup is not None}
    groups = (group.tickets for group in problem.groups if group.kind is GroupKind.ONE_OF)
    choices = (frozenset(delivery_of.get(index, index) for index in tickets) for tickets in groups)
    choice_of: dict[int, frozenset[int]] = {}
    return any(choice_of.setdefault(index, choice) != choice for choice in choices for index in choice)


class _Run:
    """One search in a thread, and the incumbent buffer it shares with this side."""

    def __init__(
        self,
        problem: Problem,
        limits: SearchLimits,
        max_iterations: int,
        warm_start: Candidate | None,
        *,
        drops_short_routes: bool = False,
    ) -> None:
        self._library = library()
        self._problem = problem
        self._arrays = native_arrays.Arrays(problem, drops_short_routes=drops_short_routes)
        self._warm = native_arrays.encode(warm_start or Candidate(()))
        self._incumbent_buffer = native_arrays.incumbent_buffer(problem, self._warm)
        self._copy = np.zeros_like(self._incumbent_buffer)
        self._sequence_read = 0
        self._best: Candidate | None = None
        self._exit_code = -1
        warm_length = 0 if warm_start is None else len(self._warm)
        log = limits.route_log
        seconds = max(0.001, limits.deadline - time.monotonic())
        self._options = native_arrays.NativeOptions(
            seconds,
            limits.seed,
            limits.cores,
            max_iterations,
            warm_length,
            native_arrays.cells_of(self._warm),
            0 if log is None else len(log),
            None if log is None else native_arrays.cells_of(log),
            *limits.cooling,
        )
        self._thread = threading.Thread(target=self._search, name="sisr", daemon=True)

    def _search(self) -> None:
        size = len(self._incumbent_buffer)
        self._exit_code = self._library.sisr_solve(
            self._arrays.input, self._options, native_arrays.cells_of(self._incumbent_buffer), size
        )

    def follow(self, on_improvement: OnImprovement, should_stop: ShouldStop) -> SearchOutcome:
        """Run to the end; report improvements and pass on the stop request."""
        self._thread.start()
        next_report = 0.0
        try:
            while self._thread.is_alive():
                self._thread.join(POLL_S)
                if should_stop():
                    self._incumbent_buffer[native_arrays.CANCEL] = 1
                elif time.monotonic() >= next_report and (better := self._improved()) is not None:
                    began = time.monotonic()
                    on_improvement(better)
                    next_report = time.monotonic() + CALLBACK_SHARE * (time.monotonic() - began)
        finally:
            self._incumbent_buffer[native_arrays.CANCEL] = 1
            self._thread.join()
        if (better := self._improved()) is not None:
            on_improvement(better)
        if self._exit_code == _OUT_OF_MEMORY:
            raise EngineMemoryError
        return SearchOutcome(
            self._best, _REASONS[self._exit_code], int(self._incumbent_buffer[native_arrays.ITERATIONS])
        )

    def _improved(self) -> Candidate | None:
        """Return the incumbent of the buffer, None where it was read before."""
        if self._incumbent_buffer[native_arrays.SEQUENCE] == self._sequence_read:
            return None
        self._sequence_read = self._library.sisr_read(
            native_arrays.cells_of(self._incumbent_buffer), native_arrays.cells_of(self._copy)
        )
        self._best = native_arrays.decode(self._problem, self._copy[1 : 1 + self._copy[0]].tolist())
        return self._best
