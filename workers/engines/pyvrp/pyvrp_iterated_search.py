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

from workers.engines.pyvrp.pyvrp_penalties import Penalties

STALE_AFTER: Final = 150_000
"""Iterations without improvement after which the search restarts from the best plan: the library's own number."""

IsOver = Callable[[], bool]
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
        disturbance = PerturbationManager(PerturbationParams())
        self._moves = LocalSearch(data, self._random, neighbours_of(data, neighbourhood), disturbance)
        for operator in OPERATORS:
            if operator.supports(data):
                self._moves.add_operator(operator(data))

    def begin(self, given: Solution | None) -> Solution:
        """Return the start: the given plan, completed where it lacks wanted tickets, else a random plan improved."""
        if given is not None and given.is_complete():
            return given
        plan = Solution.make_random(self._data, self._random) if given is None else given
        return self._moves(plan, self._penalties.strictest, exhaustive=True)

    def run(self, start: Solution, history: int, is_over: IsOver, on_solution: OnSolution) -> int:
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
        count = idle = 0
        while not is_over():
            count, idle = count + 1, idle + 1
            evaluator = self._penalties.evaluator
            found = self._moves(current, evaluator, exhaustive=False)
            self._penalties.register(found)
            if evaluator.cost(found) < evaluator.cost(best):  # the cost of an infeasible plan is the largest integer
                (best, found), idle = self._polished(found, evaluator), 0
                on_solution(best)
            current = acceptance.choose(current, found, evaluator)
            if idle == STALE_AFTER:
                acceptance, current, idle = LateAcceptance(start, history), best, 0
        return count

    def _polished(self, found: Solution, evaluator: CostEvaluator) -> tuple[Solution, Solution]:
        """Return the best plan and the result of an exhaustive descent from it, which may be infeasible."""
        thorough = self._moves(found, evaluator, exhaustive=True)
        return (thorough if thorough.is_feasible() else found), thorough


def neighbours_of(data: ProblemData, neighbourhood: NeighbourhoodParams) -> dict[Activity, list[Activity]]:
    """Return the library's neighbours, nearest first, completed with all others where their number is small."""
    found = compute_neighbours(data, neighbourhood)
    every = [Activity(ActivityType.CLIENT, number) for number in range(data.num_clients)]
    for kind in (ActivityType.PICKUP, ActivityType.DELIVERY):
        every += [Activity(kind, number) for number in range(data.num_shipments)]
    if not data.num_shipments or len(every) > neighbourhood.num_neighbours:
        return found
    return {
        one: [*near, *(other for other in every if other not in near and not _is_one(one, other))]
        for one, near in found.items()
    }


def _is_one(one: Activity, other: Activity) -> bool:
    """Return whether two activities are the same client or of the same shipment."""
    return one.idx == other.idx and (one.type == ActivityType.CLIENT) == (other.type == ActivityType.CLIENT)


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

    def choose(self, current: Solution, found: Solution, evaluator: CostEvaluator) -> Solution:
        """Return the next current plan; penalties may differ between calls."""
        late = self._history[self._at]
        bar = evaluator.penalised_cost(self._start if late is None else late)
        cost, found_cost = evaluator.penalised_cost(current), evaluator.penalised_cost(found)
        if found_cost < max(bar, cost):
            current, cost = found, found_cost
        if late is None or cost < bar:
            self._history[self._at] = current
        self._at = (self._at + 1) % len(self._history)
        return current
