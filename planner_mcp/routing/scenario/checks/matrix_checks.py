"""Checks on tables of travel: those of the scenario itself, and what it says of those that lie elsewhere."""

from collections.abc import Iterator
from itertools import islice
from statistics import median
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.routing.scenario.checks.reference_checks import named_places, places_of_agents
from planner_mcp.routing.scenario.field_types import MAX_ROWS, NO_WAY
from planner_mcp.routing.scenario.scenario_model import Scenario, matrix_row_ids
from planner_mcp.text import figure, plain

_MAX_NAMED: Final = 5
"""Locations without a row that a fault names."""
_ROWS_OF_SPEEDS: Final = 50
"""Rows that say how fast the ways are."""
_FASTEST_M_PER_S: Final = 100.0
_SLOWEST_M_PER_S: Final = 0.2
"""Median speeds beyond are rather another unit: minutes, and kilometres."""


def several_sources(scenario: Scenario) -> Iterator[Fault]:
    """Yield travel that is said to come from several places at once."""
    travel = scenario.travel
    named = [name for name in ("matrix", "router") if getattr(travel, name) is not None]
    named += ["distances or durations"] if travel.tables else []
    if len(named) > 1:
        problem = f"Travel has {' and '.join(named)} at once."
        yield Fault("/travel", problem, "one of them", "Remove the others.", "logic")


def router_positions(scenario: Scenario) -> Iterator[Fault]:
    """Yield locations in use that a road engine cannot be asked about."""
    if scenario.travel.router is None:
        return
    places = {place.id: (index, place) for index, place in enumerate(scenario.locations)}
    for name in sorted(named_places(scenario)):
        index, place = places.get(name, (None, None))
        if place is None or place.lat is None:
            path = "/locations" if index is None else f"/locations/{index}"
            problem = "A location in use has no lat and lon to ask the road engine about."
            yield Fault(path, problem, "lat and lon of every location in use", "Add its position.", "logic")


def missing_rows(scenario: Scenario) -> Iterator[Fault]:
    """Yield tables that lie elsewhere, are at hand, and do not know every location in use."""
    if scenario.refers_to_matrices and scenario.travel_matrices is not None:
        yield from _unknown_rows(scenario, scenario.travel_matrices.locations, "/travel/matrix")


def off_network_ends(scenario: Scenario) -> Iterator[Fault]:
    """Yield depots, and other places where agents start, end or reload, that no road leads to or from."""
    apart = {} if scenario.travel_matrices is None else scenario.travel_matrices.off_network
    needed = places_of_agents(scenario) if apart else ()
    for index, location in enumerate(scenario.locations):
        if location.id in needed and location.id in apart:
            problem = f"Agents start, end or reload at {plain(location.id, 60)}, which is {apart[location.id]}."
            hint = "Check its position (lat and lon swapped?); the map may not cover it."
            yield Fault(f"/locations/{index}", problem, "a place on the road network", hint, "logic")


def _unknown_rows(scenario: Scenario, rows: tuple[str, ...], path: str) -> Iterator[Fault]:
    if missing := named_places(scenario) - set(rows):
        named = ", ".join(plain(name, 40) for name in sorted(missing)[:_MAX_NAMED])
        more = f" and {len(missing) - _MAX_NAMED} more" if len(missing) > _MAX_NAMED else ""
        problem = f"Locations in use have no row in the matrices: {named}{more}."
        yield Fault(path, problem, "every location in use", "Add their rows and columns.", "logic")


def matrix_order(scenario: Scenario) -> Iterator[Fault]:
    """Yield matrices whose rows have no names, the same name twice, or not the names in use."""
    if not scenario.travel.tables:
        return
    order = matrix_row_ids(scenario)
    path = "/travel/matrix_locations"
    if not order:
        yield Fault(
            path,
            "The matrices do not say which row is which location.",
            "location ids in order",
            "Name the rows.",
            "logic",
        )
    elif len(set(order)) < len(order):
        yield Fault(path, "A location has two rows.", "each location once", "Remove the repetition.", "logic")
    else:
        yield from _unknown_rows(scenario, order, path)


def matrix_shape(scenario: Scenario) -> Iterator[Fault]:
    """Yield matrices that are not square of the right size."""
    size = len(matrix_row_ids(scenario))
    for name, table in scenario.travel.tables.items() if size else ():
        wrong = [index for index, row in enumerate(table) if len(row) != size]
        if len(table) != size or wrong:
            where = f"row {wrong[0]} has {len(table[wrong[0]])} numbers" if wrong else f"it has {len(table)} rows"
            problem = f"The matrix does not fit {size} locations: {where}."
            accepted = f"{size} rows of {size} numbers"
            yield Fault(f"/travel/{name}", problem, accepted, "Give a number for every pair.", "logic")


def matrix_values(scenario: Scenario) -> Iterator[Fault]:
    """Yield the least number of each row that has negative ones."""
    for name, table in scenario.travel.tables.items():
        wrong = ((index, row.index(low)) for index, row in enumerate(table) if row and (low := min(row)) < 0)
        for index, at in islice(wrong, MAX_ROWS):
            yield Fault(f"/travel/{name}/{index}/{at}", "The number is negative.", "0 or more", NO_WAY, "logic")


def matrix_diagonals(scenario: Scenario) -> Iterator[Fault]:
    """Yield matrices in which staying in place takes something."""
    for name, table in scenario.travel.tables.items():
        if any(row[at] for at, row in enumerate(table) if at < len(row)):
            problem, accepted = "The diagonal is not zero.", "0 from a location to itself"
            yield Fault(f"/travel/{name}", problem, accepted, "It is taken as 0.", "warning")


def implausible_speeds(scenario: Scenario) -> Iterator[Fault]:
    """Yield durations, or distances, that with the other table make a speed that no vehicle has.

    Published instances have both in one unit: that is 1 m/s.
    """
    tables = (scenario.travel.distances or (), scenario.travel.durations or ())
    rows = islice(zip(*tables, strict=False), _ROWS_OF_SPEEDS)
    speeds = [
        metres / seconds for row in rows for metres, seconds in zip(*row, strict=False) if min(metres, seconds) > 0
    ]
    if not speeds:
        return
    speed = median(speeds)
    problem = f"The median speed of these tables is {figure(round(3.6 * speed, 3))} km/h."
    if speed > _FASTEST_M_PER_S:
        yield Fault("/travel/durations", problem, "", "Durations are seconds: write 600 for 10 minutes.", "warning")
    elif speed < _SLOWEST_M_PER_S:
        yield Fault("/travel/distances", problem, "", "Distances are metres: write 2000 for 2 km.", "warning")
