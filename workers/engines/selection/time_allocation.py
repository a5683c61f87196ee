"""The schedule of `auto`: which engines search in which share of the time.

Owns the shares; `docs/adr/0013-portfolio.md` documents how they were measured. The starter (our own engine) is better
at finding the structure of a plan, the finisher (PyVRP) at improving it locally. The rest of a round is best spent on
the best plan of all cores.
"""

import math
from collections.abc import Sequence
from itertools import cycle, islice
from statistics import fmean
from typing import Final

from planner_mcp.routing.problem import Feature, Problem
from workers.engines.engine_interface import Engine

STARTER: Final = "sisr"
FINISHER: Final = "pyvrp"
REMOTE: Final = "cuopt"
REMOTE_TICKETS: Final = 800
"""Tickets from which on the remote engine takes part, beside the searches of the cores."""
STARTER_SHARE: Final = 0.85
"""Share of the time for the starter, before the finisher takes over."""
EVEN_SHARE: Final = 0.6
"""Share for the starter where the finisher has moves that it lacks, or where it does not converge in time."""
STARTER_LONG_SHARE: Final = 0.95
"""Share for the starter where the finisher improves little and the starter keeps improving."""
STARTER_FEATURES: Final = frozenset({Feature.MULTI_DEPOT, Feature.SHIPMENTS})
FINISHER_FEATURES: Final = frozenset({Feature.OPTIONAL, Feature.RELOAD, Feature.RELEASE})
MANY_TICKETS: Final = 800
"""Tickets with time windows from which on the starter does not converge in half a minute, on long routes."""
LONG_ROUTE: Final = 25
"""Tickets for which a vehicle has capacity where routes are long; with shorter ones the starter keeps improving."""
MOST_FINISHED: Final = 5000
"""Tickets up to which the finisher takes part: its tables of travel, 16 bytes for each two places, take 400 MB then."""
FEW_TICKETS: Final = 150
"""Tickets up to which the second core runs the finisher rather than another seed of the starter."""

DECOMPOSITION_TICKETS: Final = 600
"""Tickets from which on the starter may decompose one plan over all cores rather than search one plan per core, where
there is more than capacities to observe."""
TICKETS_PER_PART: Final = 250
"""Least number of tickets per core of a decomposition: as many as the native engine puts into a part."""
DECOMPOSITION_ROUTES: Final = 15
"""Least number of routes per core of a decomposition, counted as mean tickets in mean vehicles."""
NOT_DECOMPOSABLE: Final = frozenset({Feature.BALANCE, Feature.GROUPS})
"""Features with which the cost of a plan is not the sum of the costs of its parts."""

SEAT_LEAD_S: Final = 0.7
"""A plan of a seat reaches the search of the owner within this time, mostly."""
REGION_TICKETS: Final = 2000
"""Tickets beyond which the members of a team search regions of the day rather than the whole of it."""

RECOMBINATION_SHARE: Final = 0.05
"""Share of the time for recombination after each round."""
RECOMBINATION_LONGEST_S: Final = 2.0
"""Longest time for recombination after a round, in seconds."""
RECOMBINATION_FROM_S: Final = 2.0
"""Shortest solve that has recombination, in seconds."""
RECOMBINATION_TICKETS: Final = 600
"""Tickets from which on routes are not recombined."""
RECOMBINATION_ROUTE: Final = 20
"""Tickets of a route below which routes are recombined: by capacity, or on average where nothing limits loads."""
NOT_RECOMBINED: Final = frozenset({Feature.RELOAD})
"""Features with which routes are neither recombined nor proved: the same time of search gains more (ADR 50, 53)."""

PROOF_TICKETS: Final = 100
"""Tickets up to which a bound is proved during a solve: there the other searches do not miss the time (ADR 53)."""
PROOF_SHARE: Final = 0.4
"""Share of the time for that."""

SearchRounds = list[tuple[float, tuple[Engine, ...]]]
"""For each round: the share of the time at which it ends, and its engines: one per core, or one on all cores, and the
remote one beside them."""


def plan_rounds(problem: Problem, cores: int, capable: Sequence[Engine]) -> SearchRounds:
    """Return the rounds of a solve; each starts from the best plans of those before.

    Args:
        problem: The problem.
        cores: Number of parallel searches.
        capable: Engines that support every feature of the problem, strongest first; at least one.
    """
    remote = tuple(engine for engine in capable if engine.name == REMOTE)
    if local := [engine for engine in capable if engine.name != REMOTE]:
        return [(until, (*engines, *remote)) for until, engines in _local_rounds(problem, cores, local)]
    return [(1.0, remote)]


def member_rounds(
    problem: Problem, cores: int, capable: Sequence[Engine], *, number: int, span_s: float
) -> SearchRounds:
    """Return the rounds of one member of a team, with so many cores each; the owner is number 1.

    A seat does what further cores of the owner would do; it ends the rounds before the last a little earlier, so that
    the owner starts the next one from the seat's plan. The remote engine is the owner's.
    """
    if number == 1:
        return plan_rounds(problem, cores, capable)
    local = [engine for engine in capable if engine.name != REMOTE] or list(capable)
    before = cores * (number - 1)
    rounds = plan_rounds(problem, before + cores, local)
    lead = SEAT_LEAD_S / max(span_s, SEAT_LEAD_S)
    return [
        (until if until == 1 else max(0.0, until - lead), engines[before:] or engines[:1]) for until, engines in rounds
    ]


def gains_by_proof(problem: Problem) -> bool:
    """Return whether a bound is proved during a solve."""
    return len(problem.tickets) <= PROOF_TICKETS and not problem.features & NOT_RECOMBINED


def after_proof(rounds: SearchRounds, prover: Engine, cores: int) -> SearchRounds:
    """Return the rounds with one before them that proves a bound beside the searches of the other cores.

    Of a single core the proof takes a half: its process may end for its memory, and a plan is wanted all the same.
    """
    _until, first = rounds[0]
    later = [(PROOF_SHARE + (1 - PROOF_SHARE) * until, engines) for until, engines in rounds]
    return [(PROOF_SHARE, (prover, *first[: max(1, cores - 1)])), *later]


def _local_rounds(problem: Problem, cores: int, capable: Sequence[Engine]) -> SearchRounds:
    """Return the rounds of the engines that search on this machine."""
    named = {engine.name: engine for engine in capable}
    starter = named.get(STARTER)
    finisher = named.get(FINISHER) if starter is None or len(problem.tickets) <= MOST_FINISHED else None
    if starter is None:
        return [(1.0, tuple(islice(cycle(capable), cores)))]
    if finisher is None:
        together = (starter,) * cores
        if uses_decomposition(problem, cores) and not problem.features & NOT_DECOMPOSABLE:
            return [(1.0, (starter,))]
        return [(1.0, together)] if cores == 1 else [(STARTER_SHARE, together), (1.0, together)]
    share, others = starter_share(problem), (starter,) * (cores - 1)
    if uses_decomposition(problem, cores):
        first: tuple[Engine, ...] = (starter,)
    elif len(problem.tickets) <= FEW_TICKETS:
        first = (starter, *islice(cycle((finisher, starter)), cores - 1))
    else:
        first = (starter, *others)
    return [(share, first), (1.0, (finisher, *others))]


def region_engine(problem: Problem, capable: Sequence[Engine]) -> Engine | None:
    """Return the engine that a team searches regions with; None where members search the whole day.

    The remote engine needs the whole day.
    """
    has_remote = any(engine.name == REMOTE for engine in capable)
    if has_remote or len(problem.tickets) <= REGION_TICKETS or problem.features & NOT_DECOMPOSABLE:
        return None
    return next((engine for engine in capable if engine.name == STARTER), None)


def recombination_s(problem: Problem, span_s: float) -> float:
    """Return the time, in seconds, for the recombination after each round of a solve; 0 where it does not gain."""
    tickets, load = len(problem.tickets), tickets_per_load(problem)
    route = tickets / len(problem.agents) if load == math.inf else load
    is_short = tickets < RECOMBINATION_TICKETS and route < RECOMBINATION_ROUTE
    if span_s < RECOMBINATION_FROM_S or not is_short or problem.features & NOT_RECOMBINED:
        return 0.0
    return min(RECOMBINATION_SHARE * span_s, RECOMBINATION_LONGEST_S)


def uses_decomposition(problem: Problem, cores: int) -> bool:
    """Return whether the starter does better with all cores on one plan than with one plan per core."""
    load = tickets_per_load(problem)
    served = min(len(problem.tickets), len(problem.agents) * load)
    return (
        cores > 1
        and served >= max(DECOMPOSITION_TICKETS if problem.features else 0, TICKETS_PER_PART * cores)
        and served / load >= DECOMPOSITION_ROUTES * cores
    )


def starter_share(problem: Problem) -> float:
    """Return the share of the time after which the starter hands over to the finisher."""
    if problem.features & FINISHER_FEATURES:
        return EVEN_SHARE
    if problem.features & STARTER_FEATURES:
        return STARTER_LONG_SHARE
    if len(problem.tickets) < MANY_TICKETS or Feature.TIME_WINDOWS not in problem.features:
        return STARTER_SHARE
    return EVEN_SHARE if tickets_per_load(problem) >= LONG_ROUTE else STARTER_LONG_SHARE


def tickets_per_load(problem: Problem) -> float:
    """Return how many mean tickets fill a mean vehicle, by the scarcest capacity dimension."""
    dimensions = range(len(problem.dimensions))
    needs = [fmean(ticket.demand[d] for ticket in problem.tickets) for d in dimensions]
    capacities = [fmean(agent.capacity[d] for agent in problem.agents) for d in dimensions]
    return min(
        (capacity / need for need, capacity in zip(needs, capacities, strict=True) if need > 0), default=math.inf
    )
