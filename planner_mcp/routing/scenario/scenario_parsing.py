"""Parses any JSON value into a `Scenario`, or reports all of its faults at once.

Owns the order of validation (size, schema, logic) and the input hash. The model is `scenario/scenario_model.py`, its
schema for callers `scenario/slim_schema.py`.
"""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from datetime import date
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from planner_mcp.errors import Fault, InputError, TooLargeError, input_error
from planner_mcp.routing.scenario.checks.error_recovery import is_doubtful, recover
from planner_mcp.routing.scenario.checks.scenario_checks import (
    InfeasibilityProof,
    check,
    contradictions,
    lone_contradictions,
    split_findings,
    warnings,
)
from planner_mcp.routing.scenario.checks.size_checks import MAX_AGENTS, MAX_TICKETS
from planner_mcp.routing.scenario.field_types import SHOWS_NAMES, ErrorBudget, read_date
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.routing.scenario.schema_faults import MAX_FINDINGS, faults_of
from planner_mcp.routing.scenario.seen_values import with_seen_values
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from planner_mcp.text import digest_of

MAX_PLACES: Final = 200
"""Number of schema faults above which logic faults are not looked for: they would not be listed any more."""
UnservedTickets = AbstractSet[tuple[str, str]]
"""Tickets that nobody can serve, each with its reason."""


def parse_scenario(
    args: Any,
    *,
    max_tickets: int = MAX_TICKETS,
    max_agents: int = MAX_AGENTS,
    travel_matrices: TravelMatrices | None = None,
    known_faults: Sequence[Fault] = (),
    shows_names: bool = False,
    prove_infeasible: InfeasibilityProof | None = None,
    unserved_before: Callable[[], UnservedTickets] | None = None,
) -> Scenario:
    """Return the scenario that a JSON value describes.

    Tickets that provably nobody can serve are its `findings`; with `strict` they are faults like any others, and so is
    such a ticket where a locked visit needs it.

    Args:
        args: Any JSON value, already decoded.
        max_tickets: Inputs with more tickets are refused without validation. Also limits the size of matrices.
        max_agents: Inputs with more agents are refused without validation.
        travel_matrices: The matrices the scenario refers to, where they are loaded.
        known_faults: Faults the caller has already found. They are reported with the rest, once for each path.
        shows_names: Whether hints may contain names of people; such names are masked from some readers.
        prove_infeasible: Finds what no agent could serve or keep (`feasibility/infeasibility_faults.py`, which this
            module may not import); None where it is not looked for.
        unserved_before: Returns what nobody could serve before a change; asked where the change is refused, which
            leaves these tickets out.

    Raises:
        TooLargeError: More tickets or agents than allowed.
        InputError: Every schema fault, then every logic fault.
    """
    _refuse_too_many(args, {"tickets": max_tickets, "agents": max_agents})
    try:
        scenario = _validate(args, travel_matrices, shows_names=shows_names)
    except ValidationError as error:
        known_paths = {fault.path for fault in known_faults}
        schema_faults = [fault for fault in faults_of(error, Scenario, args) if fault.path not in known_paths]
        faults = [
            *known_faults,
            *schema_faults,
            *_logic_faults_beside(args, error, max_tickets, shows_names=shows_names, unserved_before=unserved_before),
        ]
        count = len(faults) + max(0, error.error_count() - MAX_FINDINGS)
        raise input_error(with_seen_values(faults, args, shows_all=shows_names), found=count) from None
    found = [*known_faults, *check(scenario, max_tickets=max_tickets, prove_infeasible=prove_infeasible)]
    return _accepted(scenario, found, args, unserved_before)


def read_stored(
    body: Any, travel_matrices: TravelMatrices | None = None, *, prove_infeasible: InfeasibilityProof | None = None
) -> Scenario:
    """Return a scenario that passed all checks when it was stored; only its form is read again.

    Matrices of a road engine are fetched after that, so a scenario that refers to one is checked with them. Its
    `findings` are complete only where they could refuse it: it is strict or has locked visits.

    Args:
        body: The scenario as stored.
        travel_matrices: The matrices it refers to.
        prove_infeasible: As for `parse_scenario`; called where a proof could refuse the scenario, as it compiles it.

    Raises:
        InputError: The matrices do not fit the scenario.
    """
    try:
        scenario = _validate(body, travel_matrices)
    except ValidationError:
        return read_revised(body, travel_matrices)
    if scenario.travel.router is None or travel_matrices is None:
        return scenario
    may_refuse = scenario.strict or any(agent.locked_tickets for agent in scenario.agents)
    proof = prove_infeasible if may_refuse else None
    return _accepted(scenario, check(scenario, max_tickets=sys.maxsize, prove_infeasible=proof), body)


def read_revised(body: Any, travel_matrices: TravelMatrices | None = None) -> Scenario:
    """Return a stored scenario under changes, checked like a new one but of any size.

    Raises:
        InputError: All that is wrong with it.
    """
    return parse_scenario(
        body,
        max_tickets=sys.maxsize,
        max_agents=sys.maxsize,
        travel_matrices=travel_matrices,
    )


def unserved_tickets(scenario: Scenario, findings: Iterable[Fault]) -> UnservedTickets:
    """Return the tickets that findings of a scenario are of."""
    return {(scenario.tickets[int(fault.path.split("/")[2])].id, fault.reason) for fault in findings}


def is_readable(args: Any) -> bool:
    """Return whether a JSON value conforms to the schema of a scenario; logic is not checked."""
    try:
        _validate(args)
    except ValidationError:
        return False
    return True


def warnings_of_refused(args: Any, travel_matrices: TravelMatrices | None, refusal: InputError) -> list[str]:
    """Return the warnings about a refused scenario, besides its faults; empty where it violates the schema."""
    if isinstance(refusal, TooLargeError):
        return []
    try:
        return warnings(_validate(args, travel_matrices), refusal.errors)
    except ValidationError:
        return []


def _refuse_too_many(args: Any, limits: dict[str, int]) -> None:
    """Refuse inputs that are too large, before any costly step."""
    faults = [
        Fault(f"/{name}", f"There are {len(args[name])} {name}.", f"at most {limit}", "Split the scenario.")
        for name, limit in limits.items()
        if isinstance(args, dict) and isinstance(args.get(name), list) and len(args[name]) > limit
    ]
    if faults:
        raise TooLargeError(faults[0].problem, errors=faults)


def _accepted(
    scenario: Scenario,
    found: Sequence[Fault],
    args: Any,
    unserved_before: Callable[[], UnservedTickets] | None = None,
) -> Scenario:
    """Return a scenario with those of its faults that do not refuse it.

    Raises:
        InputError: Any other fault was found.
    """
    refused, findings = split_findings(scenario, with_seen_values(found, args, shows_all=scenario.shows_names))
    if refused:
        raise input_error([*refused, *_new_findings(scenario, findings, unserved_before)])
    return scenario.with_findings(findings) if findings else scenario


def _new_findings(
    scenario: Scenario, findings: Sequence[Fault], unserved_before: Callable[[], UnservedTickets] | None
) -> list[Fault]:
    """Return the findings of a scenario without those of tickets that nobody could serve before a change."""
    known = unserved_before() if findings and unserved_before is not None else frozenset()
    return [fault for fault in findings if unserved_tickets(scenario, [fault]).isdisjoint(known)]


def _validate(args: Any, travel_matrices: TravelMatrices | None = None, *, shows_names: bool = False) -> Scenario:
    context = {
        "planning_date": _planning_date(args),
        "travel_matrices": travel_matrices,
        "error_budget": ErrorBudget(),
        SHOWS_NAMES: shows_names,
    }
    return Scenario.model_validate(args, context=context)


def _logic_faults_beside(
    args: Any,
    error: ValidationError,
    max_tickets: int,
    *,
    shows_names: bool,
    unserved_before: Callable[[], UnservedTickets] | None,
) -> list[Fault]:
    """Return the logic faults of the parts without schema faults."""
    if error.error_count() > MAX_PLACES:
        return []
    places = [entry["loc"] for entry in error.errors(include_url=False, include_input=False, include_context=False)]
    if (body := recover(args, places)) is None:
        return []
    try:
        scenario = _validate(body, shows_names=shows_names)
    except ValidationError:
        return []
    alone = lone_contradictions(scenario)
    faults = contradictions(scenario, max_tickets=max_tickets)
    sure = (fault for fault in faults if not is_doubtful(fault, places, is_alone=fault in alone))
    refused, findings = split_findings(scenario, sure)
    return [*refused, *_new_findings(scenario, findings, unserved_before)]


def _planning_date(args: Any) -> date | None:
    """Return the planning date that ISO date-times are measured from, where it is valid."""
    try:
        return read_date(args.get("planning_date") if isinstance(args, dict) else None)
    except PydanticCustomError:
        return None


def input_hash(body: Any) -> str:
    """Return the hash of a JSON value: equal for equal values, whatever the order of their keys."""
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return digest_of(canonical)
