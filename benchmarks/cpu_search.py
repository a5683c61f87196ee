"""One search whose time is CPU time, so that a loaded machine gives it what an idle one does: the child of
`benchmarks/paired_search.py`, run with the engines of any checkout on `PYTHONPATH`.

Reads a pickle of what to run from standard input and writes JSON: cost, iterations, CPU, and the cost of each plan
reported with the CPU used until then. The clock of Python is replaced, and the library must be one built with the CPU
clock (`paired_search.build`). On several cores only the native engine alone can be run like this.
"""

import json
import os
import pickle
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any


def main() -> None:
    """Search, and say what came of it."""
    asked = pickle.load(sys.stdin.buffer)  # noqa: S301 — written by our own parent
    from workers.engines.native import sisr_engine

    vars(sisr_engine)["LIBRARY"] = Path(asked["library"])
    time.monotonic = time.process_time
    os.environ["SISR_CPU_THREADS"] = str(asked["cores"])
    print(json.dumps(_search(**{name: asked[name] for name in ("problem", "engine", "seconds", "seed", "cores")})))


def _search(problem: Any, engine: str, seconds: float, seed: int, cores: int) -> dict[str, Any]:
    from planner_mcp.routing.evaluation.plan_builder import build_plan, price
    from planner_mcp.routing.verification.plan_verification import verify
    from workers.engines.engine_interface import SearchLimits
    from workers.engines.selection import engine_registry

    began = time.process_time()
    reported: list[tuple[float, int]] = []

    def report(candidate: Any) -> None:
        reported.append((round((time.process_time() - began) / cores, 3), price(problem, candidate)))

    limits = SearchLimits(time.monotonic() + seconds, seed, cores)
    outcome = engine_registry.choose(problem, engine).solve(problem, limits, report, lambda: False)
    cpu_s = time.process_time() - began
    if outcome.best is None or verify(problem, build_plan(problem, outcome.best)):
        raise SystemExit("no plan, or one that the verifier refuses")
    assert all(one[0] <= other[0] for one, other in pairwise(reported))
    cost, routes = price(problem, outcome.best), sum(bool(route.stops) for route in outcome.best.routes)
    figures = {"cost": cost, "routes": routes, "iterations": outcome.iterations, "cpu_s": round(cpu_s, 2)}
    return figures | {"reported": reported}


if __name__ == "__main__":
    main()
