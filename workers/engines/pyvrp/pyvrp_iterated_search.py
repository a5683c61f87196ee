"""One search of PyVRP: its moves and its costs in a loop of our own.

Owns where a search begins and which plan is changed next. The library owns the change itself (`LocalSearch`: disturb,
put back, descend) and what a plan costs at given penalties. What broken rules cost is
`workers/engines/pyvrp/pyvrp_penalties.py`'s; how long to search, and who hears of better plans, is
`workers/engines/pyvrp/pyvrp_run.py`'s.

Departures from `pyvrp.solve` 0.14.1, which a test holds this to otherwise, plan by plan:
1. A given plan that lacks wanted tickets is completed first. The library charges nothing for them, so that such a plan
   is cheaper than every whole one: it would stay the plan that is changed, and nothing that is found be built upon.
2. Making the moves ready, the first plan and the search are three calls, so that a stop is heard between them: on the
   largest days each of the first two takes seconds and cannot be ended.
3. Each rule has a least penalty of its own.
4. On small days with shipments everything is a neighbour of everything. The library leaves the two farthest out, so
   that a shipment and one delivery have no neighbour at all and never share a vehicle.
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
"""Plans without a better one after which the search begins again at the best: the library's own number."""

IsOver = Callable[[], bool]
OnSolution = Callable[[Solution], None]


class IteratedSearch:
    """The moves of one run: neighbours, operators and random numbers are made once.

    Args:
        data: The day as the library's data.
        penalties: What broken rules cost.
        neighbourhood: How near a stop is to another.
        seed: Of all random numbers.
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
        """Return what to start from: what is given, completed where it lacks wanted tickets, else a plan of chance."""
        if given is not None and given.is_complete():
            return given
        plan = Solution.make_random(self._data, self._random) if given is None else given
        return self._moves(plan, self._penalties.strictest, exhaustive=True)

    def run(self, start: Solution, history: int, is_over: IsOver, on_solution: OnSolution) -> int:
        """Search until it is over; return the number of plans looked at.

        Args:
            start: Where to begin; noted, like every better plan.
            history: How many plans the acceptance looks back.
            is_over: Asked before each plan.
            note: Told of each new best plan; the first ones may break rules.
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
            if evaluator.cost(found) < evaluator.cost(best):  # a plan that breaks rules costs the most a number can be
                (best, found), idle = self._polished(found, evaluator), 0
                on_solution(best)
            current = acceptance.choose(current, found, evaluator)
            if idle == STALE_AFTER:
                acceptance, current, idle = LateAcceptance(start, history), best, 0
        return count

    def _polished(self, found: Solution, evaluator: CostEvaluator) -> tuple[Solution, Solution]:
        """Return the best plan and what a descent over all stops makes of it, which may break a rule that pays."""
        thorough = self._moves(found, evaluator, exhaustive=True)
        return (thorough if thorough.is_feasible() else found), thorough


def neighbours_of(data: ProblemData, neighbourhood: NeighbourhoodParams) -> dict[Activity, list[Activity]]:
    """Return the library's neighbours, nearest first, and behind them what it leaves out where all would have room."""
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
    """Keeps what is cheaper than the current plan, or than the plan kept so many plans ago.

    Source: Burke and Bykov, "The late acceptance hill-climbing heuristic", EJOR 258 (1), 2017, with both enhancements
    of section 4.2.

    Args:
        start: What is compared with while the history is short.
        length: Of the history, in plans.
    """

    def __init__(self, start: Solution, length: int) -> None:
        self._start = start
        self._history: list[Solution | None] = [None] * length
        self._at = 0

    def choose(self, current: Solution, found: Solution, evaluator: CostEvaluator) -> Solution:
        """Return which of the two is changed next, at penalties that change between two calls."""
        late = self._history[self._at]
        bar = evaluator.penalised_cost(self._start if late is None else late)
        cost, found_cost = evaluator.penalised_cost(current), evaluator.penalised_cost(found)
        if found_cost < max(bar, cost):
            current, cost = found, found_cost
        if late is None or cost < bar:
            self._history[self._at] = current
        self._at = (self._at + 1) % len(self._history)
        return current
