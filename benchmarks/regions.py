"""`python -m benchmarks.regions`: what regions are worth to a team on a large day, against searches of the whole.

Owns a comparison by iterations and CPU instead of time, so that a busy machine changes nothing but the duration. The
members of a team run one after another in one process, and plans meet at the ends of rounds: what the way through the
store costs is left out. An iteration inside a region is cheaper than one of the whole day, so members of regions get
more of them; the CPU of both is printed.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from benchmarks.result_files import machine, write
from benchmarks.scenarios import strewn_day
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.problem import Candidate, Problem
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from planner_mcp.routing.verification.plan_verification import verify
from workers.engines.engine_interface import SearchLimits
from workers.engines.native.sisr_engine import SisrEngine
from workers.engines.selection.region_search import BORDER_SHARE, ROUND_SHARE
from workers.engines.selection.regions import cut_into_regions, merged_plans, region_of
from workers.engines.selection.time_allocation import STARTER_SHARE

LONG_S: Final = 1e6
MORE: Final = 1.6
"""Iterations in a region for one of the whole day."""
ROUNDS: Final = round(BORDER_SHARE / ROUND_SHARE)


@dataclass(frozen=True, slots=True)
class Pair:
    """One day, planned by a team of regions and by one of wholes, and by the native engine with as many threads."""

    tickets: int
    seed: int
    members: int
    whole: int
    regions: int
    threads: int
    cpu_s: dict[str, float]

    @property
    def ratio(self) -> float:
        """Below 1: regions are cheaper."""
        return self.regions / self.whole


def _search(
    problem: Problem,
    iterations: float,
    seed: int,
    start: Candidate | None = None,
    *,
    cooling: tuple[float, float] = (0.0, 1.0),
    cores: int = 1,
) -> Candidate:
    limits = SearchLimits(time.monotonic() + LONG_S, seed, cores, cooling=cooling)
    engine = SisrEngine(max_iterations=round(iterations))
    best = engine.solve(problem, limits, lambda _: None, lambda: False, start).best
    assert best is not None
    return best


def _whole(problem: Problem, members: int, iterations: int, seed: int) -> Candidate:
    """Plan with seeds of their own; the last round starts from the best of all."""
    start = None
    for number, share in enumerate((STARTER_SHARE, 1 - STARTER_SHARE)):
        seeds = (1000 * seed + 100 * number + member for member in range(members))
        plans = [_search(problem, share * iterations, each, start) for each in seeds]
        start = min(plans, key=lambda plan: price(problem, plan))
    assert start is not None
    return start


def _regions(problem: Problem, members: int, iterations: int, seed: int) -> Candidate:
    """Plan as `workers/engines/selection/region_search.py` does."""
    plan, done = _search(problem, 0, 0), 0.0
    for left in range(ROUNDS, -1, -1):
        until, base = 1.0 - ROUND_SHARE * left, plan
        parts = cut_into_regions(problem, base, members, left)
        for index in range(members):
            region = region_of(problem, base, parts, index)
            start = region.routes_of(base) if done else None
            share, own_seed = until - done, 1000 * seed + 10 * left + index
            found = _search(region.problem, share * iterations, own_seed, start, cooling=(done, until))
            plan = merged_plans(problem, plan, region.inserted(base, found))
        done = until
    return plan


def measured(tickets: int, seed: int, members: int, iterations: int) -> Pair:
    """Return one pair; each plan is verified."""
    problem = compile_scenario(parse_scenario(strewn_day(tickets, seed)))
    variants: dict[str, Callable[[], Candidate]] = {
        "whole": lambda: _whole(problem, members, iterations, seed),
        "regions": lambda: _regions(problem, members, round(MORE * iterations), seed),
        "threads": lambda: _search(problem, members * MORE * iterations, seed, cores=members),
    }
    prices, cpu_s = {}, {}
    for name, planned in variants.items():
        began = time.process_time()
        plan = planned()
        cpu_s[name] = round(time.process_time() - began, 1)
        assert verify(problem, build_plan(problem, plan)) == []
        prices[name] = price(problem, plan)
    return Pair(tickets, seed, members, **prices, cpu_s=cpu_s)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a line for each pair, keep the pairs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", type=int, default=[2500, 5000])
    parser.add_argument("--members", nargs="+", type=int, default=[2, 4])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=24, help="of each member, for each ticket")
    parser.add_argument("--keep", action="store_true", help="write a file into benchmarks/results")
    asked = parser.parse_args(arguments)
    about, pairs = machine(), []
    for tickets in asked.sizes:
        for members in asked.members:
            for seed in range(1, asked.seeds + 1):
                pairs.append(measured(tickets, seed, members, asked.iterations * tickets))
                print(asdict(pairs[-1]), round(pairs[-1].ratio, 4), flush=True)
    if asked.keep:
        write("regions", about, {"iterations": asked.iterations, "pairs": [asdict(pair) for pair in pairs]})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
