"""Every contradiction inside a well-formed scenario, at once (SPEC T7).

Owns the list of checks and their order. Each check is a small function of the scenario that yields faults and stands
in the file of its subject: names, groups, sizes, places, matrices, times, amounts, shipments, locks, and ineffective
fields. A check reports only what it can prove; what merely looks odd is a warning. That no agent could serve a
ticket, or keep its locked visits, is proved by `feasibility`, which the caller passes in.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import filterfalse, islice
from typing import Final

from planner_mcp.errors import SCENARIO_LISTS, Fault, grouped
from planner_mcp.routing.scenario.agent_eligibility import Eligibility
from planner_mcp.routing.scenario.checks import (
    amount_checks,
    group_checks,
    ineffective_field_checks,
    lock_checks,
    matrix_checks,
    position_checks,
    reference_checks,
    shipment_checks,
    size_checks,
    time_checks,
)
from planner_mcp.routing.scenario.checks.size_checks import MAX_TICKETS
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.text import named, plain

Check = Callable[[Scenario], Iterable[Fault]]


@dataclass(frozen=True, slots=True)
class NotChecked:
    """What has other faults and is not checked by travel, by index."""

    agents: frozenset[int] = frozenset()
    locks: frozenset[int] = frozenset()
    """Agents whose locked visits are not checked."""
    tickets: frozenset[int] = frozenset()


InfeasibilityProof = Callable[[Scenario, NotChecked], Iterable[Fault]]
"""Finds the tickets that no agent could serve, and the locked visits that cannot be kept."""

_MAX_NAME: Final = 40
"""Characters of an id in a warning."""
_ENTRIES: Final = ("agents", "tickets", "groups", "incompatible")
"""Lists of which one entry may be wrong while ways between the others can be checked."""
MAX_FAULTS_PER_CHECK: Final = 1000
"""Faults that are looked for by one check; a day with more was made to cost time and memory."""

CHECKS: Final[tuple[Check, ...]] = (
    reference_checks.duplicate_ids,
    reference_checks.unknown_locations,
    reference_checks.unknown_agents,
    reference_checks.unknown_tickets,
    group_checks.invalid_groups,
    reference_checks.repeated_exclusions,
    reference_checks.locked_twice,
    reference_checks.implausible_date,
    size_checks.too_many_pairs,
    size_checks.too_many_dimensions,
    position_checks.incomplete_positions,
    position_checks.mixed_systems,
    position_checks.missing_positions,
    position_checks.impossible_positions,
    position_checks.zero_positions,
    position_checks.swapped_positions,
    position_checks.tickets_without_position,
    matrix_checks.several_sources,
    matrix_checks.router_positions,
    matrix_checks.missing_rows,
    matrix_checks.off_network_ends,
    matrix_checks.matrix_order,
    matrix_checks.matrix_shape,
    matrix_checks.matrix_values,
    time_checks.backward_windows,
    time_checks.backward_shifts,
    time_checks.backward_breaks,
    time_checks.invalid_travel_periods,
    time_checks.late_releases,
    amount_checks.negative_amounts,
    amount_checks.unknown_dimensions,
    amount_checks.unknown_min_loads,
    amount_checks.missing_skills,
    amount_checks.tickets_without_eligible_agent,
    amount_checks.oversized_demands,
    amount_checks.max_tickets_too_small,
    lock_checks.locked_to_ineligible_agents,
    amount_checks.double_limits,
    shipment_checks.broken_shipments,
    shipment_checks.unequal_shipments,
    shipment_checks.late_pickups,
    shipment_checks.separated_shipments,
    lock_checks.locked_against_each_other,
    lock_checks.locked_too_many,
    lock_checks.locked_out_of_order,
    lock_checks.locked_backhaul,
)
"""Contradictions that can be found without travel, in the order of the report; the size of its tables comes last."""

_ENTRY_CHECKS: Final[tuple[Check, ...]] = (
    reference_checks.duplicate_ids,
    position_checks.incomplete_positions,
    position_checks.impossible_positions,
    position_checks.zero_positions,
    matrix_checks.matrix_values,
    amount_checks.negative_amounts,
)
"""Those whose faults no mistake in another entry can cause."""

WARNINGS: Final[tuple[Check, ...]] = (
    time_checks.numbers_as_minutes,
    time_checks.durations_as_minutes,
    time_checks.times_with_offset,
    time_checks.breaks_outside_shifts,
    amount_checks.more_demand_than_capacity,
    amount_checks.zero_penalty_tickets,
    amount_checks.prices_beside_metres,
    amount_checks.agents_without_price,
    ineffective_field_checks.soft_closes_without_cost,
    shipment_checks.orphaned_shipment_halves,
    group_checks.self_excluding_groups,
    ineffective_field_checks.group_penalties_without_effect,
    position_checks.far_outliers,
    matrix_checks.implausible_speeds,
    matrix_checks.matrix_diagonals,
    position_checks.foreign_gcj02,
    ineffective_field_checks.fields_without_effect,
    ineffective_field_checks.soft_closes_without_effect,
    time_checks.overlapping_windows,
)
"""What looks odd, what matters most first."""


def check(
    scenario: Scenario, *, max_tickets: int = MAX_TICKETS, prove_infeasible: InfeasibilityProof | None = None
) -> list[Fault]:
    """Return every logic fault.

    Reach is checked last, of agents and tickets in which nothing else is wrong, where places and travel are sound and
    travel is known already; not once a day is under way, when what nobody can reach any more is left out.

    Args:
        scenario: The day.
        max_tickets: What the deployment lets in; its tables of travel may be as large.
        prove_infeasible: Finds what no agent could serve, or keep; None where the scenario was accepted before.
    """
    found = contradictions(scenario, max_tickets=max_tickets)
    is_known = scenario.travel_matrices is not None or not scenario.refers_to_matrices
    is_ahead = scenario.held is None or not scenario.held.until_s
    is_sound = len(found) < MAX_FAULTS_PER_CHECK and all(_entry_of(fault) is not None for fault in found)
    if prove_infeasible is None or not (is_known and is_ahead and is_sound):
        return found
    return [*found, *_numbers_first(scenario, list(prove_infeasible(scenario, _not_checked(found))))]


def split_findings(scenario: Scenario, faults: Iterable[Fault]) -> tuple[list[Fault], list[Fault]]:
    """Return the faults that refuse a scenario, and those that only say that nobody can serve a ticket.

    A plan leaves such a ticket out. It is refused where the scenario is strict, and where a locked visit needs it.
    """
    needed = set(lock_checks.served_by_locks(scenario))
    refused: list[Fault] = []
    findings: list[Fault] = []
    for fault in faults:
        section, at = _entry_of(fault) or ("", 0)
        is_finding = bool(fault.reason) and section == "tickets" and scenario.tickets[at].id not in needed
        (findings if is_finding and not scenario.strict else refused).append(fault)
    return refused, findings


def _numbers_first(scenario: Scenario, faults: list[Fault]) -> list[Fault]:
    """Return faults of reach, each with what numbers are taken for before its hint where they may be the cause."""
    misread = time_checks.misread_numbers(scenario) if faults else None
    if misread is None:
        return faults
    agents = frozenset(at for at, agent in enumerate(scenario.agents) if time_checks.has_numeric_times(scenario, agent))
    tickets = frozenset(ticket.id for ticket in scenario.tickets if time_checks.has_numeric_times(scenario, ticket))
    eligibility, words = Eligibility(scenario), " ".join(misread)

    def is_concerned(fault: Fault) -> bool:
        section, at = _entry_of(fault) or ("", 0)
        if section == "agents":
            return at in agents or not tickets.isdisjoint(scenario.agents[at].locked_tickets)
        ticket = scenario.tickets[at]
        return not tickets.isdisjoint((ticket.id, ticket.pickup)) or not agents.isdisjoint(eligibility.agents(ticket))

    return [replace(fault, hint=f"{words} {fault.hint}") if is_concerned(fault) else fault for fault in faults]


def _entry_of(fault: Fault) -> tuple[str, int] | None:
    """Return the list and the entry a fault stands in; None where it may concern every way there is."""
    section, _, rest = fault.path[1:].partition("/")
    index = rest.partition("/")[0]
    return (section, int(index)) if section in _ENTRIES and index.isdigit() else None


def _not_checked(found: Iterable[Fault]) -> NotChecked:
    """Return what has faults; a fault of locked visits makes nothing else of their agent doubtful."""
    wrong = {(entry, "/locked_tickets" in fault.path) for fault in found if (entry := _entry_of(fault)) is not None}
    return NotChecked(
        agents=frozenset(at for (section, at), is_of_locks in wrong if section == "agents" and not is_of_locks),
        locks=frozenset(at for (section, at), _ in wrong if section == "agents"),
        tickets=frozenset(at for (section, at), _ in wrong if section == "tickets"),
    )


def contradictions(scenario: Scenario, *, max_tickets: int = MAX_TICKETS) -> list[Fault]:
    """Return the logic faults that can be found without travel; `max_tickets` as for `check`."""
    is_past = _past_of(scenario)
    ahead = (filterfalse(is_past, rule(scenario)) for rule in CHECKS)
    found = [fault for faults in ahead for fault in islice(faults, MAX_FAULTS_PER_CHECK)]
    return [*found, *size_checks.matrices_too_large(scenario, max_tickets)]


def _past_of(scenario: Scenario) -> Callable[[Fault], bool]:
    """Return whether a fault is of visits that have begun: these stay, whatever nobody could serve or keep by now."""
    routes = scenario.held.routes if scenario.held is not None and scenario.held.until_s else ()
    begun = {visit.ticket for route in routes for visit in route.visits}

    def is_past(fault: Fault) -> bool:
        if not (begun and fault.reason):
            return False
        section, at = _entry_of(fault) or ("", 0)
        if section == "agents" and "/locked_tickets" in fault.path:
            locked, (place, *_) = scenario.agents[at].locked_tickets, (*fault.path.split("/")[4:], "")
            return not begun.isdisjoint([locked[int(place)]] if place else locked)
        return section == "tickets" and scenario.tickets[at].id in begun

    return is_past


def lone_contradictions(scenario: Scenario) -> frozenset[Fault]:
    """Return those of the same faults that no mistake in another entry can cause."""
    return frozenset(fault for rule in _ENTRY_CHECKS for fault in islice(rule(scenario), MAX_FAULTS_PER_CHECK))


def warnings(
    scenario: Scenario, faults: Iterable[Fault] = (), place: Callable[[Fault], Fault] | None = None
) -> list[str]:
    """Return what looks wrong and yet can be planned, as sentences; the arguments are those of `warning_faults`."""
    return sentences(warning_faults(scenario, faults, place))


def warning_faults(
    scenario: Scenario, faults: Iterable[Fault] = (), place: Callable[[Fault], Fault] | None = None
) -> list[Fault]:
    """Return what looks wrong and yet can be planned; `kind` is `warning`.

    Args:
        scenario: The day.
        faults: There is no warning at a place where, or in which, there is one of these.
        place: Replaces the place of a fault in the scenario by the one in what its caller wrote.
    """
    wrong = [f"{fault.path}/" for fault in faults if fault.path]
    found = [
        replace(warning_fault, which=(_name_of_entry(scenario, warning_fault),))
        for rule in WARNINGS
        for warning_fault in islice(rule(scenario), MAX_FAULTS_PER_CHECK)
        if not any(
            path.startswith(f"{warning_fault.path}/") or f"{warning_fault.path}/".startswith(path) for path in wrong
        )
    ]
    return found if place is None else [place(fault) for fault in found]


def sentences(found: Sequence[Fault]) -> list[str]:
    """Return warnings with their places as sentences; equal ones are one sentence, which names the other entries."""
    return [_sentence(fault) for fault in grouped(found)]


def _sentence(fault: Fault) -> str:
    others = [name for name in dict.fromkeys(fault.which) if name != fault.which[0]]
    likewise = f"Likewise {named(others)}." if others else ""
    return " ".join(filter(None, (f"{fault.path}:", fault.problem, fault.hint, likewise)))


def _name_of_entry(scenario: Scenario, fault: Fault) -> str:
    """Return the id of the agent, ticket or location that a fault stands in; its place elsewhere."""
    section, at = (*fault.path.split("/")[1:], "", "")[:2]
    is_entry = section in SCENARIO_LISTS and at.isdigit()
    return plain(getattr(scenario, section)[int(at)].id, _MAX_NAME) if is_entry else fault.path
