"""`make bench`: latencies, throughput and start-up cost, recorded with the machine they were taken on.

Owns the order of the measurements and how many samples each gets: about four minutes in all, 90 s with `--quick`
(which leaves the table alone). The quality of plans has a benchmark of its own.
"""

import argparse
import asyncio
import random
import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks import end_to_end_latency, queue_fairness, recovery_latency, start_cost
from benchmarks.performance_goals import goal_table
from benchmarks.result_files import Figure, machine, report

SEED: Final = 1


async def measure(*, is_quick: bool) -> list[Figure]:
    """Return every figure."""
    n = 100 if is_quick else 500
    with tempfile.TemporaryDirectory(prefix="planner-bench-") as folder:
        return [
            *await start_cost.measure(3 if is_quick else 10),
            *await queue_fairness.measure(Path(folder) / "queue"),
            *await end_to_end_latency.measure(Path(folder) / "http", n=n, cancels=5 if is_quick else 20),
            *await recovery_latency.measure(
                Path(folder), cancels=n // 25, kills=1 if is_quick else 3, watchers_s=n / 50
            ),
        ]


def main() -> int:
    """Measure, print the table and keep the result."""
    parser = argparse.ArgumentParser(description="Measure latencies, throughput and start-up cost.")
    parser.add_argument("--quick", action="store_true", help="fewer samples; the table in the README stays")
    options = parser.parse_args()
    random.seed(SEED)
    about = machine()
    figures = asyncio.run(measure(is_quick=options.quick))
    report(figures, about, goal_table, is_quick=options.quick, seed=SEED)
    return 0


if __name__ == "__main__":
    sys.exit(main())
