"""`python -m benchmarks.paired_search --old CHECKOUT`: the engines of two checkouts, paired by instance and seed.

Owns paired runs that the load of the machine does not change: both sides get the same CPU time, their clocks count CPU
(`benchmarks/cpu_search.py`), and one run of each side follows the other. Instances are published ones by name, or
generated ones (`benchmarks/generated_instances.py`). Reported for each instance: the excess of each side over the best
plan of any run, the primal integral, and for each kind how many pairs each side won, with the sign test.
"""

import argparse
import json
import math
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from benchmarks import benchmark_instances, generated_instances
from benchmarks.benchmark_instances import Instance
from benchmarks.plans import DATA
from benchmarks.primal_integral import primal_integral

HERE: Final = Path(__file__).parents[1]
SIDES: Final = ("old", "new")
_CLOCK: Final = """
#pragma once
#include <chrono>
#include <cstdlib>
#include <ctime>
struct CpuClock {  // CPU time of the process, divided by its threads; read rarely, because reading takes a system call
    using duration = std::chrono::nanoseconds;
    using time_point = std::chrono::time_point<CpuClock, duration>;
    static time_point now() {
        static const long threads = std::getenv("SISR_CPU_THREADS") ? std::atol(std::getenv("SISR_CPU_THREADS")) : 1;
        thread_local int until_read = 0;
        thread_local time_point last;
        if (--until_read > 0) return last;
        until_read = 16;
        timespec used;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
        return last = time_point(duration((used.tv_sec * 1000000000L + used.tv_nsec) / threads));
    }
};
"""


@dataclass(frozen=True, slots=True)
class SideRun:
    """One run of one side."""

    side: str
    instance: str
    kind: str
    seed: int
    seconds: float
    cost: int
    routes: int
    iterations: int
    cpu_s: float
    reported: list[tuple[float, int]]
    load: float

    @property
    def day(self) -> tuple[str, str]:
        """Set and name of the instance: two sets may have one of the same name."""
        return self.kind, self.instance

    @property
    def pair(self) -> tuple[tuple[str, str], int, float]:
        """What both sides were asked."""
        return self.day, self.seed, self.seconds


def build(checkout: Path, target: Path) -> Path:
    """Compile the native engine of a checkout with the CPU clock, unless the library is younger than its sources."""
    sources = (checkout / "workers" / "engines" / "native").glob("*pp")
    if target.exists() and target.stat().st_mtime > max(path.stat().st_mtime for path in sources):
        return target
    with tempfile.TemporaryDirectory() as folder:
        clock = Path(folder) / "cpu_clock.hpp"
        clock.write_text(_CLOCK, encoding="utf-8")
        code = (
            "import sys; from pathlib import Path; from workers.engines.native.build import build;"
            "build(Path(sys.argv[1]), ['-include', sys.argv[2], '-DSISR_CLOCK=CpuClock'])"
        )
        _python(checkout, "-c", code, str(target.resolve()), str(clock))
    return target


def _python(checkout: Path, *arguments: str, given: bytes | None = None) -> str:
    environment = os.environ | {"PYTHONPATH": str(checkout.resolve())}
    command = [sys.executable, "-P", *arguments]
    done = subprocess.run(command, input=given, env=environment, cwd=checkout, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


def run(side: str, checkout: Path, library: Path, day: Instance, seed: int, options: argparse.Namespace) -> SideRun:
    """Make one run of one side."""
    asked = {"problem": day.problem, "library": str(library.resolve()), "engine": options.engine}
    asked |= {"seconds": options.seconds, "seed": seed, "cores": options.cores}
    text = _python(checkout, str(HERE / "benchmarks" / "cpu_search.py"), given=pickle.dumps(asked))
    found: dict[str, Any] = json.loads(text.splitlines()[-1])
    load = round(os.getloadavg()[0], 2)
    return SideRun(side, day.name, day.set, seed, options.seconds, **found, load=load)


def sign_test(better: int, worse: int) -> float:
    """Return the two-sided probability of a split at least this uneven, if both sides were equal."""
    count, least = better + worse, min(better, worse)
    return min(1.0, 2 * sum(math.comb(count, k) for k in range(least + 1)) / 2.0**count)


def table(runs: Sequence[SideRun]) -> str:
    """Return one row per instance and one per kind; lower is better everywhere but in iterations."""
    whole = {pair for pair in {run.pair for run in runs} if sum(run.pair == pair for run in runs) == len(SIDES)}
    paired = [run for run in runs if run.pair in whole]
    best = {day: min(run.cost for run in runs if run.day == day) for day in {run.day for run in runs}}
    head = "pairs | old % | new % | integral old | new | better, worse | p | routes old | new | iterations old | new"
    rows = [f"| instance or kind | {head} |", "|---|" + "--:|" * (head.count("|") + 1)]
    for day in dict.fromkeys(run.day for run in paired):
        rows.append(_row(" ".join(day), [run for run in paired if run.day == day], best))
    for kind in dict.fromkeys(run.kind for run in paired):
        rows.append(_row(f"**{kind}**", [run for run in paired if run.kind == kind], best))
    rows.append(_row("**all**", paired, best))
    return "\n".join(rows)


def _row(name: str, runs: Sequence[SideRun], best: dict[tuple[str, str], int]) -> str:
    sides = {side: {run.pair: run for run in runs if run.side == side} for side in SIDES}
    old, new = sides["old"], sides["new"]
    better = sum(new[pair].cost < old[pair].cost for pair in old)
    worse = sum(new[pair].cost > old[pair].cost for pair in old)

    def means(value: Any, form: str) -> str:
        return " | ".join(form.format(fmean(map(value, sides[side].values()))) for side in SIDES)

    excess = means(lambda run: 100 * (run.cost / best[run.day] - 1), "{:.2f}")
    integral = means(lambda run: primal_integral(run.reported, run.seconds, best[run.day]), "{:.2f}")
    routes, speed = means(lambda run: run.routes, "{:.1f}"), means(lambda run: run.iterations, "{:.0f}")
    counts = f"{len(old)} | {excess} | {integral} | {better}, {worse} | {sign_test(better, worse):.2f}"
    return f"| {name} | {counts} | {routes} | {speed} |"


def _instances(options: argparse.Namespace) -> list[Instance]:
    published = [*benchmark_instances.load_all(Path(options.data), names=options.name)] if options.name else []
    return [*published, *map(generated_instances.make, options.generated)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, one seed of every instance after another, and print the table."""
    parser = argparse.ArgumentParser(prog="bench-paired", description=__doc__)
    parser.add_argument("--old", type=Path, required=True, help="checkout of the engines to compare with")
    parser.add_argument("--new", type=Path, default=HERE, help="the other one; this one without")
    parser.add_argument("--data", type=Path, default=os.environ.get(DATA), help=f"folder of instances; else ${DATA}")
    parser.add_argument("--name", nargs="*", default=[], help="published instances")
    parser.add_argument("--generated", nargs="*", default=[], help="generated instances: KIND-SHAPE-LENGTH-TICKETS")
    parser.add_argument("--engine", default="sisr")
    parser.add_argument("--seconds", type=float, default=5.0, help="of CPU, per core")
    parser.add_argument("--seed", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--cores", type=int, default=1, help="more only with the native engine")
    parser.add_argument("--out", type=Path, required=True, help="file of the finished runs, one per line; continued")
    options = parser.parse_args(arguments)
    out: Path = options.out
    out.parent.mkdir(parents=True, exist_ok=True)
    runs = [SideRun(**json.loads(line)) for line in out.read_text().splitlines()] if out.exists() else []
    made = {(run.side, run.pair) for run in runs}
    checkouts = dict(zip(SIDES, (options.old, options.new), strict=True))
    libraries = {side: build(checkouts[side], out.with_suffix(f".{side}.so")) for side in SIDES}
    days = _instances(options)
    for seed in options.seed:
        for day in days:
            for side in SIDES:
                if (side, ((day.set, day.name), seed, options.seconds)) in made:
                    continue
                runs.append(run(side, checkouts[side], libraries[side], day, seed, options))
                with out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(runs[-1])) + "\n")
    print(table(runs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
