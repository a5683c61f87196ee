"""Freezes the executed part of an earlier plan while a changed scenario is planned again (SPEC T5, S1 locks).

Owns the choice of what is frozen: the visits that have begun by a given time, the visit each agent is driving to, and
the tickets that stay with their agents or cost a penalty if they move. The result is stored as `held` beside the
caller's fields. `compilation/frozen_prefix_compilation.py` turns it into locks and prices, which engines and the
verifier read like any others. What the plan says up to that time counts as executed. The remaining plan is repaired
first, so that only what the changed scenario allows is frozen.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError

from planner_mcp.routing.analysis.plan_repair import repair
from planner_mcp.routing.compilation.frozen_prefix_compilation import is_priced_elsewhere
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import candidate_of
from planner_mcp.routing.plan import Plan, PlannedRoute, Visit
from planner_mcp.routing.problem import Candidate
from planner_mcp.routing.scenario.scenario_body import ScenarioBody
from planner_mcp.routing.scenario.scenario_model import Held, HeldReload, HeldRoute, HeldVisit, Scenario
from planner_mcp.routing.scenario.scenario_parsing import is_readable
from planner_mcp.routing.scenario.scenario_patch import without_tickets_named
from planner_mcp.text import Json, counted, named

_NEVER: Final = float("inf")
REPAIR_S: Final = 1.0
"""Time limit of the repair of an earlier plan; the caller waits for it."""
_ASSIGNMENT_FIELDS: Final = ("stay", "prefer", "switch_cost", "promised")
"""Fields of `Held` that `agent_assignments` writes."""


def frozen_prefix(plan: Plan, until_s: float) -> Held:
    """Return the executed part of a plan; checked with the day that is given it, as a plan knows no bounds of times.

    Args:
        plan: An earlier plan.
        until_s: Visits that start before this time have begun; seconds after midnight.
    """
    routes = (_route(route, until_s) for route in plan.routes)
    return Held.model_construct(until_s=until_s, routes=tuple(route for route in routes if route is not None))


def agent_assignments(
    scenario: Scenario,
    plan: Plan,
    *,
    agents: bool = False,
    switch_cost: float = 0.0,
    are_promised: bool = False,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Held, list[str]]:
    """Return which agent keeps which ticket of a plan, and sentences for the caller.

    The sentences name tickets whose own switch cost applies instead, and the assumptions made for the frozen prefix.

    Args:
        scenario: The scenario to be planned.
        plan: An earlier plan.
        agents: Whether tickets stay with the agent that serves them in the plan, where it still can.
        switch_cost: Cost of each ticket that goes to another agent; 0 for none.
        are_promised: Whether its wanted tickets outweigh those that it does not serve.
        clock: Monotonic seconds, for `REPAIR_S`.
    """
    problem = compile_scenario(scenario)
    planned = candidate_of(problem, plan)

    def agent_by_ticket(found: Candidate) -> dict[str, str]:
        return {problem.tickets[n].id: problem.agents[r.agent].id for r in found.routes for n in r.tickets}

    assigned: dict[str, Any] = {}
    if agents:
        ends = clock() + REPAIR_S
        assigned["stay"] = agent_by_ticket(repair(problem, planned, lambda: clock() >= ends))
    if switch_cost:
        assigned |= {"prefer": agent_by_ticket(planned), "switch_cost": switch_cost}
    if are_promised:
        served = agent_by_ticket(planned)
        promised = tuple(t.id for t in scenario.tickets if t.id in served and t.penalty is None)
        assigned |= {"promised": promised} if promised and len(promised) < len(scenario.tickets) else {}
    tied = Held.model_construct(**assigned)
    return tied, [*_own_prices(scenario, tied.prefer), *problem.frozen_prefix_assumptions]


def _own_prices(scenario: Scenario, prefer: Mapping[str, str]) -> list[str]:
    """Return a sentence that names the tickets whose own switch cost applies instead of that of this call."""
    planned = (ticket for ticket in scenario.tickets if ticket.id in prefer)
    own_priced = [ticket.id for ticket in planned if is_priced_elsewhere(ticket, prefer[ticket.id])]
    sentence = f"switch_cost of this call passes over {counted(len(own_priced), 'ticket')} ({named(own_priced)})"
    return [f"{sentence}: their own preferred_agent is another and has its price."] if own_priced else []


def without_assignments(body: ScenarioBody) -> ScenarioBody:
    """Return a scenario without assignments of tickets to agents by an earlier call; the frozen prefix stays.

    Returns the same object where there are none.
    """
    held = body.get("held") or {}
    frozen = {name: value for name, value in held.items() if name not in _ASSIGNMENT_FIELDS}
    if frozen == held:
        return body
    without_held = {name: value for name, value in body.items() if name != "held"}
    return {**without_held, "held": frozen} if frozen else without_held


def count_held(body: ScenarioBody) -> int:
    """Return the number of tickets that are frozen: begun, being driven to, or assigned to an agent."""
    if (held := _held(body)) is None:
        return 0
    agents, tickets = _names(body, "agents"), _names(body, "tickets")
    routes = [route for route in held.routes if route.agent in agents]
    names = {visit.ticket for route in routes for visit in route.visits}
    names |= {route.next_ticket for route in routes}
    names |= {ticket for ticket, agent in held.stay.items() if agent in agents}
    return len(names & tickets)


def has_other_frozen_prefix(body: ScenarioBody, other: ScenarioBody) -> bool:
    """Return whether two scenarios have different frozen prefixes, so that their plans' times are not comparable."""
    return _past(body) != _past(other)


def _past(body: ScenarioBody) -> Json:
    held: Json = without_assignments(body).get("held") or {}
    return held if held.get("until_s") else {}


def without_departed_agents(body: ScenarioBody) -> ScenarioBody:
    """Return a scenario without the tickets executed by agents that it no longer has: no other agent serves them again.

    Shipments such an agent has picked up and not delivered are removed too, as are the ONE_OF alternatives of what it
    executed. Returns the same object where there are none.
    """
    if (held := _held(body)) is None:
        return body
    agents = _names(body, "agents")
    gone = [route for route in held.routes if route.agent not in agents]
    if not gone or not is_readable(body):
        return body
    done = {visit.ticket for route in gone for visit in route.visits}
    routes = [route for route in body["held"]["routes"] if route["agent"] in agents]
    left = _with_dependents(body, done - {None})
    tickets = [entry for entry in body["tickets"] if entry["id"] not in left]
    held_on = {**body["held"], "routes": routes}
    return {**without_tickets_named(body, left), "tickets": tickets, "held": held_on}


def removed_begun_tickets(body: ScenarioBody, before: ScenarioBody | None = None) -> dict[str, tuple[str, float]]:
    """Return the removed tickets that agents of the scenario have begun: the agent and the start, in seconds.

    Without these tickets the positions of the agents are unknown. Returns {} where `held` is invalid.

    Args:
        body: The changed scenario.
        before: The scenario before the change; tickets it did not have either are ignored.
    """
    if (held := _held(body)) is None or not held.until_s:
        return {}
    agents, tickets = _names(body, "agents"), _names(body, "tickets")
    had = None if before is None else _names(before, "tickets")
    found: dict[str, tuple[str, float]] = {}
    for route in held.routes:
        for visit in route.visits if route.agent in agents else ():
            if visit.ticket is not None and visit.ticket not in tickets and (had is None or visit.ticket in had):
                found.setdefault(visit.ticket, (route.agent, visit.start_s))
    return found


def _held(body: ScenarioBody) -> Held | None:
    """Return the `held` field of a scenario; None where it is invalid, which validation reports."""
    try:
        return None if body.get("held") is None else Held.model_validate(body["held"])
    except ValidationError:
        return None


def _names(body: ScenarioBody, section: str) -> set[str | None]:
    entries = body.get(section)
    named = [entry.get("id") for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    return {name for name in named if isinstance(name, str)}


def _with_dependents(body: ScenarioBody, done: set[str | None]) -> set[str | None]:
    """Return executed tickets with the tickets that depend on them."""
    groups = [group for group in body.get("groups") or () if group["kind"] == "one_of"]
    gone = done.union(*(group["tickets"] for group in groups if not done.isdisjoint(group["tickets"])))
    return gone | {entry["id"] for entry in body["tickets"] if entry.get("pickup") in gone}


def _route(route: PlannedRoute, until_s: float) -> HeldRoute | None:
    """Return the executed part of a route; None where the agent has not departed."""
    visits = route.visits
    count = next((at for at, visit in enumerate(visits) if visit.start_s >= until_s), len(visits))
    at_tickets = [at for at, visit in enumerate(visits[:count]) if visit.ticket_id is not None]
    first = at_tickets[-1] + 1 if at_tickets else 0
    is_out = _sets_out(route, first) < until_s
    if not at_tickets and not is_out:
        return None
    begun = tuple(_visit(visit) for visit in visits[:count] if visit.kind != "reload")
    ahead_fields: dict[str, Any] = {}
    ahead = next((at for at, visit in enumerate(visits) if at >= first and visit.ticket_id is not None), None)
    if is_out and ahead is None:
        ahead_fields["end_s"] = route.end_s
    elif is_out and ahead is not None:
        count = max(count, ahead)
        ahead_fields |= {"next_ticket": visits[ahead].ticket_id, "arrival_s": visits[ahead].arrival_s}
    reloads = tuple(_reloads(visits[:count]))
    return HeldRoute.model_construct(
        agent=route.agent_id, start_s=route.start_s, visits=begun, reloads=reloads, **ahead_fields
    )


def _reloads(visits: Sequence[Visit]) -> Iterator[HeldReload]:
    after = 0
    for visit in visits:
        after += visit.ticket_id is not None
        if visit.kind == "reload" and visit.location is not None:
            yield HeldReload.model_construct(location=visit.location, after=after)


def _visit(visit: Visit) -> HeldVisit:
    return HeldVisit.model_construct(ticket=visit.ticket_id, start_s=visit.start_s, departure_s=visit.departure_s)


def _sets_out(route: PlannedRoute, first: int) -> float:
    """Return when an agent departs for the visit at position `first` of its route, or for its end.

    A break that starts at once is taken before the departure; a later break interrupts the leg.
    """
    visits = route.visits
    place = visits[first - 1].location if first else route.start_location
    now: float = visits[first - 1].departure_s if first else route.start_s
    moves: float | None = None
    for visit in visits[first:]:
        if visit.kind == "break":
            moves = now if moves is None and visit.start_s > now else moves
            now = visit.departure_s
        elif visit.location != place:
            return now if moves is None else moves
        elif visit.ticket_id is not None:
            return _NEVER
        else:
            moves, now = None, visit.departure_s
    return _NEVER if route.end_location in (None, place) else now if moves is None else moves
