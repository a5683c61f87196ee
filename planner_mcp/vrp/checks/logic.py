"""Every contradiction inside a well-formed scenario, at once (SPEC T7).

Owns the list of checks and their order. Each check is a small function of the scenario that yields faults and stands
in the file of its subject: names, places, matrices, times, amounts. A check says only what it can prove; what merely
looks odd is a warning, and planning goes on.
"""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.vrp.checks import amounts, locks, matrices, names, places, sizes, times
from planner_mcp.vrp.day.model import Scenario

Check = Callable[[Scenario], Iterable[Fault]]

MOST_FAULTS: Final = 1000
"""Faults that are looked for by one check; a day with more was made to cost time and memory."""

CHECKS: Final[tuple[Check, ...]] = (
    names.duplicate_ids,
    names.unknown_locations,
    names.unknown_agents,
    names.unknown_tickets,
    names.groups_of_nothing,
    names.repeated_exclusions,
    names.locked_twice,
    names.absurd_date,
    sizes.too_many_pairs,
    sizes.too_many_dimensions,
    sizes.too_much_travel,
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
    locks.locked_to_strangers,
    amounts.double_limits,
    amounts.broken_shipments,
    amounts.unequal_shipments,
    times.late_pickups,
    locks.locked_against_each_other,
    locks.locked_too_many,
    locks.locked_out_of_order,
)
"""Contradictions that can be told without travel, in the order they are told."""

WARNINGS: Final[tuple[Check, ...]] = (
    amounts.more_demand_than_capacity,
    amounts.worthless_tickets,
    amounts.free_lateness,
    places.far_outliers,
    matrices.matrix_diagonals,
    places.foreign_gcj02,
)
"""What looks odd."""


def check(scenario: Scenario) -> list[Fault]:
    """Return every logic fault.

    Reachability is judged last and only when nothing else is wrong, because it needs sound places and times; and only
    where travel is known already.
    """
    is_known = scenario.tables is not None or not scenario.refers_to_tables
    return contradictions(scenario) or (_out_of_reach(scenario) if is_known else [])


def _out_of_reach(scenario: Scenario) -> list[Fault]:
    """Return the tickets nobody could reach; where there are none, the locked visits that cannot be kept."""
    return list(times.unreachable_tickets(scenario)) or list(locks.unkept_locks(scenario))


def contradictions(scenario: Scenario) -> list[Fault]:
    """Return the logic faults that can be told without travel."""
    return [fault for rule in CHECKS for fault in islice(rule(scenario), MOST_FAULTS)]


def oddities(scenario: Scenario) -> list[Fault]:
    """Return what looks wrong and yet can be planned; `kind` is `warning`."""
    return [fault for rule in WARNINGS for fault in islice(rule(scenario), MOST_FAULTS)]


def warnings(scenario: Scenario) -> list[str]:
    """Return the same as sentences, each with its place."""
    return [f"{fault.path}: {fault.problem} {fault.hint}".rstrip() for fault in oddities(scenario)]
