"""`python -m benchmarks.recombination`: what recombination is worth, instance × seed, with and without it.

Owns paired runs that a loaded machine does not change: the native engine runs by iterations, and CPU is counted instead
of time. Both sides share the first round, two searches with seeds of their own. One recombines their routes, searches
on from the best plan and recombines again; the other searches on from the best plan, with more iterations in place of
the CPU that recombination took.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

from benchmarks import benchmark_instances
from benchmarks.benchmark_instances import Instance
from benchmarks.plans import DATA
from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.problem import Candidate
from planner_mcp.routing.verification.plan_verification import verify
from workers.engines.engine_interface import SearchLimits
from workers.engines.native.sisr_engine import SisrEngine
from workers.engines.recombination.recombination import Recombination
from workers.engines.selection.portfolio import SEED_STEP

PILOT_ITERATIONS: Final = 10_000
FIRST_SHARE: Final = 0.85
"""Share of a search before the first recombination, as in `auto`."""
LONG_S: Final = 3600.0
"""A deadline that no search reaches."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One paired run: gaps to the best known in percent, CPU in seconds."""

    instance: str
    set: str
    tickets: int
    seed: int
    first: float
    without: float
    recombined: float
    columns: int
    recombination_cpu_s: float


def run(instance: Instance, seed: int, cpu_s: float) -> Pair:
    """Make one paired run, with so much CPU for each of two searches."""
    problem, per_s = instance.problem, _iterations_per_s(instance, seed)
    recombination = Recombination(problem)
    first = [
        _search(instance, seed + number * SEED_STEP, per_s * cpu_s * FIRST_SHARE, None, recombination, number)
        for number in range(2)
    ]
    best = min(first, key=lambda candidate: price(problem, candidate))
    rest = per_s * cpu_s * (1 - FIRST_SHARE)
    began = time.process_time()
    start = recombination.improved(best, time.monotonic() + cpu_s, lambda: False)
    spent_s = time.process_time() - began
    searched = _search(instance, seed + 2 * SEED_STEP, rest, start, recombination, 0)
    began = time.process_time()
    recombined = recombination.improved(searched, time.monotonic() + cpu_s, lambda: False)
    spent_s += time.process_time() - began
    # the CPU of recombination is that of one core, while the other rests
    without = _search(instance, seed + 2 * SEED_STEP, rest + per_s * spent_s, best, None, 0)
    if any(verify(problem, build_plan(problem, each)) for each in (best, without, recombined)):
        raise SystemExit(f"{instance.name}: a plan was refused")
    return Pair(
        instance.name,
        instance.set,
        len(problem.tickets),
        seed,
        first=round(instance.gap(best), 4),
        without=round(instance.gap(without), 4),
        recombined=round(instance.gap(recombined), 4),
        columns=recombination.record.columns,
        recombination_cpu_s=round(spent_s, 2),
    )


def _iterations_per_s(instance: Instance, seed: int) -> float:
    began = time.process_time()
    _search(instance, seed, PILOT_ITERATIONS, None, None, 0)
    return PILOT_ITERATIONS / (time.process_time() - began)


def _search(
    instance: Instance,
    seed: int,
    iterations: float,
    start: Candidate | None,
    recombination: Recombination | None,
    number: int,
) -> Candidate:
    """Return the plan of one search; its routes go to the recombination."""
    log = None if recombination is None else recombination.logs(number + 1)[number]
    limits = SearchLimits(time.monotonic() + LONG_S, seed, route_log=log)
    engine = SisrEngine(max_iterations=max(1, round(iterations)))
    return engine.solve(instance.problem, limits, lambda _: None, lambda: False, start).best or Candidate(())


def table(pairs: Sequence[Pair]) -> str:
    """Return the mean of each instance as a table, with how often each side won."""
    lines = [
        "| instance | tickets | seeds | first round | without | with | better, worse | routes | CPU s |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name in dict.fromkeys(pair.instance for pair in pairs):
        of = [pair for pair in pairs if pair.instance == name]
        means = (fmean(getattr(pair, field) for pair in of) for field in ("first", "without", "recombined"))
        wins = sum(pair.recombined < pair.without for pair in of), sum(pair.recombined > pair.without for pair in of)
        columns, cpu_s = (fmean(getattr(pair, field) for pair in of) for field in ("columns", "recombination_cpu_s"))
        lines.append(
            f"| {name} ({of[0].set}) | {of[0].tickets} | {len(of)} | {' | '.join(f'{mean:.2f}' for mean in means)}"
            f" | {wins[0]}, {wins[1]} | {columns:.0f} | {cpu_s:.2f} |"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, one seed of every instance after another, and print the table of what there is after each run."""
    parser = argparse.ArgumentParser(prog="bench-recombination", description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get(DATA), help=f"folder of instances; else ${DATA}")
    parser.add_argument("--name", nargs="+", required=True, help="instances")
    parser.add_argument("--seed", nargs="+", type=int, default=[*range(1, 11)])
    parser.add_argument("--cpu", type=float, default=3.0, help="seconds of CPU of each of two searches")
    parser.add_argument("--out", type=Path, help="file of the finished runs, one per line; continued where it exists")
    options = parser.parse_args(arguments)
    instances = [*benchmark_instances.load_all(Path(options.data), names=options.name)]
    out = options.out
    pairs = [Pair(**json.loads(line)) for line in out.read_text().splitlines()] if out and out.exists() else []
    for seed in options.seed:
        for instance in instances:
            if any((pair.instance, pair.set, pair.seed) == (instance.name, instance.set, seed) for pair in pairs):
                continue
            pairs.append(run(instance, seed, options.cpu))
            print(pairs[-1], flush=True)
            if out:
                with out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(pairs[-1])) + "\n")
    print(table(pairs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
