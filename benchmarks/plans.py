"""`make bench-plans`: instance × engine × time limit × seed, through the engine code that the workers run.

Owns the runs and what is kept of each: the cost recomputed from the routes by the rule of the set, its gap to the best
known, when the first plan stood, by how much the limit was overrun, and the memory. Each run is a process of its own,
one at a time, and its plan is verified. The tables are `benchmarks/plan_table.py`'s.
"""

import argparse
import json
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import product
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from benchmarks import instances, plan_table, rivals
from benchmarks.instances import Instance
from benchmarks.record import HERE, commit, machine
from planner_mcp.errors import UnsupportedFeatureError
from planner_mcp.vrp.problem import Candidate
from planner_mcp.vrp.schedule import lay_out
from planner_mcp.vrp.verify import verify
from workers.engines import registry
from workers.engines.base import Limits

DATA: Final = "PLANNER_BENCH_DATA"
"""Environment variable that names the folder of instances."""
OVERTIME_S: Final = 15.0
"""A run that has not ended this long after its limit is killed and counts as without a plan."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one engine made of one instance."""

    instance: str
    set: str
    n: int
    engine: str
    limit_s: float
    seed: int
    cores: int
    cost: float | None = None
    """In the units of the set; None where there is no plan, or none that the verifier passes."""
    gap: float | None = None
    """Percent above the best known."""
    unserved: int = 0
    first_s: float | None = None
    """When the first plan stood; None for engines that tell nothing before the end."""
    elapsed_s: float | None = None
    peak_mb: int = 0
    """Of the process and its forks, the Python and the instance included."""
    fault: str = ""
    load: float = 0.0
    """Of the machine over the last minute, when the run ended."""


def run(instance: Instance, engine: str, limit_s: float, seed: int, cores: int) -> Run:
    """Run once, in a process of its own; return what came of it."""
    began = Run(instance.name, instance.set, len(instance.problem.tickets), engine, limit_s, seed, cores)
    ours, theirs = multiprocessing.get_context("fork").Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_child, args=(theirs, instance, began))
    child.start()
    theirs.close()
    try:
        told = ours.recv() if ours.poll(limit_s + OVERTIME_S) else {"fault": "overran its limit and was killed"}
    except EOFError:
        told = {"fault": "crashed"}
    if child.is_alive() and "fault" in told:
        child.kill()
    child.join()
    return Run(**{**asdict(began), **told, "load": round(os.getloadavg()[0], 2)})


def _child(pipe: Connection, instance: Instance, asked: Run) -> None:
    first: list[float] = []
    began = time.monotonic()
    limits = Limits(began + asked.limit_s, asked.seed, asked.cores)
    best = _solve(instance, asked.engine, limits, first)
    told: dict[str, Any] = {"elapsed_s": round(time.monotonic() - began, 2)}
    told |= _judge(instance, best)
    told["first_s"] = round(first[0] - began, 2) if first else None
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    told["peak_mb"] = sum(resource.getrusage(each).ru_maxrss for each in who) // 1024
    pipe.send(told)


def _solve(instance: Instance, name: str, limits: Limits, first: list[float]) -> Candidate | None:
    if name in rivals.RIVALS:
        return rivals.RIVALS[name][0](instance.problem, limits)
    engine = registry.choose(instance.problem, name)
    return engine.solve(instance.problem, limits, lambda _: first.append(time.monotonic()), lambda: False).best


def _judge(instance: Instance, best: Candidate | None) -> dict[str, Any]:
    """Return cost and gap of a plan that holds; the fault of one that does not."""
    if best is None:
        return {"fault": "no plan"}
    served = sum(len(route.stops) for route in best.routes)
    if violations := verify(instance.problem, lay_out(instance.problem, best)):
        return {"fault": f"refused: {violations[0]}"}
    wanted = [number for number, ticket in enumerate(instance.problem.tickets) if not ticket.is_priced]
    at = {stop.index for route in best.routes for stop in route.stops if stop.kind == "ticket"}
    if missing := sum(number not in at for number in wanted):
        return {"unserved": missing, "fault": f"leaves out {missing} of {served + missing}"}
    return {"cost": instance.cost(best), "gap": round(instance.gap(best), 4)}


def can_run(instance: Instance, engine: str) -> bool:
    """Return whether an engine is installed here and knows every feature of the instance."""
    if engine in rivals.RIVALS:
        return rivals.can_run(engine, instance.problem)
    try:
        registry.choose(instance.problem, engine)
    except UnsupportedFeatureError:
        return False
    return True


def measure(
    chosen: Sequence[Instance], engines: Sequence[str], limits_s: Sequence[float], seeds: Sequence[int], *, cores: int
) -> Iterator[Run]:
    """Run everything, one after the other; engines that cannot plan an instance are passed over."""
    for limit_s, instance, engine, seed in product(limits_s, chosen, engines, seeds):
        if can_run(instance, engine):
            yield run(instance, engine, limit_s, seed, cores)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench-plans", description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get(DATA), help=f"folder of instances; else ${DATA}")
    parser.add_argument("--set", nargs="*", default=[], help="sets, by how their name begins; all without")
    parser.add_argument("--name", nargs="*", default=[], help="instances")
    parser.add_argument("--engine", nargs="*", default=[*registry.names(), *rivals.RIVALS])
    parser.add_argument("--seconds", nargs="*", type=float, default=[5.0, 10.0, 30.0])
    parser.add_argument("--seed", nargs="*", type=int, default=[1, 2, 3])
    parser.add_argument("--cores", type=int, default=1, help="cores a solve may use")
    parser.add_argument("--keep", action="store_true", help="write benchmarks/results and the table in benchmarks")
    options = parser.parse_args(arguments)
    if options.data is None:
        parser.error(f"say where the instances are: --data or {DATA} (benchmarks/PLANS.md names their sources)")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a line a run and a table a time limit, keep the result if asked to."""
    options = _options(arguments)
    chosen = list(instances.load_all(Path(options.data), sets=options.set, names=options.name))
    about, runs = machine(), []
    for done in measure(chosen, options.engine, options.seconds, options.seed, cores=options.cores):
        runs.append(done)
        told = f"{done.gap:8.3f} %" if done.gap is not None else done.fault
        times = f"first {done.first_s} of {done.elapsed_s} s, {done.peak_mb} MB, load {done.load}"
        print(f"{done.set:16} {done.instance:18} {done.engine:16} {done.limit_s:g} s #{done.seed} {told}  {times}")
        sys.stdout.flush()
    print("\n" + plan_table.tables(runs))
    if options.keep:
        print(f"\nkept: {_keep(runs, about)}")
    return 0


def _keep(runs: Sequence[Run], about: dict[str, Any]) -> Path:
    now = datetime.now(UTC)
    path = HERE / "results" / f"plans-{now:%Y-%m-%dT%H%M}-{commit()}.json"
    result = {"at": now.isoformat(timespec="seconds"), "commit": commit(), "machine": about}
    result["runs"] = [asdict(run) for run in runs]
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    plan_table.write(path, runs, about)
    return path


if __name__ == "__main__":
    sys.exit(main())
