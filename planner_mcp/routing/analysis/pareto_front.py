"""The Pareto front of a day: what fewer agents, less lateness or shorter routes cost (SPEC T5).

Owns the three criteria: the value a plan has, the least that any plan can have, and which of some plans are on the
front: no other is at least as good in cost and criterion. Plans for it are found under a price for each unit of the
criterion (`analysis/alternative_plans.py`), so the front has what such prices find: its convex part.

The least values hold for plans that serve every wanted ticket. They are the agents that capacities and hours need, and
of each ticket alone the way there and back, or its earliest start; ways over other stops are taken where they are
shorter. Where visits are locked they are 0: what was executed may have been quicker than travel is known to be.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from planner_mcp.routing.feasibility import fleet_size_bounds
from planner_mcp.routing.feasibility.least_travel import DirectLegs, TravelMeasure, least_legs
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.problem import Problem, TicketSpec

Criterion = Literal["agents", "lateness", "balance"]

UNITS: Final[dict[Criterion, str]] = {"agents": "agents", "lateness": "late_min", "balance": "longest_h"}
"""Name of a criterion's values, with their unit."""


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """A plan as the front sees it."""

    name: str
    cost: float
    value: float
    """In the unit of its criterion, 0 or more."""
    penalty: float = 0.0
    """For wanted tickets that it leaves out."""


def value_of(plan: Plan, criterion: Criterion) -> float:
    """Return what a plan has of a criterion: agents, minutes late in all, hours of the longest route."""
    if criterion == "agents":
        return plan.agents_used
    if criterion == "lateness":
        return sum(visit.late_s or 0.0 for route in plan.routes for visit in route.visits) / 60
    return max((route.end_s - route.start_s for route in plan.routes), default=0.0) / 3600


def serving_most(points: Sequence[FrontPoint]) -> list[FrontPoint]:
    """Return the points with the lowest penalty: whoever leaves out more has a lower cost for that reason alone."""
    least = min(point.penalty for point in points)
    return [point for point in points if point.penalty == least]


def front_of(points: Sequence[FrontPoint]) -> tuple[list[FrontPoint], dict[str, str]]:
    """Return the points on the front, the cheapest first, and for each other one a point that is as good in both.

    Args:
        points: Of plans that leave out the same (`serving_most`).
    """
    front: list[FrontPoint] = []
    beaten: dict[str, str] = {}
    for point in sorted(points, key=lambda point: (point.cost, point.value)):
        if front and front[-1].value <= point.value:
            beaten[point.name] = front[-1].name
        else:
            front.append(point)
    return front, beaten


def least_value(problem: Problem, criterion: Criterion) -> float:
    """Return what every plan that serves all wanted tickets has of a criterion at least, in its unit."""
    wanted = fleet_size_bounds.mandatory_tickets(problem)
    if criterion == "agents":
        return fleet_size_bounds.agents_needed(problem, wanted)
    if any(agent.locked for agent in problem.agents):
        return 0.0
    tickets = [problem.tickets[index] for index in wanted]
    if criterion == "lateness":
        return _least_lateness(problem, tickets) / problem.scale / 60
    return _least_longest(problem, tickets) / problem.scale / 3600


@dataclass(frozen=True, slots=True)
class _Start:
    """Agents that set out alike."""

    opens: int
    profile: int
    start: int | None
    end: int | None


def _least_lateness(problem: Problem, tickets: Iterable[TicketSpec]) -> int:
    """Return a lower bound on total lateness: each ticket reached directly from the nearest agent's start."""
    legs, candidates = least_legs(problem, DirectLegs(problem)), _candidates(problem)
    total = 0
    for ticket in tickets:
        if ticket.soft_close is None:
            continue
        arrivals = (
            each.opens + legs.out(TravelMeasure.TIME, each.profile, each.start, ticket.location)
            for each in candidates(ticket)
        )
        starts = (start for arrival in arrivals if (start := ticket.start_from(arrival)) is not None)
        total += max(0, min(starts, default=0) - ticket.soft_close)
    return total


def _least_longest(problem: Problem, tickets: Sequence[TicketSpec]) -> int:
    """Return the duration of the longest route at least: that of a ticket alone, or an even share of the service."""
    legs, candidates = least_legs(problem, DirectLegs(problem)), _candidates(problem)
    time = TravelMeasure.TIME
    alone = (
        ticket.service
        + min(
            (
                legs.out(time, each.profile, each.start, ticket.location)
                + legs.back(time, each.profile, ticket.location, each.end)
                for each in candidates(ticket)
            ),
            default=0,
        )
        for ticket in tickets
    )
    return max([sum(ticket.service for ticket in tickets) // len(problem.agents), *alone])


def _candidates(problem: Problem) -> Callable[[TicketSpec], Iterator[_Start]]:
    """Return a function that yields how the agents set out that may serve a ticket, each way once."""
    starts: dict[_Start, set[int]] = {}
    for index, agent in enumerate(problem.agents):
        starts.setdefault(_Start(agent.shift[0], agent.profile, agent.start, agent.end), set()).add(index)

    def candidates(ticket: TicketSpec) -> Iterator[_Start]:
        return (start for start, agents in starts.items() if ticket.agents is None or agents & ticket.agents)

    return candidates
