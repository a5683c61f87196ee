"""`make bench`: latencies and throughput of the house, recorded with the machine they were taken on.

Owns the order of the measurements and how many samples each gets: about four minutes in all, 90 s with `--quick`
(which leaves the table alone). Plans have a benchmark of their own.
"""

import argparse
import asyncio
import random
import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks import end_to_end_latency, job_store_latency, recovery_latency
from benchmarks.performance_goals import against_limits
from benchmarks.result_files import Figure, keep, machine, table

SEED: Final = 1


async def measure(*, is_quick: bool) -> list[Figure]:
    """Return every figure, the engine room first."""
    n = 100 if is_quick else 500
    with tempfile.TemporaryDirectory(prefix="planner-bench-") as folder:
        inside = await job_store_latency.measure(Path(folder) / "engine", n=3 * n)
        outside = await end_to_end_latency.measure(Path(folder) / "doors", n=n, cancels=5 if is_quick else 20)
        tried = await recovery_latency.measure(
            Path(folder), cancels=n // 25, kills=1 if is_quick else 3, watchers_s=n / 50
        )
    return [*inside, *outside, *tried]


def main() -> int:
    """Measure, print the table and keep the result."""
    parser = argparse.ArgumentParser(description="Measure latencies and throughput of the house.")
    parser.add_argument("--quick", action="store_true", help="fewer samples; the table in the README stays")
    options = parser.parse_args()
    random.seed(SEED)
    about = machine()
    figures = asyncio.run(measure(is_quick=options.quick))
    print(f"{table(figures)}\n\n{against_limits(figures)}")
    print(f"\nkept: {keep(figures, about, seed=SEED, is_quick=options.quick, goals=against_limits(figures))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
