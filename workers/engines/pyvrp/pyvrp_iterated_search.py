"""The iterated local search of PyVRP: the library's moves and costs in a loop of our own.

Owns the start of a search and the acceptance of plans. The library owns the moves (`LocalSearch`: perturbation,
insertion, descent) and the cost of a plan at given penalties. `workers/engines/pyvrp/pyvrp_penalties.py` owns the
penalties, `workers/engines/pyvrp/pyvrp_run.py` the time limit and the reports.

Intended departures from `pyvrp.solve` 0.14.1; a test compares the two plan by plan otherwise:
1. A warm start that lacks wanted tickets is completed first. The library charges nothing for missing ones, so such a
   plan would be cheaper than every complete one: it would remain the current plan, and no improvement be accepted.
2. Building the moves, the first plan and the search are three calls, so that a stop is noticed between them. On the
   largest problems each of the first two takes seconds and cannot be interrupted.
3. Each constraint has a minimum penalty of its own.
4. On small problems with shipments all activities are neighbours. The library omits the two farthest, so that a
   shipment and one delivery would have no neighbours and never share a vehicle.
"""

from collections.abc import Callable
from typing import Final

from pyvrp import Activity, ActivityType, CostEvaluator, ProblemData, RandomNumberGenerator, Solution
from pyvrp.search import (
    OPERATORS,
    LocalSearch,
    NeighbourhoodParams,
    PerturbationManager,
    PerturbationParams,
    compute_neighbours,
)

from workers.engines.engine_interface import ShouldStop
from workers.engines.pyvrp.pyvrp_penalties import Penalties

RESTART_AFTER: Final = 150_000
"""Iterations without improvement after which the search restarts from the best plan: the library's own number."""

OnSolution = Callable[[Solution], None]


class IteratedSearch:
    """The search of one run, with neighbours, operators and random numbers created once.

    Args:
        data: The problem as the library's data.
        penalties: Penalties of violated constraints.
        neighbourhood: Parameters of the neighbour lists.
        seed: Seed of all random numbers.
    """

    def __init__(
        self, data: ProblemData, penalties: Penalties, neighbourhood: NeighbourhoodParams, *, seed: int
    ) -> None:
        self._data = data
        self._penalties = penalties
        self._random = RandomNumberGenerator(seed=seed)
        perturbation = PerturbationManager(PerturbationParams())
        self._local_search = LocalSearch(data, self._random, neighbours_of(data, neighbourhood), perturbation)
        for operator in OPERATORS:
            if operator.supports(data):
                self._local_search.add_operator(operator(data))

    def begin(self, given: Solution | None) -> Solution:
        """Return the start: the given plan, completed where it lacks wanted tickets, else a random plan improved."""
        if given is not None and given.is_complete():
            return given
        plan = Solution.make_random(self._data, self._random) if given is None else given
        return self._local_search(plan, self._penalties.strictest, exhaustive=True)

    def run(self, start: Solution, history: int, is_over: ShouldStop, on_solution: OnSolution) -> int:
        """Search until it is over; return the number of iterations.

        Args:
            start: The first plan; reported, like every new best plan.
            history: Length of the acceptance history, in iterations.
            is_over: Asked before each iteration.
            on_solution: Called with each new best plan; the first ones may be infeasible.
        """
        on_solution(start)
        best = current = start
        acceptance = LateAcceptance(start, history)
        count = stale = 0
        while not is_over():
            count, stale = count + 1, stale + 1
            evaluator = self._penalties.evaluator
            candidate = self._local_search(current, evaluator, exhaustive=False)
            self._penalties.register(candidate)
            # the cost of an infeasible plan is the largest integer
            if evaluator.cost(candidate) < evaluator.cost(best):
                (best, candidate), stale = self._intensified(candidate, evaluator), 0
                on_solution(best)
            current = acceptance.choose(current, candidate, evaluator)
            if stale == RESTART_AFTER:
                acceptance, current, stale = LateAcceptance(start, history), best, 0
        return count

    def _intensified(self, candidate: Solution, evaluator: CostEvaluator) -> tuple[Solution, Solution]:
        """Return the best plan and the result of an exhaustive descent from it, which may be infeasible."""
        descended = self._local_search(candidate, evaluator, exhaustive=True)
        return (descended if descended.is_feasible() else candidate), descended


def neighbours_of(data: ProblemData, neighbourhood: NeighbourhoodParams) -> dict[Activity, list[Activity]]:
    """Return the library's neighbours, nearest first, completed with all others where their number is small."""
    neighbours = compute_neighbours(data, neighbourhood)
    activities = [Activity(ActivityType.CLIENT, number) for number in range(data.num_clients)]
    for kind in (ActivityType.PICKUP, ActivityType.DELIVERY):
        activities += [Activity(kind, number) for number in range(data.num_shipments)]
    if not data.num_shipments or len(activities) > neighbourhood.num_neighbours:
        return neighbours
    return {
        activity: [
            *nearest,
            *(other for other in activities if other not in nearest and not _are_same(activity, other)),
        ]
        for activity, nearest in neighbours.items()
    }


def _are_same(activity: Activity, other: Activity) -> bool:
    """Return whether two activities are the same client or of the same shipment."""
    return activity.idx == other.idx and (activity.type == ActivityType.CLIENT) == (other.type == ActivityType.CLIENT)


class LateAcceptance:
    """Late acceptance hill climbing: accepts plans cheaper than the current one, or than the one `length` plans ago.

    Source: Burke and Bykov, "The late acceptance hill-climbing heuristic", EJOR 258 (1), 2017, with both enhancements
    of section 4.2.

    Args:
        start: The plan to compare with until the history is filled.
        length: Length of the history, in plans.
    """

    def __init__(self, start: Solution, length: int) -> None:
        self._start = start
        self._history: list[Solution | None] = [None] * length
        self._at = 0

    def choose(self, current: Solution, candidate: Solution, evaluator: CostEvaluator) -> Solution:
        """Return the next current plan; penalties may differ between calls."""
        previous = self._history[self._at]
        reference = evaluator.penalised_cost(self._start if previous is None else previous)
        cost, found_cost = evaluator.penalised_cost(current), evaluator.penalised_cost(candidate)
        if found_cost < max(reference, cost):
            current, cost = candidate, found_cost
        if previous is None or cost < reference:
            self._history[self._at] = current
        self._at = (self._at + 1) % len(self._history)
        return current
