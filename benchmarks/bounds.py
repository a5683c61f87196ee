"""`python -m benchmarks.bounds`: gaps that proofs leave, on published and on generated instances.

Owns the generated kinds and the record of each proof. A plan of the native engine with a fixed number of iterations is
proved for a fixed time, as `prove_plan` does; with `--solve` a day is solved by `auto`, which proves it meanwhile. On a
machine with other work the bounds are those of less CPU, so the record has the load.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks import benchmark_instances
from benchmarks.plans import DATA
from planner_mcp.routing.engine_names import PROVE_MAX_TICKETS
from planner_mcp.routing.evaluation.plan_builder import price
from planner_mcp.routing.plan import ProofRecord
from planner_mcp.routing.problem import AgentSpec, Candidate, Feature, LoadKind, Problem, TicketSpec
from workers.engines.bounds.proof_engine import ProofEngine
from workers.engines.engine_interface import Engine, SearchLimits
from workers.engines.native.sisr_engine import SisrEngine
from workers.engines.selection import engine_registry

ITERATIONS: Final = 200_000
"""Of the search for the plan that is proved."""
LONG_S: Final = 600.0
SOLVE_CORES: Final = 2
_SIDE: Final = 1000
"""Length of the square of generated days, in units; a vehicle drives one unit in one unit of time."""
_HORIZON: Final = 4000
_WANTED: Final = 2**40
_SAMPLE_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class ProofRun:
    """One proof. Costs are in units of the problem."""

    instance: str
    kind: str
    tickets: int
    best_known: float | None
    cost: float
    bound: float
    gap_percent: float
    is_closed: bool
    """Whether bound and cost meet."""
    is_optimal: bool
    """Whether bound and cost meet and the independent check agreed."""
    seconds: float
    cpu_s: float
    """Of all processes."""
    columns: int
    load: float


def generated(kind: str, seed: int, tickets: int) -> Problem:
    """Return a generated day of a kind of `KINDS`."""
    dice = np.random.default_rng([seed, tickets, KINDS.index(kind)])
    depots = 3 if kind == "depots" else 1
    places = dice.integers(0, _SIDE, (depots + tickets, 2)).astype(float)
    distance = np.rint(np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))).astype(np.int64)
    demands = dice.integers(1, 20, tickets)
    openings = dice.integers(300, 2600, tickets)
    openings = np.maximum(openings, distance[0, depots:])
    width = {"narrow": 200, "wide": 1200, "shipments": 600}.get(kind)
    orders = tuple(
        TicketSpec(
            id=f"t{number}",
            location=depots + number,
            demand=(int(demands[number]),),
            windows=() if width is None else ((int(openings[number]), int(openings[number]) + width),),
            service=0 if width is None else 50,
            penalty=_WANTED,
        )
        for number in range(tickets)
    )
    if kind == "shipments":
        orders = tuple(_paired(orders, distance))
    sizes = (60, 100, 150) if kind == "mixed" else (90,)
    horizon = 10**7 if width is None else _HORIZON * (2 if kind == "shipments" else 1)
    agents = tuple(
        AgentSpec(
            id=f"v{depot}-{size}-{number}",
            capacity=(size,),
            start=depot,
            end=depot,
            shift=(0, horizon),
            fixed_cost=3 * size if kind == "mixed" else 0,
        )
        for depot in range(depots)
        for size in sizes
        for number in range(tickets)
    )
    features = {Feature.TIME_WINDOWS} if width is not None else set()
    own = {"depots": Feature.MULTI_DEPOT, "mixed": Feature.HETEROGENEOUS, "shipments": Feature.SHIPMENTS}
    features |= {own[kind]} if kind in own else set()
    names = tuple(f"L{number}" for number in range(len(places)))
    return Problem(agents, orders, names, (distance,), (distance,), features=frozenset(features))


def _paired(orders: Sequence[TicketSpec], distance: NDArray[np.int64]) -> Iterator[TicketSpec]:
    """Yield shipments: each ticket of an even number is brought to the place of the next, as soon as it can."""
    for number in range(0, len(orders) - 1, 2):
        first, second = orders[number : number + 2]
        opens, closes = first.windows[0]
        way = first.service + int(distance[first.location, second.location])
        yield replace(first, load=LoadKind.PICKUP)
        yield replace(second, demand=first.demand, windows=((opens + way, closes + way),), pickup=number)


KINDS: Final = ("capacity", "depots", "mixed", "narrow", "wide", "shipments")
"""New ones come last: the place of a kind is part of its seeds."""


def _stretch() -> float:
    """Return how long a second of CPU takes at the moment."""
    began, until = time.monotonic(), time.process_time() + _SAMPLE_S
    while time.process_time() < until:
        pass
    return (time.monotonic() - began) / _SAMPLE_S


def prove(
    name: str,
    kind: str,
    problem: Problem,
    best_known: float | None,
    scale: int,
    seconds: float,
    *,
    is_cpu: bool = False,
    is_solve: bool = False,
) -> ProofRun:
    """Search a plan and prove it, or solve the problem by `auto` on two cores and see what that proves.

    With `is_cpu` the time limit is so long as that CPU takes just before.
    """
    engine: Engine = engine_registry.choose(problem) if is_solve else ProofEngine()
    start = None if is_solve else _searched(problem)
    seconds *= _stretch() if is_cpu else 1
    began, cpu_began, proofs = time.monotonic(), _cpu_s(), list[ProofRecord]()
    limits = SearchLimits(began + seconds, 1, SOLVE_CORES, on_proof=proofs.append)
    best = engine.solve(problem, limits, lambda _: None, lambda: False, start).best
    assert best is not None
    proof = proofs[-1] if proofs else None
    cost = price(problem, best)
    bound = 0 if proof is None else round(proof.lower_bound * problem.cost_scale)
    return ProofRun(
        instance=name,
        kind=kind,
        tickets=len(problem.tickets),
        best_known=best_known,
        cost=cost / scale,
        bound=bound / scale,
        gap_percent=round(100 * (cost - bound) / cost, 3),
        is_closed=bound >= cost,
        is_optimal=proof is not None and proof.is_optimal,
        seconds=round(time.monotonic() - began, 1),
        cpu_s=round(_cpu_s() - cpu_began, 1),
        columns=0 if proof is None else proof.columns,
        load=round(os.getloadavg()[0], 1),
    )


def _searched(problem: Problem) -> Candidate | None:
    limits = SearchLimits(time.monotonic() + LONG_S, 1)
    return SisrEngine(max_iterations=ITERATIONS).solve(problem, limits, lambda _: None, lambda: False).best


def _cpu_s() -> float:
    """Return the CPU of this process and of those that it waited for."""
    return sum(os.times()[:4])


def published(folder: Path, seconds: float, most: int, *, is_cpu: bool, is_solve: bool) -> Iterator[ProofRun]:
    """Yield the proofs of the published instances of at most so many tickets."""
    for entry in benchmark_instances.load_index(folder):
        if entry["n"] <= most:
            each = benchmark_instances.load(folder, entry)
            if len(each.problem.tickets) <= PROVE_MAX_TICKETS:
                of_instance = (each.name, each.kind, each.problem, each.best_known, each.scale)
                yield prove(*of_instance, seconds, is_cpu=is_cpu, is_solve=is_solve)


def main() -> None:
    """Print a line for each proof, as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--cpu", action="store_true", help="seconds are of CPU, for machines with other work")
    parser.add_argument("--solve", action="store_true", help="what a solve by auto proves, rather than a proof alone")
    parser.add_argument("--most", type=int, default=100, help="tickets of published instances")
    parser.add_argument("--kinds", nargs="*", default=[], choices=KINDS)
    parser.add_argument("--sizes", nargs="*", type=int, default=[25])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="first seed, to go on where a run was ended")
    parser.add_argument("--data", type=Path, default=os.environ.get(DATA), help=f"folder of instances; else ${DATA}")
    asked = parser.parse_args()
    if asked.data is None and not asked.kinds:
        parser.error(f"say where the instances are: --data or {DATA}")
    how = {"is_cpu": asked.cpu, "is_solve": asked.solve}
    runs = published(asked.data, asked.seconds, asked.most, **how) if not asked.kinds else iter(())
    for run in runs:
        _print(run)
    for kind in asked.kinds:
        for size in asked.sizes:
            for seed in range(asked.first, asked.first + asked.seeds):
                problem = generated(kind, seed, size)
                name = f"{kind}-{size}-{seed}"
                _print(prove(name, kind, problem, None, 1, asked.seconds, **how))


def _print(run: ProofRun) -> None:
    sys.stdout.write(json.dumps(asdict(run)) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
