"""What is on board along a route.

Owns the loads, of any route: whether they keep to the capacity is judged elsewhere.
"""

from collections.abc import Iterator

from planner_mcp.routing.problem import LoadKind, Problem, Route, StopKind


def loads_along(problem: Problem, route: Route) -> Iterator[list[int]]:
    """Yield what is on board, by dimension: at the start, then after each ticket and each reload."""
    trips = (_deliveries(problem, trip) for trip in route.trips)
    shipped, on_board = [0] * len(problem.dimensions), next(trips)  # shipments stay on board at a reload
    yield on_board
    for stop in route.stops:
        if stop.kind is StopKind.RELOAD:
            on_board = [a + b for a, b in zip(next(trips), shipped, strict=True)]
            yield on_board
        elif stop.kind is StopKind.TICKET:
            ticket = problem.tickets[stop.index]
            sign = 1 if ticket.load is LoadKind.PICKUP else -1
            on_board = [a + sign * b for a, b in zip(on_board, ticket.demand, strict=True)]
            if stop.index in problem.partner_of:
                shipped = [a + sign * b for a, b in zip(shipped, ticket.demand, strict=True)]
            yield on_board


def _deliveries(problem: Problem, trip: list[int]) -> list[int]:
    """Return the amounts that a trip leaves with, shipments apart."""
    amounts = [problem.amounts(ticket, LoadKind.DELIVERY) for ticket in trip]
    return [sum(each[dimension] for each in amounts) for dimension in range(len(problem.dimensions))]
