"""Why a plan leaves a ticket out.

Owns the choice among the reasons: one is given only where the fact behind it has been checked against the problem or
the plan at hand. Where nothing proves the ticket impossible it is `NO_ROOM_FOUND`, which claims no more than it says.
Plans get their reasons when they are published, not when they are priced or verified.
"""

from dataclasses import replace
from typing import Final

from planner_mcp.routing.feasibility.insertion_candidates import halves, is_replaced, whole_of
from planner_mcp.routing.feasibility.unservable_tickets import PROVED_REASONS, UnservableTickets, fits
from planner_mcp.routing.infeasibility_reasons import (
    GAVE_WAY,
    INCOMPLETE,
    NO_POSITION_FIX,
    NO_ROAD_FIX,
    REASON_TEXTS,
    InfeasibilityReason,
)
from planner_mcp.routing.plan import Plan, Unassigned
from planner_mcp.routing.problem import AgentSpec, LoadKind, Problem, TicketSpec
from planner_mcp.routing.scenario.checks.position_checks import OPEN_WORDS
from planner_mcp.text import plain

_MAX_NAME: Final = 60
"""Characters of the id of a location."""
PROVED: Final = "No agent can serve it, even with nothing else to do; of the one that comes closest:"
"""What leads in a reason that is a limit."""


def with_reasons(problem: Problem, plan: Plan) -> Plan:
    """Return a plan with a reason for each ticket it leaves out, in the order of the problem."""
    if not plan.unassigned:
        return plan
    served = {ticket for route in plan.routes for ticket in route.tickets}
    finder = _ReasonFinder(problem, plan, {i for i, ticket in enumerate(problem.tickets) if ticket.id in served})
    left = [(at, finder.reason(at)) for at, ticket in enumerate(problem.tickets) if ticket.id not in served]
    return replace(
        plan, unassigned=tuple(Unassigned(problem.tickets[at].id, each, finder.detail(at, each)) for at, each in left)
    )


def _detail(problem: Problem, ticket: TicketSpec, reason: InfeasibilityReason) -> str:
    if reason is InfeasibilityReason.NO_ROAD:
        name = plain(problem.locations[ticket.location], _MAX_NAME)
        return f"No agent can drive to {name}: it is {problem.off_network[ticket.location]}. {NO_ROAD_FIX}"
    if reason is InfeasibilityReason.NO_POSITION:
        status = problem.open_addresses[ticket.location]
        return f"Its address is {OPEN_WORDS.get(status, status)}, so its place has no position. {NO_POSITION_FIX}"
    text = REASON_TEXTS[reason]
    is_limit = reason in PROVED_REASONS and reason is not InfeasibilityReason.SHIPMENT_HALF_UNSERVED
    return text if not is_limit else f"{PROVED} {text[0].lower()}{text[1:]}"


class _ReasonFinder:
    """The tests behind the reasons, for one plan."""

    def __init__(self, problem: Problem, plan: Plan, served: set[int]) -> None:
        self._problem = problem
        self._served = served
        self._spare = _spare(problem, plan)
        self._visits = {route.agent_id: len(route.tickets) for route in plan.routes}
        self._locked = {ticket for agent in problem.agents for ticket in agent.locked}
        self._proofs = UnservableTickets(problem)

    def reason(self, index: int) -> InfeasibilityReason:
        """Return the first reason whose fact holds."""
        if is_replaced(self._problem, index, self._served):
            return InfeasibilityReason.GROUP_OTHER_CHOSEN
        if (impossible := self._proofs.reason(index)) is not None:
            return impossible
        if self._is_incomplete(index, self._served):
            return InfeasibilityReason.GROUP_INCOMPLETE
        if self._problem.tickets[index].is_priced:
            return InfeasibilityReason.PENALTY_LOWER_THAN_COST
        has_spare = self._has_spare(index)
        return InfeasibilityReason.NO_ROOM_FOUND if has_spare else InfeasibilityReason.ALL_CAPACITY_USED

    def detail(self, index: int, reason: InfeasibilityReason) -> str:
        """Return the reason in words."""
        if reason is InfeasibilityReason.GROUP_INCOMPLETE:
            return INCOMPLETE if self._is_incomplete(index, self._locked) else GAVE_WAY
        return _detail(self._problem, self._problem.tickets[index], reason)

    def _is_incomplete(self, index: int, served: set[int]) -> bool:
        """Return whether another that a ticket stands and falls with cannot be served beside these."""
        whole = whole_of(self._problem, index)
        return any(
            self._proofs.reason(other) or is_replaced(self._problem, other, served | whole) for other in whole - {index}
        )

    def _has_spare(self, index: int) -> bool:
        """Return whether capacity is not what a ticket lacks: who is absent or done is not asked for room."""
        ticket, count = self._problem.tickets[index], len(halves(self._problem, index))
        able = [at for at, agent in enumerate(self._problem.agents) if ticket.admits(at) and not _is_done(agent)]
        return not able or any(
            fits(ticket.demand, self._room(at, index))
            for at in able
            if self._may_serve(self._problem.agents[at], count)
        )

    def _room(self, agent: int, index: int) -> tuple[int, ...]:
        """Return what an agent could yet carry of a ticket; of a shipment, which may find room between, all it may."""
        if index in self._problem.partner_of:
            return self._problem.agents[agent].capacity
        return self._spare[agent][self._problem.tickets[index].load]

    def _may_serve(self, agent: AgentSpec, count: int) -> bool:
        """Return whether an agent may serve so many tickets more in this plan."""
        taken = max(len(agent.locked), self._visits.get(agent.id, 0))
        return agent.max_stops is None or taken + count <= agent.max_stops


def _is_done(agent: AgentSpec) -> bool:
    """Return whether an agent may serve nothing but what is locked."""
    return agent.max_stops is not None and agent.max_stops <= len(agent.locked)


def _spare(problem: Problem, plan: Plan) -> list[dict[LoadKind, tuple[int, ...]]]:
    """Return what each agent could yet deliver, and pick up; with reloads, its whole capacity.

    One more delivery fits as the first on the route, beside the other deliveries; one more pickup as the last. No
    shipment is on board then.
    """
    spare = [dict.fromkeys(LoadKind, agent.capacity) for agent in problem.agents]
    by_id = {ticket.id: ticket for at, ticket in enumerate(problem.tickets) if at not in problem.partner_of}
    index = {agent.id: position for position, agent in enumerate(problem.agents)}
    for route in plan.routes:
        agent = index[route.agent_id]
        if problem.agents[agent].max_reloads:
            continue
        for ticket in (by_id[name] for name in route.tickets if name in by_id):
            room = spare[agent][ticket.load]
            spare[agent][ticket.load] = tuple(a - b for a, b in zip(room, ticket.demand, strict=True))
    return spare
