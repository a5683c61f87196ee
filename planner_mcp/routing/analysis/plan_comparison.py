"""The differences between two plans of one scenario (SPEC T5).

Owns the counting, on plans: tickets that moved to another agent, changed their order, are newly served or newly left
out, and the change for each agent. It makes no judgement of which plan is better. Costs are taken as stated;
`analysis/plan_repricing.py` makes them comparable.

The difference of two plans is the share of successor pairs (ticket after ticket, by direction) of one that the other
does not have. Equal routes driven by other vehicles of the same kind therefore count as equal.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from planner_mcp.routing.plan import CENT, UNIT_LEGS, Plan, PlannedRoute
from planner_mcp.text import named, number

_MINUTE_S: Final = 60.0
SHIFTED_S: Final = 300.0
"""A service that starts at least this much earlier or later counts as shifted."""


@dataclass(frozen=True, slots=True)
class TicketMove:
    """A ticket that is served by another agent in plan b."""

    ticket_id: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class AgentDelta:
    """The change for one agent from plan a to plan b, in the units of a plan."""

    agent_id: str
    tickets: int
    distance_m: float
    duration_s: float
    cost: float | None
    """None where the costs are not comparable."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences from plan a to plan b."""

    cost: float | None
    """None where no prices apply to both plans."""
    distance_m: float
    agents_used: int
    moved: tuple[TicketMove, ...]
    """Served in both, by different agents."""
    reordered: tuple[str, ...]
    """Served in both by the same agent, in another order: the fewest tickets whose move explains it."""
    shifted: int
    """Served in both, starting `SHIFTED_S` or more earlier or later."""
    newly_served: tuple[str, ...]
    newly_left_out: tuple[str, ...]
    gone: tuple[str, ...]
    """Served in plan a, and not a ticket of plan b's scenario."""
    agents: tuple[AgentDelta, ...]
    """Agents with a change, the largest saving of cost (or distance) first."""
    difference: float
    """0 (equal successors everywhere) … 1; see the module docstring."""


def compare(a: Plan, b: Plan, *, is_priced: bool = True) -> Comparison:
    """Return the differences from plan a to plan b; without costs where no prices hold for both."""
    routes = _orders(a), _orders(b)
    driver = tuple({ticket: agent for agent, order in side.items() for ticket in order} for side in routes)
    shared = [ticket for ticket in driver[0] if ticket in driver[1]]
    starts = _starts(a), _starts(b)
    left_out = {entry.ticket_id for entry in b.unassigned}
    unserved = [ticket for ticket in driver[0] if ticket not in driver[1]]
    return Comparison(
        cost=b.cost - a.cost if is_priced else None,
        distance_m=b.distance_m - a.distance_m,
        agents_used=b.agents_used - a.agents_used,
        moved=tuple(TicketMove(t, driver[0][t], driver[1][t]) for t in shared if driver[0][t] != driver[1][t]),
        reordered=tuple(_reordered(*routes)),
        shifted=sum(abs(starts[1][ticket] - starts[0][ticket]) >= SHIFTED_S for ticket in shared),
        newly_served=tuple(ticket for ticket in driver[1] if ticket not in driver[0]),
        newly_left_out=tuple(ticket for ticket in unserved if ticket in left_out),
        gone=tuple(ticket for ticket in unserved if ticket not in left_out),
        agents=_deltas(a, b, is_priced=is_priced),
        difference=difference(a, b),
    )


def difference_in_words(a: Plan, b: Plan, found: Comparison) -> list[str]:
    """Return the change from plan a to plan b, a sentence each, the most important first: distance and cost in all, and
    what of the cost no agent has; who is served no longer and who now, what is late, and who gains and loses what.
    """
    counts_legs = b.travel.get("source") == UNIT_LEGS
    length, cost = _length(found.distance_m, counts_legs=counts_legs), number(found.cost)
    sentences = [f"In all {length}." if cost is None else f"In all {length}, cost {cost:+}."]
    apart = _cost_apart(a, b)
    if found.cost is not None and abs(apart) >= CENT:
        sentences.append(f"Of the cost {number(apart):+} is of no route: prices of tickets left out, or balance.")
    sentences += [f"No longer served: {named(found.newly_left_out)}."] if found.newly_left_out else []
    sentences += [f"Served now: {named(found.newly_served)}."] if found.newly_served else []
    lateness = _lateness(a), _lateness(b)
    for ticket, late_s in lateness[1].items():
        was = lateness[0].get(ticket, 0.0)
        if abs(late_s - was) >= _MINUTE_S:
            sentences.append(f"{ticket} is {late_s / 60:.0f} min late, {was / 60:.0f} before.")
    orders = _orders(a), _orders(b)
    return sentences + [_agent_in_words(each, *orders, counts_legs=counts_legs) for each in found.agents]


def _cost_apart(a: Plan, b: Plan) -> float:
    """Return what no route has of the change of cost; 0 where a route has no cost."""
    before, after = ([route.cost for route in plan.routes] for plan in (a, b))
    if None in before or None in after:
        return 0.0
    return b.cost - a.cost - sum(cost or 0.0 for cost in after) + sum(cost or 0.0 for cost in before)


def _agent_in_words(delta: AgentDelta, *orders: Mapping[str, list[str]], counts_legs: bool) -> str:
    before, after = (order.get(delta.agent_id, []) for order in orders)
    gained, lost = [t for t in after if t not in before], [t for t in before if t not in after]
    if gained and lost:
        change = f"{delta.agent_id} gains {named(gained)} and loses {named(lost)}:"
    elif gained or lost:
        change = f"{delta.agent_id} gains {named(gained)}:" if gained else f"{delta.agent_id} loses {named(lost)}:"
    else:
        change = f"{delta.agent_id} keeps its tickets:"
    time, cost = f"{delta.duration_s / 60:+.0f}", number(delta.cost)
    way = _length(delta.distance_m, counts_legs=counts_legs)
    figures = f"{time} min, {way}." if cost is None else f"{time} min, {way}, cost {cost:+}."
    return f"{change} {figures}"


def _length(metres: float, *, counts_legs: bool) -> str:
    """Return a change of distance; where travel is not known it counts legs."""
    if counts_legs:
        return f"{metres:+.0f} {'leg' if abs(metres) == 1 else 'legs'}"
    return f"{metres:+.0f} m" if abs(metres) < 1000 else f"{metres / 1000:+.1f} km"


def _lateness(plan: Plan) -> dict[str, float]:
    """Return how late each ticket is, in seconds."""
    visits = (visit for route in plan.routes for visit in route.visits)
    return {visit.ticket_id: visit.late_s or 0.0 for visit in visits if visit.ticket_id is not None}


def difference(a: Plan, b: Plan) -> float:
    """Return the share of successor pairs that only one of two plans has: 0 for equal routes, 1 for none in common."""
    first, second = _neighbours(a), _neighbours(b)
    most = max(len(first), len(second))
    return 1 - len(first & second) / most if most else 0.0


def _orders(plan: Plan) -> dict[str, list[str]]:
    return {route.agent_id: route.tickets for route in plan.routes}


def _starts(plan: Plan) -> dict[str, float]:
    return {
        visit.ticket_id: visit.start_s for route in plan.routes for visit in route.visits if visit.ticket_id is not None
    }


def _neighbours(plan: Plan) -> set[tuple[str | None, str | None]]:
    orders = _orders(plan).values()
    return {pair for order in orders if order for pair in pairwise([None, *order, None])}


def _reordered(a: Mapping[str, list[str]], b: Mapping[str, list[str]]) -> list[str]:
    """Return the reordered tickets: all outside a longest subsequence that has the same order in both plans."""
    found: list[str] = []
    for agent, order in b.items():
        place = {ticket: position for position, ticket in enumerate(a.get(agent, ()))}
        kept = [ticket for ticket in order if ticket in place]
        steady = _longest_rising([place[ticket] for ticket in kept])
        found += [ticket for position, ticket in enumerate(kept) if position not in steady]
    return found


def _longest_rising(values: Sequence[int]) -> set[int]:
    """Return the positions of a longest increasing subsequence (patience sorting)."""
    tails: list[int] = []
    at: list[int] = []
    before: list[int] = []
    for position, value in enumerate(values):
        pile = bisect_left(tails, value)
        before.append(at[pile - 1] if pile else -1)
        tails[pile:] = [value] if pile == len(tails) else [value, *tails[pile + 1 :]]
        at[pile:] = [position] if pile == len(at) else [position, *at[pile + 1 :]]
    chosen: set[int] = set()
    position = at[-1] if at else -1
    while position >= 0:
        chosen.add(position)
        position = before[position]
    return chosen


_IDLE: Final = PlannedRoute("", (), None, None, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def _deltas(a: Plan, b: Plan, *, is_priced: bool) -> tuple[AgentDelta, ...]:
    before, after = ({route.agent_id: route for route in plan.routes} for plan in (a, b))
    deltas = [
        _delta(agent, before.get(agent, _IDLE), after.get(agent, _IDLE), is_priced=is_priced)
        for agent in {**before, **after}
    ]
    changed = [each for each in deltas if each.tickets or each.distance_m or each.duration_s or each.cost]
    return tuple(sorted(changed, key=lambda each: each.distance_m if each.cost is None else each.cost))


def _delta(agent: str, old: PlannedRoute, new: PlannedRoute, *, is_priced: bool) -> AgentDelta:
    return AgentDelta(
        agent_id=agent,
        tickets=len(new.tickets) - len(old.tickets),
        distance_m=new.distance_m - old.distance_m,
        duration_s=(new.end_s - new.start_s) - (old.end_s - old.start_s),
        cost=None if not is_priced or old.cost is None or new.cost is None else new.cost - old.cost,
    )
