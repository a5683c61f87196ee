"""Every contradiction inside a well-formed scenario, at once (SPEC T7).

Owns the list of checks and their order. Each check is a small function of the scenario that yields faults and stands
in the file of its subject: names, places, matrices, times, amounts. A check says only what it can prove; what merely
looks odd is a warning, and planning goes on.
"""

from collections.abc import Callable, Iterable
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.vrp import check_amounts, check_matrices, check_names, check_places, check_times
from planner_mcp.vrp.model import Scenario

Check = Callable[[Scenario], Iterable[Fault]]

CHECKS: Final[tuple[Check, ...]] = (
    check_names.duplicate_ids,
    check_names.unknown_locations,
    check_names.unknown_agents,
    check_names.unknown_tickets,
    check_names.groups_of_nothing,
    check_names.locked_twice,
    check_names.absurd_date,
    check_places.incomplete_positions,
    check_places.mixed_systems,
    check_places.missing_positions,
    check_places.impossible_positions,
    check_places.zero_positions,
    check_places.swapped_positions,
    check_matrices.several_sources,
    check_matrices.router_positions,
    check_matrices.missing_rows,
    check_matrices.matrix_order,
    check_matrices.matrix_shape,
    check_matrices.matrix_values,
    check_times.backward_windows,
    check_times.overlapping_windows,
    check_times.backward_shifts,
    check_times.backward_breaks,
    check_times.odd_rushes,
    check_times.late_releases,
    check_amounts.negative_amounts,
    check_amounts.unknown_dimensions,
    check_amounts.missing_skills,
    check_amounts.nobody_may_serve,
    check_amounts.oversized_demands,
    check_amounts.locked_to_strangers,
    check_amounts.double_limits,
    check_amounts.broken_shipments,
    check_amounts.unequal_shipments,
    check_times.late_pickups,
)
"""Contradictions that can be told without travel, in the order they are told."""

WARNINGS: Final[tuple[Check, ...]] = (
    check_amounts.more_demand_than_capacity,
    check_amounts.worthless_tickets,
    check_amounts.free_lateness,
    check_places.far_outliers,
    check_matrices.matrix_diagonals,
    check_places.foreign_gcj02,
)
"""What looks odd."""


def check(scenario: Scenario) -> list[Fault]:
    """Return every logic fault.

    Reachability is judged last and only when nothing else is wrong, because it needs sound places and times; and only
    where travel is known already.
    """
    is_known = scenario.tables is not None or not scenario.refers_to_tables
    return contradictions(scenario) or (list(check_times.unreachable_tickets(scenario)) if is_known else [])


def contradictions(scenario: Scenario) -> list[Fault]:
    """Return the logic faults that can be told without travel."""
    return [fault for rule in CHECKS for fault in rule(scenario)]


def oddities(scenario: Scenario) -> list[Fault]:
    """Return what looks wrong and yet can be planned; `kind` is `warning`."""
    return [fault for rule in WARNINGS for fault in rule(scenario)]


def warnings(scenario: Scenario) -> list[str]:
    """Return the same as sentences, each with its place."""
    return [f"{fault.path}: {fault.problem} {fault.hint}".rstrip() for fault in oddities(scenario)]
