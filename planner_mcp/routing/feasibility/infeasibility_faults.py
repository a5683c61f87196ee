"""Faults of tickets, shipments and locked visits that no agent could serve or keep, with nothing else to do (SPEC T7).

Owns where each fault stands; the words are those of its reason (`infeasibility_reasons.py`). The proofs are made on the
compiled problem by `unservable_tickets.py`, without locked visits, and by `infeasible_locks.py`. Parsing calls it for a
scenario that is stored for the first time (`scenario_parsing.parse_scenario`, argument `prove_infeasible`).
"""

from collections.abc import Collection, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from planner_mcp.errors import Fault
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.feasibility.infeasible_locks import InfeasibleLock, InfeasibleLocks
from planner_mcp.routing.feasibility.unservable_tickets import UnservableTickets
from planner_mcp.routing.infeasibility_reasons import REASONS, FaultText, InfeasibilityReason
from planner_mcp.routing.problem import AgentSpec, Problem
from planner_mcp.routing.scenario.agent_eligibility import Eligibility
from planner_mcp.routing.scenario.checks.lock_checks import UNLOCK, served_by_locks
from planner_mcp.routing.scenario.checks.scenario_checks import NotChecked
from planner_mcp.routing.scenario.scenario_model import Agent, Scenario, Ticket
from planner_mcp.text import DAY_S, clock, plain

_MAX_REPORTED: Final = (100, 1000)
"""Faults after which the search for more ends: for many agents, and for few."""
_MAX_TRIPS: Final = 100_000
"""Trips, a ticket by an agent, after which the number of faults is bounded by the first of the two."""
MAX_PROVED_TICKETS: Final = 2000
"""Tickets of a scenario that is compiled for this alone; of a larger one locked visits are checked, where travel is
computed from positions, and a plan says which tickets nobody can serve."""
_OUTSIDE_SHIFTS: Final = FaultText(
    "/time_windows", "Its windows are outside every shift that could serve it.", "Move the window or a shift."
)
_LONGER_THAN_SHIFTS: Final = FaultText(
    "/service_time_s", "Its service does not fit into any shift that could serve it.", "Shorten it or extend a shift."
)
_LOCKED_VISIT_TEXTS: Final = (
    (
        "The visit cannot be reached in its window.",
        "a visit that can follow those before it",
        "Unlock it, or widen its window.",
    ),
    (
        "The delivery of this locked pickup cannot be reached in its window.",
        "a shipment that this agent can make",
        "Unlock it, or widen the window of its delivery.",
    ),
)
"""(problem, accepted, hint) of a locked visit, and of the delivery of a locked pickup."""
_ALL_CHECKED: Final = NotChecked()


def infeasibility_faults(scenario: Scenario, not_checked: NotChecked = _ALL_CHECKED) -> Iterator[Fault]:
    """Yield tickets, then deliveries of shipments, that no agent could serve, then locked visits that cannot be kept.

    Args:
        scenario: A scenario whose travel is known.
        not_checked: What has other faults; tickets that its agents may serve are not checked either.
    """
    is_whole = len(scenario.tickets) <= MAX_PROVED_TICKETS
    if not is_whole:
        scenario, not_checked = _locked_part(scenario, not_checked)
        if not scenario.tickets or len(scenario.tickets) > MAX_PROVED_TICKETS or scenario.travel_matrices is not None:
            return  # in tables of travel a way over a ticket left out may be shorter
    problem = compile_scenario(_sound_part(scenario, not_checked))
    checked = _checked_tickets(scenario, not_checked) if is_whole else set()
    unserved: set[int] = set()
    for index, fault in islice(_unservable(scenario, problem, checked), _max_reported(scenario)):
        unserved.add(index)
        yield fault
    yield from _infeasible_locks(scenario, problem, not_checked.locks, not_checked.tickets | unserved)


def _locked_part(scenario: Scenario, not_checked: NotChecked) -> tuple[Scenario, NotChecked]:
    """Return the scenario with the tickets that locks bring along; others at their places stay, and are not checked."""
    needed = {name for name, (agent, _) in served_by_locks(scenario).items() if agent is not None}
    places = {ticket.location for ticket in scenario.tickets if ticket.id in needed}
    indexes = [index for index, ticket in enumerate(scenario.tickets) if ticket.location in places]
    tickets = tuple(scenario.tickets[index] for index in indexes)
    neutral = (at for at, index in enumerate(indexes) if index in not_checked.tickets or tickets[at].id not in needed)
    return scenario.model_copy(update={"tickets": tickets}), replace(not_checked, tickets=frozenset(neutral))


def _checked_tickets(scenario: Scenario, not_checked: NotChecked) -> set[int]:
    eligibility = Eligibility(scenario)
    return {
        index
        for index, ticket in enumerate(scenario.tickets)
        if index not in not_checked.tickets and not_checked.agents.isdisjoint(eligibility.agents(ticket))
    }


def _max_reported(scenario: Scenario) -> int:
    least, most = _MAX_REPORTED
    return min(most, max(least, _MAX_TRIPS // len(scenario.agents)))


def _unservable(scenario: Scenario, problem: Problem, checked: set[int]) -> Iterator[tuple[int, Fault]]:
    """Yield the tickets that no agent could serve, each with its fault."""
    proofs, unserved = UnservableTickets(problem), set[int]()
    for index in sorted(checked):
        if (reason := proofs.alone(index)) is not None:
            unserved.add(index)
            text = _text(scenario, problem, index, reason, [problem.agents[agent] for agent in proofs.able(index)])
            evidence = _off_network(problem, index) if reason is InfeasibilityReason.NO_ROAD else ()
            yield index, replace(_fault(index, reason, text, "a ticket that some agent can serve"), which=evidence)
    for delivery in sorted(checked - unserved):
        pickup = problem.tickets[delivery].pickup
        if pickup in checked - unserved and (reason := proofs.together(pickup, delivery)) is not None:
            text = REASONS[reason].shipment
            yield delivery, _fault(delivery, reason, text, "a shipment that some agent can make")


def _infeasible_locks(
    scenario: Scenario, problem: Problem, agents: AbstractSet[int], tickets: AbstractSet[int]
) -> Iterator[Fault]:
    """Yield locked visits that cannot be kept; not of some agents, nor where some tickets must be served with them."""
    indexes = {ticket.id: index for index, ticket in enumerate(scenario.tickets)}
    proofs: InfeasibleLocks | None = None
    for number, agent in enumerate(scenario.agents):
        if number in agents or not agent.locked_tickets:
            continue
        proofs = proofs or InfeasibleLocks(problem)
        locked = [indexes[name] for name in agent.locked_tickets]
        if tickets.isdisjoint((*locked, *proofs.owed_deliveries(locked).values())):
            yield from (_lock_fault(number, lock) for lock in proofs.of(problem.agents[number], locked))


def _lock_fault(agent: int, lock: InfeasibleLock) -> Fault:
    path = f"/agents/{agent}/locked_tickets"
    if lock.at is not None:
        problem, accepted, hint = _LOCKED_VISIT_TEXTS[lock.is_of_delivery]
        return Fault(f"{path}/{lock.at}", problem, accepted, hint, "logic", reason=lock.reason)
    problem = REASONS[lock.reason].locked
    problem += " Deliveries of locked pickups count." if lock.is_of_delivery else ""
    return Fault(path, problem, "visits that the agent can make", UNLOCK, "logic", reason=lock.reason)


def _off_network(problem: Problem, index: int) -> tuple[str]:
    place = problem.tickets[index].location
    return (f"{plain(problem.locations[place], 40)}: {problem.off_network[place]}",)


def _fault(index: int, reason: InfeasibilityReason, text: FaultText, accepted: str) -> Fault:
    field, problem, hint = text
    return Fault(f"/tickets/{index}{field}", problem, accepted, hint, "logic", reason=reason)


def _text(
    scenario: Scenario, problem: Problem, index: int, reason: InfeasibilityReason, able: list[AgentSpec]
) -> FaultText:
    """Return the text of a reason; where the hours of all agents are the cause it says so."""
    if reason not in (InfeasibilityReason.TIME_WINDOW, InfeasibilityReason.SHIFT_END):
        return REASONS[reason].ticket
    ticket = problem.tickets[index]
    hours = [(agent.shift[0], agent.latest_end) for agent in able]
    windows = ticket.windows or ((0, max(closes for _, closes in hours)),)
    is_outside = [windows[-1][1] < opens or windows[0][0] > closes for opens, closes in hours]
    if all(is_outside):
        hint = _past_midnight(scenario.tickets[index], scenario.agents, able) or _OUTSIDE_SHIFTS.hint
        return _OUTSIDE_SHIFTS._replace(hint=hint)
    is_longer = [opens + ticket.service > closes for opens, closes in hours]
    if all(map(max, is_outside, is_longer)):
        return _LONGER_THAN_SHIFTS
    return REASONS[reason].ticket


def _past_midnight(ticket: Ticket, agents: Iterable[Agent], able: Iterable[AgentSpec]) -> str:
    """Return how to write the first window that lies within a shift a day later; "" where none does."""
    ids = {agent.id for agent in able}
    shifts = [(agent.shift_start or 0.0, agent.shift_end, agent.overtime_s) for agent in agents if agent.id in ids]
    for opens, closes in sorted(ticket.time_windows):
        start, end = opens + DAY_S, closes + DAY_S
        if end < 2 * DAY_S and any(
            until is not None and begin <= start and end <= until + overtime for begin, until, overtime in shifts
        ):
            return f"Past midnight write {clock(start)} to {clock(end)}."
    return ""


def _sound_part(scenario: Scenario, not_checked: NotChecked) -> Scenario:
    """Return the scenario with what is not checked made neutral: it still counts as a stop on the way to others."""
    known = _known_locations(scenario)
    neutral = {scenario.tickets[index].id for index in not_checked.tickets}
    agents = [
        _neutral_agent(agent, known) if index in not_checked.agents else agent.model_copy(update={"locked_tickets": ()})
        for index, agent in enumerate(scenario.agents)
    ]
    tickets = [
        _neutral_ticket(ticket, known)
        if index in not_checked.tickets
        else ticket.model_copy(update={"pickup": None})
        if ticket.pickup in neutral
        else ticket
        for index, ticket in enumerate(scenario.tickets)
    ]
    changes: dict[str, Any] = {"agents": tuple(agents), "tickets": tuple(tickets), "groups": (), "incompatible": ()}
    return scenario.model_copy(update={**changes, "held": None})


def _neutral_agent(agent: Agent, known: Collection[str]) -> Agent:
    return Agent.model_construct(
        id=agent.id,
        capacity={},
        start_location=None,
        end_location=None,
        skills=agent.skills,
        reload_locations=tuple(place for place in agent.reload_locations if not known or place in known),
    )


def _neutral_ticket(ticket: Ticket, known: Collection[str]) -> Ticket:
    location = ticket.location if not known or ticket.location in known else next(iter(known))
    return Ticket.model_construct(id=ticket.id, location=location, demand={})


def _known_locations(scenario: Scenario) -> dict[str, None]:
    """Return the ids that have a place; none where any name will do."""
    rows = scenario.travel_matrices.locations if scenario.travel_matrices else ()
    return dict.fromkeys([*(place.id for place in scenario.locations), *rows])
