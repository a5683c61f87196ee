"""Verifies a plan independently of the code that built it.

Owns a second implementation of the model in `problem.py`, written from that definition alone. It shares no helper with
`evaluation/` or any engine, so that one mistake cannot hide in both. It reads the plan in the caller's units and
recomputes every number. This module checks what holds between routes, `route_verification.py` each route, and
`load_verification.py` its loads.

Tolerance: each number of a plan is rounded to the nearest unit of `1 / scale`; all further arithmetic is exact in
integers. Costs beyond 2^52 units may differ by the precision of a float.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from planner_mcp.routing.plan import Plan, PlannedRoute, PlanStatus, Visit
from planner_mcp.routing.problem import GroupKind, Problem
from planner_mcp.routing.verification.problem_index import ProblemIndex, matches_cost
from planner_mcp.routing.verification.route_verification import RouteVerifier


def verify(problem: Problem, plan: Plan) -> list[str]:
    """Return every rule of the problem that the plan breaks and every wrong number in it; empty if there is none.

    Each sentence names agents and tickets by id.
    """
    if not _is_finite(plan):
        return ["The plan has a number that is not finite."]
    problem_index = ProblemIndex(problem)
    unknown = list(_unknown_names(problem_index, plan))
    if unknown:
        return unknown
    found: list[str] = []
    verifiers = []
    for route in plan.routes:
        verifier = RouteVerifier(problem_index, route)
        found.extend(verifier.faults())
        verifiers.append(verifier)
    found.extend(_fleet_faults(problem_index, plan))
    found.extend(_choice_faults(problem_index, plan))
    found.extend(_summary_faults(problem_index, plan, verifiers))
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


def _unknown_names(problem_index: ProblemIndex, plan: Plan) -> Iterator[str]:
    """Yield the names that the problem does not have. With unknown names nothing else can be checked."""
    for route in plan.routes:
        if route.agent_id not in problem_index.agents:
            yield f"Agent {route.agent_id} does not exist."
        for visit in route.visits:
            if visit.kind not in ("ticket", "reload", "break"):
                yield f"A visit is of no known kind: {visit.kind}."
            if (visit.kind == "ticket" or visit.ticket_id is not None) and visit.ticket_id not in problem_index.tickets:
                yield f"Ticket {visit.ticket_id} does not exist."
            if visit.kind == "reload" and visit.location not in problem_index.locations:
                yield f"A reload happens at {visit.location}, which does not exist."
            if set(visit.load) != set(problem_index.problem.dimensions):
                yield f"A visit of {route.agent_id} states loads of other dimensions than the problem has."
    for entry in plan.unassigned:
        if entry.ticket_id not in problem_index.tickets:
            yield f"Unassigned ticket {entry.ticket_id} does not exist."


def _fleet_faults(problem_index: ProblemIndex, plan: Plan) -> Iterator[str]:
    """Yield the faults between routes: an agent with two routes, locked tickets of an agent without a route."""
    counts = Counter(route.agent_id for route in plan.routes)
    for agent, count in counts.items():
        if count > 1:
            yield f"Agent {agent} has {count} routes."
    for spec in problem_index.problem.agents:
        if spec.locked and spec.id not in counts:
            yield f"Agent {spec.id}: does not serve its locked tickets."


def _served(plan: Plan) -> Counter[str]:
    return Counter(v.ticket_id for route in plan.routes for v in route.visits if v.ticket_id is not None)


def _choice_faults(problem_index: ProblemIndex, plan: Plan) -> Iterator[str]:
    """Yield the faults in the choice of tickets: served twice, missing, against a group rule."""
    served, left = _served(plan), Counter(entry.ticket_id for entry in plan.unassigned)
    for ticket, count in served.items():
        if count > 1:
            yield f"Ticket {ticket} is served {count} times."
    for spec in problem_index.problem.tickets:
        if left[spec.id] != (0 if served[spec.id] else 1):
            yield f"Ticket {spec.id} must be either served or listed once as unassigned."
    for entry in plan.unassigned:
        if not entry.code:
            yield f"Unassigned ticket {entry.ticket_id} has no reason."
    for group in problem_index.problem.groups:
        members = [problem_index.problem.tickets[index].id for index in group.tickets]
        count = sum(served[member] > 0 for member in members)
        if group.kind is GroupKind.ONE_OF and count > 1:
            yield f"More than one ticket of the group of {members[0]} is served."
        if group.kind is GroupKind.ALL and 0 < count < len(set(members)):
            yield f"Only some tickets of the group of {members[0]} are served."


def _summary_faults(problem_index: ProblemIndex, plan: Plan, verifiers: Sequence[RouteVerifier]) -> Iterator[str]:
    """Yield the wrong totals of the plan."""
    served = set(_served(plan))
    stated = {
        "distance_m": (problem_index.units(plan.distance_m), sum(verifier.totals.distance for verifier in verifiers)),
        "duration_s": (problem_index.units(plan.duration_s), sum(verifier.totals.duration for verifier in verifiers)),
        "agents_used": (plan.agents_used, len(verifiers)),
        "tickets_served": (plan.tickets_served, len(served)),
        "tickets_total": (plan.tickets_total, len(problem_index.problem.tickets)),
        "status": (plan.status, _status(problem_index.problem, served)),
    }
    for name, (value, truth) in stated.items():
        if value != truth:
            yield f"The plan states a wrong {name}."
    missed, wanted = _missing(problem_index.problem, served)
    span = problem_index.problem.span_cost * max((verifier.totals.duration for verifier in verifiers), default=0)
    if not matches_cost(
        problem_index.problem, plan.cost, sum(verifier.totals.cost for verifier in verifiers) + missed + span
    ):
        yield "The plan states a wrong cost."
    if not matches_cost(problem_index.problem, plan.penalty, wanted):
        yield "The plan states a wrong penalty."


def _missing(problem: Problem, served: set[str]) -> tuple[int, int]:
    """Return the penalties of unassigned tickets: of those priced by the caller, and of the wanted ones."""
    totals = {True: 0, False: 0}
    for ticket in problem.tickets:
        if ticket.id not in served:
            totals[ticket.is_priced] += ticket.penalty
    for group in problem.groups:
        members = [problem.tickets[index] for index in group.tickets]
        if group.kind is GroupKind.ONE_OF and not any(member.id in served for member in members):
            totals[all(member.is_priced for member in members)] += group.penalty
    return totals[True], totals[False]


def _status(problem: Problem, served: set[str]) -> PlanStatus:
    """Return FEASIBLE where every ticket that is neither priced nor replaced by an alternative is served."""
    excused = {index for index, ticket in enumerate(problem.tickets) if ticket.is_priced or ticket.id in served}
    for group in problem.groups:
        if group.kind is GroupKind.ONE_OF and any(problem.tickets[index].id in served for index in group.tickets):
            excused.update(group.tickets)
    return PlanStatus.FEASIBLE if len(excused) == len(problem.tickets) else PlanStatus.PARTIAL
