"""Lists every route that a plan cheaper than another one could have.

Owns the argument. Let L be a Lagrangian bound and U a cost. In a plan that costs less than U, no route of an agent has
a reduced cost of U - L or more above what that agent adds to L. So all such routes are enumerated, of those that serve
the same tickets the cheapest, which the plan may have as well: it costs no more then, and all of this holds for it too.
What the best choice of them proves (`workers/engines/bounds/route_choice.py`) holds for the relaxed problem, and so for
the problem.
"""

import time
from collections.abc import Sequence
from functools import partial
from typing import Final

from workers.engines.bounds.column_generation import DualBound
from workers.engines.bounds.column_master import MasterColumn
from workers.engines.bounds.native_pricing import PricedRoute, RoutePricer, dual_of_tickets
from workers.engines.bounds.relaxed_networks import RelaxedProblem

MAX_LABELS: Final = 2_000_000
"""480 MB or so."""
MAX_ROUTES: Final = 250_000


def enumerated(
    relaxed: RelaxedProblem,
    pricers: Sequence[RoutePricer],
    bound: DualBound,
    target: int,
    deadline: float,
    *,
    share: float = 1.0,
) -> list[MasterColumn] | None:
    """Return every route that a plan cheaper than `target` cost units could have; None where they are too many.

    Args:
        relaxed: The relaxed problem.
        pricers: By network.
        bound: The bound.
        target: Cost units.
        deadline: `time.monotonic()` by which to end.
        share: Of the gap; below 1 the routes are some of them.
    """
    duals, columns = dual_of_tickets(relaxed.rows_of, bound.duals), []
    gap = int(share * (target * relaxed.factor - bound.value))
    for number, (network, pricer) in enumerate(zip(relaxed.networks, pricers, strict=True)):
        limit = gap + min(0, bound.least[number])
        left_s = max(0.0, deadline - time.monotonic())
        routes = pricer.enumerate(
            network.switch_cost - duals,
            bound.cut_prices[number],
            bound.memory,
            limit,
            seconds=left_s,
            max_labels=MAX_LABELS,
            max_routes=MAX_ROUTES,
        )
        if routes is None:
            return None
        for route in filter(partial(_is_possible, relaxed), routes):
            cost = route.cost + int(duals[list(route.tickets)].sum())
            columns.append(MasterColumn(number, route.tickets, cost))
    return columns


def _is_possible(relaxed: RelaxedProblem, route: PricedRoute) -> bool:
    """Return whether the tickets may share a route, and none of them is half a shipment."""
    tickets, problem = set(route.tickets), relaxed.problem
    if any(ticket in problem.partner_of and problem.partner_of[ticket] not in tickets for ticket in tickets):
        return False
    return not any(low in tickets and high in tickets for low, high in problem.incompatible)
