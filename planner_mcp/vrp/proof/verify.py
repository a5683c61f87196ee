"""The independent proof of a plan.

Owns a second reading of the model in `problem.py`, written from that definition alone: it shares no helper with
`layout/schedule.py`, `layout/timeline.py` or any engine, so that one mistake cannot hide in both. It takes the plan in
the caller's units, as anybody would read it, and recomputes every number. What holds between routes is judged here,
each route by `proof/route.py`, what it carries by `proof/cargo.py`.

Tolerance: each number of a plan is read as the nearest unit (half a unit of `1 / scale` either way), and from there on
all arithmetic is exact in integers. Costs beyond 2^52 units may differ by the precision of a float.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from planner_mcp.vrp.plan import Plan, PlannedRoute, PlanStatus, Visit
from planner_mcp.vrp.problem import GroupKind, Problem
from planner_mcp.vrp.proof.book import Book, is_cost
from planner_mcp.vrp.proof.route import Walk


def verify(problem: Problem, plan: Plan) -> list[str]:
    """Return every way in which the plan breaks the problem or misstates itself; empty when it is proved.

    Sentences name agents and tickets by id.
    """
    if not _is_finite(plan):
        return ["The plan has a number that is not finite."]
    book = Book(problem)
    unknown = list(_unknown_names(book, plan))
    if unknown:
        return unknown
    found: list[str] = []
    walks = []
    for route in plan.routes:
        walk = Walk(book, route)
        found.extend(walk.faults())
        walks.append(walk)
    found.extend(_fleet_faults(book, plan))
    found.extend(_choice_faults(book, plan))
    found.extend(_summary_faults(book, plan, walks))
    return found


def _is_finite(plan: Plan) -> bool:
    records: list[Plan | PlannedRoute | Visit] = [
        plan,
        *plan.routes,
        *(visit for route in plan.routes for visit in route.visits),
    ]
    numbers = [getattr(record, name) for record in records for name in record.__slots__]
    numbers += [amount for route in plan.routes for visit in route.visits for amount in visit.load.values()]
    return all(math.isfinite(number) for number in numbers if isinstance(number, float))


def _unknown_names(book: Book, plan: Plan) -> Iterator[str]:
    """Say which names the problem does not have; nothing more can be said of such a plan."""
    for route in plan.routes:
        if route.agent_id not in book.agents:
            yield f"Agent {route.agent_id} does not exist."
        for visit in route.visits:
            if visit.kind not in ("ticket", "reload", "break"):
                yield f"A visit is of no known kind: {visit.kind}."
            if (visit.kind == "ticket" or visit.ticket_id is not None) and visit.ticket_id not in book.tickets:
                yield f"Ticket {visit.ticket_id} does not exist."
            if visit.kind == "reload" and visit.location not in book.locations:
                yield f"A reload happens at {visit.location}, which does not exist."
            if set(visit.load) != set(book.problem.dimensions):
                yield f"A visit of {route.agent_id} states loads of other dimensions than the problem has."
    for entry in plan.unassigned:
        if entry.ticket_id not in book.tickets:
            yield f"Unassigned ticket {entry.ticket_id} does not exist."


def _fleet_faults(book: Book, plan: Plan) -> Iterator[str]:
    """Yield what is wrong between routes: agents twice, locks that nobody keeps."""
    counts = Counter(route.agent_id for route in plan.routes)
    for agent, count in counts.items():
        if count > 1:
            yield f"Agent {agent} has {count} routes."
    for spec in book.problem.agents:
        if spec.locked and spec.id not in counts:
            yield f"Agent {spec.id}: does not serve its locked tickets."


def _served(plan: Plan) -> Counter[str]:
    return Counter(v.ticket_id for route in plan.routes for v in route.visits if v.ticket_id is not None)


def _choice_faults(book: Book, plan: Plan) -> Iterator[str]:
    """Yield what is wrong with the choice of tickets: served twice, lost, against a group."""
    served, left = _served(plan), Counter(entry.ticket_id for entry in plan.unassigned)
    for ticket, count in served.items():
        if count > 1:
            yield f"Ticket {ticket} is served {count} times."
    for spec in book.problem.tickets:
        if left[spec.id] != (0 if served[spec.id] else 1):
            yield f"Ticket {spec.id} must be either served or listed once as unassigned."
    for entry in plan.unassigned:
        if not entry.code:
            yield f"Unassigned ticket {entry.ticket_id} has no reason."
    for group in book.problem.groups:
        members = [book.problem.tickets[index].id for index in group.tickets]
        count = sum(served[member] > 0 for member in members)
        if group.kind is GroupKind.ONE_OF and count > 1:
            yield f"More than one ticket of the group of {members[0]} is served."
        if group.kind is GroupKind.ALL and 0 < count < len(set(members)):
            yield f"Only some tickets of the group of {members[0]} are served."


def _summary_faults(book: Book, plan: Plan, walks: Sequence[Walk]) -> Iterator[str]:
    """Yield what the plan misstates about itself as a whole."""
    served = set(_served(plan))
    stated = {
        "distance_m": (book.units(plan.distance_m), sum(walk.sums.distance for walk in walks)),
        "duration_s": (book.units(plan.duration_s), sum(walk.sums.duration for walk in walks)),
        "agents_used": (plan.agents_used, len(walks)),
        "tickets_served": (plan.tickets_served, len(served)),
        "tickets_total": (plan.tickets_total, len(book.problem.tickets)),
        "status": (plan.status, _status(book.problem, served)),
    }
    for name, (value, truth) in stated.items():
        if value != truth:
            yield f"The plan states a wrong {name}."
    missed, wanted = _missing(book.problem, served)
    span = book.problem.span_cost * max((walk.sums.duration for walk in walks), default=0)
    if not is_cost(book.problem, plan.cost, sum(walk.sums.cost for walk in walks) + missed + span):
        yield "The plan states a wrong cost."
    if not is_cost(book.problem, plan.penalty, wanted):
        yield "The plan states a wrong penalty."


def _missing(problem: Problem, served: set[str]) -> tuple[int, int]:
    """Return what it costs to leave out what is left out: at the caller's price, and at that of wanted tickets."""
    sums = {True: 0, False: 0}
    for ticket in problem.tickets:
        if ticket.id not in served:
            sums[ticket.is_priced] += ticket.penalty
    for group in problem.groups:
        members = [problem.tickets[index] for index in group.tickets]
        if group.kind is GroupKind.ONE_OF and not any(member.id in served for member in members):
            sums[all(member.is_priced for member in members)] += group.penalty
    return sums[True], sums[False]


def _status(problem: Problem, served: set[str]) -> PlanStatus:
    """Return FEASIBLE where every ticket that is neither priced nor replaced by an alternative is served."""
    excused = {index for index, ticket in enumerate(problem.tickets) if ticket.is_priced or ticket.id in served}
    for group in problem.groups:
        if group.kind is GroupKind.ONE_OF and any(problem.tickets[index].id in served for index in group.tickets):
            excused.update(group.tickets)
    return PlanStatus.FEASIBLE if len(excused) == len(problem.tickets) else PlanStatus.PARTIAL
