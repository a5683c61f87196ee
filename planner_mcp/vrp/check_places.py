"""Checks on places: coordinates that cannot be, and matrices that do not fit."""

from collections.abc import Iterator
from statistics import median
from typing import Final

import numpy as np

from planner_mcp.errors import Fault
from planner_mcp.vrp.check_names import named_places
from planner_mcp.vrp.model import Location, Scenario
from planner_mcp.vrp.position import haversine_m
from planner_mcp.vrp.travel import matrix_order as order_of_rows

_FAR_M: Final = 1_000_000.0
"""A day's work does not reach farther than this from its middle."""
_NEAR_M: Final = 300_000.0
"""A position that lands this close to the middle when swapped was swapped."""

Point = tuple[float, float]


def _points(scenario: Scenario) -> Iterator[tuple[int, Point]]:
    for index, place in enumerate(scenario.locations):
        if place.lat is not None and place.lon is not None:
            yield index, (place.lat, place.lon)


def _is_on_earth(point: Point) -> bool:
    return abs(point[0]) <= 90 and abs(point[1]) <= 180


def _middle(scenario: Scenario) -> Point | None:
    """Return the median position; None with fewer than three, where no middle can be told."""
    points = [point for _, point in _points(scenario) if _is_on_earth(point) and point != (0.0, 0.0)]
    return (median(lat for lat, _ in points), median(lon for _, lon in points)) if len(points) > 2 else None


def incomplete_positions(scenario: Scenario) -> Iterator[Fault]:
    """Yield positions of which one half is missing."""
    for index, place in enumerate(scenario.locations):
        for one, other in (("lat", "lon"), ("lon", "lat"), ("x", "y"), ("y", "x")):
            if getattr(place, one) is not None and getattr(place, other) is None:
                path = f"/locations/{index}"
                yield Fault(path, f"The location has {one} without {other}.", f"both {one} and {other}", "", "logic")


def _kind(place: Location) -> str:
    on_globe, on_plane = place.lat is not None or place.lon is not None, place.x is not None or place.y is not None
    return "both" if on_globe and on_plane else "globe" if on_globe else "plane" if on_plane else "none"


def mixed_systems(scenario: Scenario) -> Iterator[Fault]:
    """Yield locations whose coordinates are of another system than the first's."""
    kinds = [_kind(place) for place in scenario.locations]
    first = next((kind for kind in kinds if kind in ("globe", "plane")), None)
    accepted = "lat and lon" if first == "globe" else "x and y"
    for index, kind in enumerate(kinds):
        if kind == "both":
            problem = "The location has lat/lon and x/y at once."
            yield Fault(f"/locations/{index}", problem, "one of the two", "Remove one pair.", "logic")
        elif first is not None and kind not in (first, "none"):
            problem = "The location has other coordinates than the first location has."
            yield Fault(f"/locations/{index}", problem, accepted, "Use one system for all locations.", "logic")


def missing_positions(scenario: Scenario) -> Iterator[Fault]:
    """Yield locations in use without a position, where others have one and no matrix helps."""
    has_matrix = scenario.travel.distances is not None or scenario.travel.durations is not None
    kinds = [_kind(place) for place in scenario.locations]
    if has_matrix or all(kind == "none" for kind in kinds):
        return
    used = named_places(scenario)
    accepted = "lat and lon" if "globe" in kinds else "x and y"
    for index, (place, kind) in enumerate(zip(scenario.locations, kinds, strict=True)):
        if kind == "none" and place.id in used:
            problem = "The location has no position while others have one."
            yield Fault(f"/locations/{index}", problem, accepted, "Add its coordinates.", "logic")


def impossible_positions(scenario: Scenario) -> Iterator[Fault]:
    """Yield coordinates that are not on earth."""
    for index, (lat, lon) in _points(scenario):
        if abs(lat) > 90:
            hint = "Swap lat and lon." if abs(lon) <= 90 and abs(lat) <= 180 else ""
            yield Fault(f"/locations/{index}/lat", "The latitude is out of range.", "-90 to 90", hint, "logic")
        if abs(lon) > 180:
            yield Fault(f"/locations/{index}/lon", "The longitude is out of range.", "-180 to 180", "", "logic")


def zero_positions(scenario: Scenario) -> Iterator[Fault]:
    """Yield positions at (0, 0), where failed look-ups land."""
    for index, point in _points(scenario):
        if point == (0.0, 0.0):
            problem = "The position is (0, 0), in the Gulf of Guinea."
            yield Fault(f"/locations/{index}", problem, "the real position", "Look the address up again.", "logic")


def swapped_positions(scenario: Scenario) -> Iterator[Fault]:
    """Yield positions far from all others that lie among them when lat and lon change places."""
    middle = _middle(scenario)
    for index, point in _points(scenario) if middle is not None else ():
        swapped = (point[1], point[0])
        is_judged = _is_on_earth(point) and _is_on_earth(swapped) and point != (0.0, 0.0)
        if is_judged and middle and haversine_m(point, middle) > _FAR_M and haversine_m(swapped, middle) < _NEAR_M:
            problem = "The position is far from all others, and among them when lat and lon are swapped."
            yield Fault(f"/locations/{index}", problem, "lat before lon", "Swap lat and lon.", "logic")


def far_outliers(scenario: Scenario) -> Iterator[Fault]:
    """Yield positions more than 1000 km from the middle."""
    if (middle := _middle(scenario)) is None:
        return
    for index, point in _points(scenario):
        if (metres := haversine_m(point, middle)) > _FAR_M:
            problem = f"The location is {metres / 1000:.0f} km from the middle of the others."
            yield Fault(f"/locations/{index}", problem, "", "Check its coordinates.", "warning")


def foreign_gcj02(scenario: Scenario) -> Iterator[Fault]:
    """Yield a Chinese coordinate system declared for a day that is not in China."""
    middle = _middle(scenario)
    if middle and scenario.travel.crs != "wgs84" and not (0.8 < middle[0] < 55.9 and 72 < middle[1] < 137.9):
        problem = "The coordinates are declared Chinese, yet lie outside China."
        yield Fault("/travel/crs", problem, "wgs84", "Declare wgs84.", "warning")


def _tables(scenario: Scenario) -> Iterator[tuple[str, tuple[tuple[float, ...], ...]]]:
    for name in ("distances", "durations"):
        if (table := getattr(scenario.travel, name)) is not None:
            yield f"/travel/{name}", table


def matrix_order(scenario: Scenario) -> Iterator[Fault]:
    """Yield matrices whose rows have no names, the same name twice, or not the names in use."""
    if not any(_tables(scenario)):
        return
    order = order_of_rows(scenario)
    path = "/travel/matrix_locations"
    if not order:
        yield Fault(path, "The matrices do not say which row is which location.", "location ids in order", "", "logic")
    elif len(set(order)) < len(order):
        yield Fault(path, "A location has two rows.", "each location once", "Remove the repetition.", "logic")
    elif missing := named_places(scenario) - set(order):
        problem = f"{len(missing)} locations in use have no row in the matrices."
        yield Fault(path, problem, "every location in use", "Add their rows and columns.", "logic")


def matrix_shape(scenario: Scenario) -> Iterator[Fault]:
    """Yield matrices that are not square of the right size."""
    size = len(order_of_rows(scenario))
    for path, table in _tables(scenario) if size else ():
        wrong = [index for index, row in enumerate(table) if len(row) != size]
        if len(table) != size or wrong:
            where = f"row {wrong[0]} has {len(table[wrong[0]])} numbers" if wrong else f"it has {len(table)} rows"
            problem = f"The matrix does not fit {size} locations: {where}."
            yield Fault(path, problem, f"{size} rows of {size} numbers", "", "logic")


def matrix_values(scenario: Scenario) -> Iterator[Fault]:
    """Yield the first negative number of each matrix."""
    for path, table in _tables(scenario):
        for index, row in enumerate(table):
            if row and min(row) < 0:
                at = row.index(min(row))
                yield Fault(f"{path}/{index}/{at}", "The number is negative.", "0 or more", "", "logic")
                break


def matrix_diagonals(scenario: Scenario) -> Iterator[Fault]:
    """Yield matrices in which staying in place takes something."""
    for path, table in _tables(scenario):
        if np.any(np.diagonal(np.array(table))):
            yield Fault(
                path, "The diagonal is not zero.", "0 from a location to itself", "It is taken as 0.", "warning"
            )
