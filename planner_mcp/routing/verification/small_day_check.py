"""Checks that no plan of a small day costs less than a cost, with the rules that join its routes.

Owns the exact choice of routes. It shares no code with evaluation, bounds or engines, and needs no tree: the numbers of
a certificate make it faster, and any wrong one makes it fail, never agree.

1. A plan that serves every wanted ticket costs at least the sum of the prices, each at most the penalty of its ticket,
   plus the reduced costs of its routes: their costs less the prices of their tickets.
2. The certificate claims a number for each agent that no reduced cost is below. What the plan costs above the sum with
   these numbers is a budget. So a route of a cheaper plan has a reduced cost below the budget plus the claim.
3. A `SmallDayLister` lists the sets of tickets of all such routes, each at its least cost. A listed one below the claim
   refutes it.
4. Agent by agent, the cheapest way to serve each set of tickets by listed routes is computed. With the penalties of the
   other tickets, for each set that the groups allow, the cheapest of these is the cheapest plan.
5. Where the longest duration costs something, it lies above `least` and up to `greatest` in one of several intervals.
   No route takes longer than `greatest` there, and the plan pays for at least `least + 1`. An interval that may hold a
   cheaper plan is halved, down to a single duration, where this is exact.
"""

from collections.abc import Callable
from typing import Final

from planner_mcp import arrays as np
from planner_mcp.arrays import Integers
from planner_mcp.routing.problem import GroupKind, Problem
from planner_mcp.routing.verification.optimality_check import OptimalityCertificate
from planner_mcp.routing.verification.proof_rows import claims_of, floor_of, kinds_of, row_prices, rows_of
from planner_mcp.routing.verification.small_day_tables import (
    LARGEST,
    NO_LIMIT,
    SmallDayTables,
    small_day_tables,
)

MAX_TICKETS: Final = 12
_UNREACHABLE: Final = 2**60
"""Cost of what no plan does; above every cost of `LARGEST` at most."""

SmallDayLister = Callable[[SmallDayTables, int], dict[int, int] | None]
"""Returns the least cost of each set of tickets, as bits, that a route serves at a cost less prices below a limit; None
where not all."""


def is_small_day(problem: Problem) -> bool:
    """Return whether a day is small enough for this check."""
    return len(problem.tickets) <= MAX_TICKETS


def proves_small_day(
    problem: Problem, certificate: OptimalityCertificate, cost: int, list_routes: SmallDayLister
) -> bool:
    """Return whether no plan serving every wanted ticket costs less than `cost`; False where that is not certain.

    Args:
        problem: An `is_small_day`.
        certificate: Prices and claims; its tree is not read.
        cost: In cost units, wanted tickets all served.
        list_routes: May give up.
    """
    check = _SmallDayCheck(problem, certificate, list_routes)
    return check.is_in_range(cost) and check.is_least(cost)


class _SmallDayCheck:
    """One check. Costs are multiplied by the factor."""

    def __init__(self, problem: Problem, certificate: OptimalityCertificate, list_routes: SmallDayLister) -> None:
        self._problem = problem
        self._factor = certificate.factor
        self._list_routes = list_routes
        self._rows = tuple(rows_of(problem, certificate.factor))
        self._kinds = tuple(kinds_of(problem))
        self._claims = claims_of(self._kinds, certificate.least)
        self._sets = np.arange(1 << len(problem.tickets))
        prices = row_prices(problem, self._rows, certificate.prices.tickets, certificate.prices.groups)
        self._prices = [0] * len(problem.tickets)
        self._floor = floor_of(self._rows, prices, self._kinds, self._claims)
        for row, price in zip(self._rows, prices, strict=True):
            for ticket in row.tickets:
                self._prices[ticket] += price
        self._tables = [small_day_tables(problem, kind.agents[0], self._factor, self._prices) for kind in self._kinds]

    def is_in_range(self, cost: int) -> bool:
        """Return whether no sum can leave the range of the arithmetic."""
        penalties = [row.penalty for row in self._rows if row.penalty is not None]
        sums = (sum(map(abs, self._prices)), sum(map(abs, self._claims)), abs(self._floor), sum(penalties))
        return max(abs(cost) * self._factor, *sums) <= LARGEST

    def is_least(self, cost: int) -> bool:
        """Return whether no plan costs less."""
        span_cost, agents = self._problem.span_cost, self._problem.agents
        if not span_cost:
            return self._is_least(cost, NO_LIMIT)
        intervals = [(-1, max(spec.shift[1] + spec.overtime - spec.shift[0] for spec in agents))]
        while intervals:
            least, greatest = intervals.pop()
            if not self._is_least(cost - span_cost * (least + 1), greatest):
                if greatest <= least + 1:
                    return False
                middle = (least + greatest) // 2
                intervals += [(middle, greatest), (least, middle)]
        return True

    def _is_least(self, cost: int, most_duration: int) -> bool:
        """Return whether no plan without routes beyond a duration costs less, the price of the longest one left out."""
        limit = (cost - 1) * self._factor + 1  # costs are whole units
        budget = limit - self._floor
        if budget <= 0:
            budget = 0  # the claims remain to be confirmed
        best = np.full(len(self._sets), _UNREACHABLE, dtype=np.int64)
        best[0] = 0
        for kind, claim, tables in zip(self._kinds, self._claims, self._tables, strict=True):
            routes = None if tables is None else self._list_routes(tables.within(most_duration), budget + claim)
            if routes is None or any(each - self._worth(served) < claim for served, each in routes.items()):
                return False
            for _ in kind.agents:
                best = self._with_one_more(best, routes, is_used=kind.is_used)
        return budget == 0 or int((best + self._penalties()).min()) >= limit

    def _worth(self, served: int) -> int:
        return sum(price for ticket, price in enumerate(self._prices) if served >> ticket & 1)

    def _with_one_more(self, best: Integers, routes: dict[int, int], *, is_used: bool) -> Integers:
        """Return the least cost of serving each set with an agent more, which has one of the routes, or none."""
        found = np.full_like(best, _UNREACHABLE) if is_used else best.copy()
        for served, cost in routes.items():
            before = self._sets[self._sets & served == 0]
            found[before | served] = np.minimum(found[before | served], best[before] + cost)
        return found

    def _penalties(self) -> Integers:
        """Return by set what a plan that serves just this set pays for the rest of the tickets."""
        total = np.zeros(len(self._sets), dtype=np.int64)
        for row in self._rows:
            served = sum((self._sets >> ticket & 1 for ticket in set(row.tickets)), 0 * self._sets)
            total += np.where(served == 0, _UNREACHABLE if row.penalty is None else row.penalty, 0)
            total[served > 1] = _UNREACHABLE
            np.minimum(total, _UNREACHABLE, out=total)
        for group in self._problem.groups:
            if group.kind is GroupKind.ALL:
                members = sum(1 << ticket for ticket in set(group.tickets))
                total[~np.isin(self._sets & members, (0, members))] = _UNREACHABLE
        return total
