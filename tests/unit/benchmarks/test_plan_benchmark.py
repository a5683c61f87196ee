"""The benchmark of plans, on an instance written here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.plan_log import Run
from benchmarks.plan_table import tables
from benchmarks.primal_integral import primal_integral

REPOSITORY = Path(__file__).parents[3]
SOLOMON = """TINY

VEHICLE
NUMBER     CAPACITY
  2          10

CUSTOMER
CUST NO.  XCOORD.   YCOORD.    DEMAND   READY TIME  DUE DATE   SERVICE TIME

    0      0         0          0          0       1000          0
    1      3         4          5          0       1000         10
    2      6         8          5          0       1000         10
"""


@pytest.mark.slow
def test_bench_recomputes_the_cost_by_the_rule_of_the_set(tmp_path: Path) -> None:
    """Our choice: through the real engine code, gap by an independent recomputation. There and back is 20."""
    entry = {"name": "TINY", "set": "vrptw-tiny", "kind": "vrptw", "file": "tiny.txt", "bks": 16}
    (tmp_path / "tiny.txt").write_text(SOLOMON)
    (tmp_path / "index.json").write_text(json.dumps([entry]))
    first, again = bench(tmp_path), bench(tmp_path)
    assert "1 runs, 0 of them made before" in first
    assert "TINY               auto             1 s #1   25.000 %" in first
    assert "| vrptw-tiny (1) | **25.00** |" in first
    assert "1 runs, 1 of them made before" in again
    assert "| vrptw-tiny (1) | **25.00** |" in again


def bench(folder: Path) -> str:
    chosen = ("--engine", "auto", "--seconds", "1", "--seed", "1", "--log", str(folder / "log.jsonl"))
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.plans", *chosen],
        env={**os.environ, "PLANNER_BENCH_DATA": str(folder)},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout


def test_means_over_fewer_instances_are_not_compared() -> None:
    """Our choice: an engine that was spared the hard instance is not the best."""
    runs = [
        Run("easy", "set", 9, "all", 5, 1, 1, gap=2.0),
        Run("hard", "set", 9, "all", 5, 1, 1, gap=4.0),
        Run("easy", "set", 9, "some", 5, 1, 1, gap=1.0),
        Run("hard", "set", 9, "none", 5, 1, 1, fault="no plan"),
    ]
    assert tables(runs).splitlines()[-1] == "| set (2) | **3.00** | 1.00 (1 of 2) | no plan |"


def test_the_primal_integral_counts_the_time_until_each_plan() -> None:
    """Our choice, by hand: 1 s at the most (10 %), 1 s at 5 %, 8 s at 1 %; dearer and late plans count nothing."""
    reported = [(1.0, 105.0), (2.0, 101.0), (3.0, 104.0), (10.0, 100.0)]
    assert primal_integral(reported, 10, 100) == pytest.approx((10 + 5 + 8 * 1) / 10)
    assert primal_integral([], 10, 100) == pytest.approx(10)
    assert primal_integral([(0.0, 250.0)], 10, 100) == pytest.approx(10)


def test_engines_that_report_plans_have_a_table_of_primal_integrals() -> None:
    """Our choice: an engine that is silent until its end has no integral to compare."""
    runs = [
        Run("day", "set", 9, "auto", 5, 1, 1, gap=2.0, integral=3.0),
        Run("day", "set", 9, "silent", 5, 1, 1, gap=1.0),
    ]
    lines = tables(runs).splitlines()
    assert lines[-5:] == [
        "**5 s, primal integral, cores a solve may use: 1, seeds: 1**",
        "",
        "| set (instances) | auto |",
        "|---|--:|",
        "| set (1) | **3.00** |",
    ]
