"""`make bench-plans`: instance × engine × time limit × seed, through the engine code that the workers run.

Owns the runs and what is kept of each: the cost recomputed from the routes by the rule of the set, its gap to the best
known, how good plans were over time (`benchmarks/primal_integral.py`), when the first plan stood, by how much the limit
was overrun, and the memory. Each run is a process of its own,
one at a time, and its plan is verified. What is done is kept in a file line by line (`benchmarks/plan_log.py`), so that
a long run can be stopped and continued. The tables are `benchmarks/plan_table.py`'s.
"""

import argparse
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import product
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from benchmarks import benchmark_instances, plan_table, reference_engines
from benchmarks.benchmark_instances import Instance
from benchmarks.plan_log import PlanLog, Run, engine_revision
from benchmarks.primal_integral import ReportedPlans
from benchmarks.result_files import machine, write
from planner_mcp.errors import UnsupportedFeatureError
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.problem import Candidate
from planner_mcp.routing.verification.plan_verification import verify
from workers.engines.engine_interface import OnImprovement, SearchLimits
from workers.engines.selection import engine_registry

DATA: Final = "PLANNER_BENCH_DATA"
"""Environment variable that names the folder of instances."""
START_S: Final = 0.5
"""What a run takes beside its limit, for the forecast."""
OVERTIME_S: Final = 15.0
"""A run that has not ended this long after its limit is killed and counts as without a plan."""


def run(instance: Instance, began: Run) -> Run:
    """Make one run, in a process of its own; return what came of it."""
    ours, theirs = multiprocessing.get_context("fork").Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_child, args=(theirs, instance, began))
    child.start()
    theirs.close()
    try:
        outcome = (
            ours.recv() if ours.poll(began.limit_s + OVERTIME_S) else {"fault": "overran its limit and was killed"}
        )
    except EOFError:
        outcome = {"fault": "crashed"}
    if child.is_alive() and "fault" in outcome:
        child.kill()
    child.join()
    return Run(**{**asdict(began), **outcome, "load": round(os.getloadavg()[0], 2)})


def _child(pipe: Connection, instance: Instance, asked: Run) -> None:
    reported = ReportedPlans(asked.limit_s)
    began = time.monotonic()
    limits = SearchLimits(began + asked.limit_s, asked.seed, asked.cores, on_proof=lambda _: None)
    best = _solve(instance, asked.engine, limits, lambda candidate: reported.add(time.monotonic() - began, candidate))
    outcome: dict[str, Any] = {"elapsed_s": round(time.monotonic() - began, 2)}
    outcome |= _measured_cost(instance, best)
    outcome["first_s"] = None if reported.first_s is None else round(reported.first_s, 2)
    outcome["integral"] = reported.integral(instance.cost, instance.best_known)
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    outcome["peak_mb"] = sum(resource.getrusage(each).ru_maxrss for each in who) // 1024
    pipe.send(outcome)


def _solve(instance: Instance, name: str, limits: SearchLimits, report: OnImprovement) -> Candidate | None:
    if name in reference_engines.REFERENCE_ENGINES:
        return reference_engines.REFERENCE_ENGINES[name][0](instance.problem, limits)
    engine = engine_registry.choose(instance.problem, name)
    return engine.solve(instance.problem, limits, report, lambda: False).best


def _measured_cost(instance: Instance, best: Candidate | None) -> dict[str, Any]:
    """Return cost and gap of a plan that holds; the fault of one that does not."""
    if best is None:
        return {"fault": "no plan"}
    served = sum(len(route.stops) for route in best.routes)
    if violations := verify(instance.problem, build_plan(instance.problem, best)):
        return {"fault": f"refused: {violations[0]}"}
    wanted = [number for number, ticket in enumerate(instance.problem.tickets) if not ticket.is_priced]
    at = {stop.index for route in best.routes for stop in route.stops if stop.kind == "ticket"}
    if missing := sum(number not in at for number in wanted):
        return {"unserved": missing, "fault": f"leaves out {missing} of {served + missing}"}
    return {"cost": instance.cost(best), "gap": round(instance.gap(best), 4)}


def can_run(instance: Instance, engine: str) -> bool:
    """Return whether an engine is installed here and knows every feature of the instance."""
    if engine in reference_engines.REFERENCE_ENGINES:
        return reference_engines.can_run(engine, instance.problem)
    try:
        engine_registry.choose(instance.problem, engine)
    except UnsupportedFeatureError:
        return False
    return True


def asked(
    chosen: Sequence[Instance], engines: Sequence[str], limits_s: Sequence[float], seeds: Sequence[int], *, cores: int
) -> list[tuple[Instance, Run]]:
    """Return every run to be made, a seed of everything first; engines that cannot plan an instance are passed over."""
    return [
        (day, Run(day.name, day.set, len(day.problem.tickets), engine, limit_s, seed, cores))
        for limit_s, seed, day, engine in product(limits_s, seeds, chosen, engines)
        if can_run(day, engine)
    ]


def sample(chosen: Iterable[Instance], most: int | None) -> list[Instance]:
    """Return at most so many instances of each set, spread over its list; all when `most` is None."""
    by_set: dict[str, list[Instance]] = {}
    for instance in chosen:
        by_set.setdefault(instance.set, []).append(instance)
    return [each for group in by_set.values() for each in _spread(group, most or len(group))]


def _spread(group: Sequence[Instance], most: int) -> Iterator[Instance]:
    count = min(most, len(group))
    return (group[(2 * k + 1) * len(group) // (2 * count)] for k in range(count))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench-plans", description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get(DATA), help=f"folder of instances; else ${DATA}")
    parser.add_argument("--set", nargs="*", default=[], help="sets, by how their name begins; all without")
    parser.add_argument("--name", nargs="*", default=[], help="instances")
    parser.add_argument("--most", type=int, help="instances of each set, spread over it; all without")
    parser.add_argument("--engine", nargs="*", default=[*engine_registry.names(), *reference_engines.REFERENCE_ENGINES])
    parser.add_argument("--seconds", nargs="*", type=float, default=[5.0, 10.0, 30.0])
    parser.add_argument("--seed", nargs="*", type=int, default=[1, 2, 3])
    parser.add_argument("--cores", type=int, default=2, help="cores a solve may use")
    parser.add_argument("--log", type=Path, help="file of the runs made; those in it are not made again")
    parser.add_argument("--keep", action="store_true", help="write benchmarks/results and the table in benchmarks")
    options = parser.parse_args(arguments)
    if options.data is None:
        parser.error(f"say where the instances are: --data or {DATA} (benchmarks/PLANS.md names their sources)")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a line a run and a table a time limit, keep the result if asked to."""
    options = _options(arguments)
    chosen = sample(
        benchmark_instances.load_all(Path(options.data), sets=options.set, names=options.name), options.most
    )
    todo = asked(chosen, options.engine, options.seconds, options.seed, cores=options.cores)
    log, about = PlanLog(options.log, engine_revision()), machine()
    left_s = sum(each.limit_s + START_S for _, each in todo if each not in log)
    print(f"{len(todo)} runs, {sum(each in log for _, each in todo)} of them made before")
    for number, (instance, each) in enumerate(todo, 1):
        if each in log:
            continue
        done = run(instance, each)
        log.add(done)
        print(f"{number}/{len(todo)} {left_s / 60:.0f} min left  {_line(done)}", flush=True)
        left_s -= each.limit_s + START_S
    runs = [log[each] for _, each in todo]
    print("\n" + plan_table.tables(runs))
    if options.keep:
        print(f"\nkept: {_keep(runs, about)}")
    return 0


def _line(done: Run) -> str:
    outcome = f"{done.gap:8.3f} %" if done.gap is not None else done.fault
    times = f"first {done.first_s} of {done.elapsed_s} s, {done.peak_mb} MB, load {done.load}"
    return f"{done.set:16} {done.instance:18} {done.engine:16} {done.limit_s:g} s #{done.seed} {outcome}  {times}"


def _keep(runs: Sequence[Run], about: dict[str, Any]) -> Path:
    path = write("plans", about, {"runs": [asdict(run) for run in runs]})
    plan_table.write(path, runs, about)
    return path


if __name__ == "__main__":
    sys.exit(main())
