"""Every contradiction inside a well-formed scenario, at once (SPEC T7).

Owns the list of checks and their order. Each check is a small function of the scenario that yields faults and stands
in the file of its subject: names, groups, sizes, places, matrices, times, amounts, shipments, locks, trips, and idle
fields. A check says only what it can prove; what merely looks odd is a warning, and planning goes on.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.vrp.checks import amounts, groups, idle, locks, matrices, names, places, shipments, sizes, times, trips
from planner_mcp.vrp.checks.sizes import MAX_TICKETS
from planner_mcp.vrp.day.eligible import Eligible
from planner_mcp.vrp.day.model import Scenario

Check = Callable[[Scenario], Iterable[Fault]]

_ENTRIES: Final = ("agents", "tickets", "groups", "incompatible")
"""Lists of which one entry may be wrong while ways between the others can be judged."""
MAX_LOOKED_AT: Final = 1000
"""Faults that are looked for by one check; a day with more was made to cost time and memory."""

CHECKS: Final[tuple[Check, ...]] = (
    names.duplicate_ids,
    names.unknown_locations,
    names.unknown_agents,
    names.unknown_tickets,
    groups.groups_of_nothing,
    names.repeated_exclusions,
    names.locked_twice,
    names.absurd_date,
    sizes.too_many_pairs,
    sizes.too_many_dimensions,
    places.incomplete_positions,
    places.mixed_systems,
    places.missing_positions,
    places.impossible_positions,
    places.zero_positions,
    places.swapped_positions,
    matrices.several_sources,
    matrices.router_positions,
    matrices.missing_rows,
    matrices.matrix_order,
    matrices.matrix_shape,
    matrices.matrix_values,
    times.backward_windows,
    times.overlapping_windows,
    times.backward_shifts,
    times.backward_breaks,
    times.odd_rushes,
    times.late_releases,
    amounts.negative_amounts,
    amounts.unknown_dimensions,
    amounts.missing_skills,
    amounts.nobody_may_serve,
    amounts.oversized_demands,
    amounts.too_few_stops,
    locks.locked_to_strangers,
    amounts.double_limits,
    shipments.broken_shipments,
    shipments.unequal_shipments,
    shipments.late_pickups,
    shipments.torn_shipments,
    locks.locked_against_each_other,
    locks.locked_too_many,
    locks.locked_out_of_order,
    locks.locked_backhaul,
)
"""Contradictions that can be told without travel, in the order they are told; the size of its tables is told last."""

_ALONE: Final[tuple[Check, ...]] = (
    names.duplicate_ids,
    places.incomplete_positions,
    places.impossible_positions,
    places.zero_positions,
    matrices.matrix_values,
    amounts.negative_amounts,
)
"""Those whose faults no mistake in another entry can cause."""

WARNINGS: Final[tuple[Check, ...]] = (
    times.numbers_as_minutes,
    amounts.more_demand_than_capacity,
    amounts.worthless_tickets,
    amounts.prices_beside_metres,
    idle.free_lateness,
    shipments.halves_left_over,
    idle.idle_penalties,
    places.far_outliers,
    matrices.matrix_diagonals,
    places.foreign_gcj02,
    idle.idle_fields,
    idle.idle_promises,
)
"""What looks odd, what matters most first."""


def check(scenario: Scenario, *, max_tickets: int = MAX_TICKETS) -> list[Fault]:
    """Return every logic fault.

    Reach is judged last, of agents and tickets in which nothing else is wrong, where places and travel are sound and
    travel is known already; not once a day is under way, when what nobody can reach any more is left out.

    Args:
        scenario: The day.
        max_tickets: What the deployment lets in; its tables of travel may be as large.
    """
    found = contradictions(scenario, max_tickets=max_tickets)
    is_known = scenario.tables is not None or not scenario.refers_to_tables
    is_ahead = scenario.held is None or not scenario.held.until_s
    is_sound = len(found) < MAX_LOOKED_AT and all(_touched(fault) is not None for fault in found)
    if not (is_known and is_ahead and is_sound):
        return found
    return [*found, *_numbers_first(scenario, list(_out_of_reach(scenario, found)))]


def _numbers_first(scenario: Scenario, faults: list[Fault]) -> list[Fault]:
    """Return faults of reach, each with what numbers are taken for before its hint where they may be the cause."""
    said = times.misread_numbers(scenario) if faults else None
    if said is None:
        return faults
    agents = frozenset(at for at, agent in enumerate(scenario.agents) if times.says_numbers(scenario, agent))
    tickets = frozenset(ticket.id for ticket in scenario.tickets if times.says_numbers(scenario, ticket))
    eligible, words = Eligible(scenario), " ".join(said)

    def is_concerned(fault: Fault) -> bool:
        section, at = _touched(fault) or ("", 0)
        if section == "agents":
            return at in agents or not tickets.isdisjoint(scenario.agents[at].locked_tickets)
        ticket = scenario.tickets[at]
        return not tickets.isdisjoint((ticket.id, ticket.pickup)) or not agents.isdisjoint(eligible.agents(ticket))

    return [replace(fault, hint=f"{words} {fault.hint}") if is_concerned(fault) else fault for fault in faults]


def _touched(fault: Fault) -> tuple[str, int] | None:
    """Return the list and the entry a fault stands in; None where it may concern every way there is."""
    section, _, rest = fault.path[1:].partition("/")
    index = rest.partition("/")[0]
    return (section, int(index)) if section in _ENTRIES and index.isdigit() else None


def _out_of_reach(scenario: Scenario, found: Iterable[Fault]) -> Iterator[Fault]:
    """Yield the tickets nobody could reach, then the locked visits that cannot be kept."""
    wrong = {_touched(fault) for fault in found}
    unfit = {_touched(fault) for fault in found if "/locked_tickets" not in fault.path}
    agents = frozenset(index for index in range(len(scenario.agents)) if ("agents", index) in unfit)
    tickets = {index for index in range(len(scenario.tickets)) if ("tickets", index) in wrong}
    for unreachable in (trips.unreachable_tickets, trips.unreachable_shipments):
        for fault in list(unreachable(scenario, unfit=agents, spared=frozenset(tickets))):
            tickets.add(int(fault.path.split("/")[2]))
            yield fault
    held = frozenset(index for index in range(len(scenario.agents)) if ("agents", index) in wrong)
    yield from locks.unkept_locks(scenario, unfit=held, spared=frozenset(scenario.tickets[at].id for at in tickets))


def contradictions(scenario: Scenario, *, max_tickets: int = MAX_TICKETS) -> list[Fault]:
    """Return the logic faults that can be told without travel; `max_tickets` as for `check`."""
    found = [fault for rule in CHECKS for fault in islice(rule(scenario), MAX_LOOKED_AT)]
    return [*found, *sizes.too_much_travel(scenario, max_tickets)]


def lone_contradictions(scenario: Scenario) -> frozenset[Fault]:
    """Return those of the same faults that no mistake in another entry can cause."""
    return frozenset(fault for rule in _ALONE for fault in islice(rule(scenario), MAX_LOOKED_AT))


def oddities(scenario: Scenario) -> list[Fault]:
    """Return what looks wrong and yet can be planned; `kind` is `warning`."""
    return [fault for rule in WARNINGS for fault in islice(rule(scenario), MAX_LOOKED_AT)]


def warnings(scenario: Scenario, faults: Iterable[Fault] = ()) -> list[str]:
    """Return the same as sentences, each with its place; none at a place where, or in which, there is a fault."""
    wrong = [f"{fault.path}/" for fault in faults if fault.path]
    return [
        f"{odd.path}: {odd.problem} {odd.hint}".rstrip()
        for odd in oddities(scenario)
        if not any(path.startswith(f"{odd.path}/") or f"{odd.path}/".startswith(path) for path in wrong)
    ]
