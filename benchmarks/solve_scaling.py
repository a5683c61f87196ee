"""`python -m benchmarks.solve_scaling`: what a solve takes as days grow: memory, time to the first plan, overrun, time
to stop.

Owns days strewn evenly over a square, of any size. Each solve is a process of its own, as in a worker; one more is
stopped half way.
"""

import argparse
import json
import multiprocessing
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection

import numpy as np

from planner_mcp.routing.problem import AgentSpec, Feature, Problem, TicketSpec
from workers.engines.engine_interface import SearchLimits
from workers.engines.selection import engine_registry

SIDE = 100_000
DAY = 36_000


@dataclass(frozen=True, slots=True)
class Size:
    """What one engine took for one day."""

    n: int
    engine: str
    cores: int
    matrix_mb: int
    """Of distances and durations as they are handed over."""
    peak_mb: int
    """Of the process and the largest of its forks, the day and what they share counted in both."""
    first_s: float | None
    overrun_s: float
    stop_s: float
    """From the wish to stop to the end."""


def day(n: int) -> Problem:
    """Return a day of n tickets with windows of two hours, half of them any time, and enough agents."""
    draw = np.random.default_rng(n)
    points = draw.integers(0, SIDE, (n + 1, 2))
    points[0] = SIDE // 2
    distances = np.hypot(*(points[:, None, axis] - points[None, :, axis] for axis in (0, 1))).astype(np.int64)
    opens = draw.integers(0, DAY - 7200, n)
    tickets = tuple(
        TicketSpec(
            f"T{k}",
            k + 1,
            (int(draw.integers(1, 30)),),
            penalty=10**7,
            service=300,
            windows=((int(opens[k]), int(opens[k]) + 7200),) if k % 2 else (),
        )
        for k in range(n)
    )
    agents = tuple(AgentSpec(f"A{k}", (200,), 0, 0, (0, DAY), distance_cost=1) for k in range(n // 8 + 3))
    names = tuple(f"L{k}" for k in range(n + 1))
    features = frozenset({Feature.TIME_WINDOWS, Feature.SHIFTS})
    return Problem(agents, tickets, names, (distances,), (distances // 10,), features=features)


def _child(pipe: Connection, problem: Problem, name: str, limits_s: tuple[float, float, int]) -> None:
    limit_s, stop_s, cores = limits_s
    first: list[float] = []
    began = time.monotonic()
    engine_registry.choose(problem, name).solve(
        problem,
        SearchLimits(began + limit_s, 1, cores),
        lambda _: first.append(time.monotonic() - began),
        lambda: time.monotonic() - began > stop_s,
    )
    elapsed = time.monotonic() - began
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    peak = sum(resource.getrusage(each).ru_maxrss for each in who) // 1024
    pipe.send((peak, first[0] if first else None, elapsed))


def _run(problem: Problem, name: str, limit_s: float, stop_s: float, cores: int) -> tuple[int, float | None, float]:
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe(duplex=False)
    child = fork.Process(target=_child, args=(theirs, problem, name, (limit_s, stop_s, cores)))
    child.start()
    theirs.close()
    measured: tuple[int, float | None, float] = ours.recv()
    child.join()
    return measured


def measure(sizes: Sequence[int], engines: Sequence[str], limit_s: float, cores: int) -> Iterator[Size]:
    """Solve and stop a day of each size by each engine."""
    for n in sizes:
        problem = day(n)
        matrix_mb = 2 * problem.distances[0].nbytes // 2**20
        for name in engines:
            peak, first, elapsed = _run(problem, name, limit_s, limit_s + 60, cores)
            *_, stopped = _run(problem, name, 60, limit_s / 2, cores)
            times = (None if first is None else round(first, 2), round(elapsed - limit_s, 2))
            yield Size(n, name, cores, matrix_mb, peak, *times, round(stopped - limit_s / 2, 2))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line of JSON for each."""
    parser = argparse.ArgumentParser(prog="sizes", description=__doc__)
    parser.add_argument("--n", nargs="*", type=int, default=[100, 1000, 2000, 5000])
    parser.add_argument("--engine", nargs="*", default=engine_registry.names())
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args(arguments)
    for size in measure(options.n, options.engine, options.seconds, options.cores):
        print(json.dumps(asdict(size)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
