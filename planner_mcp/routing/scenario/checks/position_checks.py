"""Checks on places: addresses that gave no position, and coordinates that cannot be."""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.routing.infeasibility_reasons import NO_POSITION_FIX, InfeasibilityReason
from planner_mcp.routing.scenario.checks.reference_checks import named_places
from planner_mcp.routing.scenario.coordinates import Position, haversine_m, is_in_china
from planner_mcp.routing.scenario.scenario_model import Location, OpenAddress, Scenario
from planner_mcp.text import plain

SWAP: Final = "Swap lat and lon."
SWAP_END: Final = "Swap lat and lon, or those of all tickets if this one is right."
"""What to do about a position that is on earth, or near the others, when lat and lon change places."""
OPEN_WORDS: Final = {"ambiguous": "ambiguous", "not_found": "not found", "partial": "not sure"}
"""What an open address is, by its status."""
_MAX_SHOWN: Final = 80
_FAR_M: Final = 1_000_000.0
"""A day's work does not reach farther than this from its middle."""
_NEAR_M: Final = 300_000.0
"""A position that lands this close to the middle when swapped was swapped."""


def tickets_without_position(scenario: Scenario) -> Iterator[Fault]:
    """Yield tickets whose address is open, each with what it may mean."""
    unknown = scenario.open_places
    for index, ticket in enumerate(scenario.tickets if unknown else ()):
        if (found := unknown.get(ticket.location)) is not None:
            yield Fault(
                f"/tickets/{index}/{'location' if ticket.address is None else 'address'}",
                "Its address gave no position.",
                "an address with its city and state or country, or a position",
                NO_POSITION_FIX,
                "logic",
                reason=InfeasibilityReason.NO_POSITION,
                which=(_seen(found),),
            )


def _seen(found: OpenAddress) -> str:
    choices = "; ".join(plain(each, _MAX_SHOWN) for each in found.candidates)
    status = OPEN_WORDS.get(found.status, found.status)
    return f"{status}: {choices}" if choices else status


def _points(scenario: Scenario) -> Iterator[tuple[int, Position]]:
    for index, place in enumerate(scenario.locations):
        if place.lat is not None and place.lon is not None:
            yield index, (place.lat, place.lon)


def _is_on_earth(point: Position) -> bool:
    return abs(point[0]) <= 90 and abs(point[1]) <= 180


def _middle(scenario: Scenario) -> Position | None:
    """Return the median position; None with fewer than three, where no middle is known."""
    return _median(points) if len(points := _sound(scenario)) > 2 else None


def _middle_of_most(scenario: Scenario) -> Position | None:
    """Return the middle of those with lat above lon, or of the others, whichever are more; None with fewer than two.

    A position that is swapped is with the wrong ones, so up to half of all do not move this middle. Where there are as
    many of both it is that of the first position's.
    """
    points = _sound(scenario)
    above = [point for point in points if point[0] > point[1]]
    others = [point for point in points if point[0] <= point[1]]
    return _median(max(above, others, key=lambda part: (len(part), points[0] in part))) if len(points) > 1 else None


def _sound(scenario: Scenario) -> list[Position]:
    return [point for _, point in _points(scenario) if _is_on_earth(point) and point != (0.0, 0.0)]


def _median(points: Sequence[Position]) -> Position:
    return median(lat for lat, _ in points), median(lon for _, lon in points)


def is_on_globe(scenario: Scenario) -> bool:
    """Return whether any location has a position on the globe."""
    return any(True for _ in _points(scenario))


def incomplete_positions(scenario: Scenario) -> Iterator[Fault]:
    """Yield positions of which one half is missing."""
    for index, place in enumerate(scenario.locations):
        for one, other in (("lat", "lon"), ("lon", "lat"), ("x", "y"), ("y", "x")):
            if getattr(place, one) is not None and getattr(place, other) is None:
                path, problem = f"/locations/{index}", f"The location has {one} without {other}."
                yield Fault(path, problem, f"both {one} and {other}", f"Add {other}.", "logic")


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
    kinds = [_kind(place) for place in scenario.locations]
    if scenario.refers_to_matrices or scenario.travel.tables or all(kind == "none" for kind in kinds):
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
            hint = SWAP if abs(lon) <= 90 and abs(lat) <= 180 else "Look it up again."
            yield Fault(f"/locations/{index}/lat", "The latitude is out of range.", "-90 to 90", hint, "logic")
        if abs(lon) > 180:
            yield Fault(
                f"/locations/{index}/lon", "The longitude is out of range.", "-180 to 180", "Look it up again.", "logic"
            )


def zero_positions(scenario: Scenario) -> Iterator[Fault]:
    """Yield positions at (0, 0), where failed look-ups land."""
    for index, point in _points(scenario):
        if point == (0.0, 0.0):
            problem = "The position is (0, 0), in the Gulf of Guinea."
            yield Fault(f"/locations/{index}", problem, "the real position", "Look the address up again.", "logic")


def swapped_positions(scenario: Scenario) -> Iterator[Fault]:
    """Yield positions far from others that lie among them when lat and lon change places."""
    middle = _middle_of_most(scenario)
    ends = {scenario.depot, *(each for agent in scenario.agents for each in (agent.start_location, agent.end_location))}
    for index, point in _points(scenario) if middle is not None else ():
        swapped = (point[1], point[0])
        is_comparable = _is_on_earth(point) and _is_on_earth(swapped) and point != (0.0, 0.0)
        if is_comparable and middle and haversine_m(point, middle) > _FAR_M and haversine_m(swapped, middle) < _NEAR_M:
            problem = "The position is far from others, and among them when lat and lon are swapped."
            is_end = scenario.locations[index].id in ends
            hint = SWAP_END if is_end else SWAP
            yield Fault(f"/locations/{index}", problem, "lat before lon", hint, "logic")


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
    if middle and scenario.travel.crs != "wgs84" and not is_in_china(*middle):
        problem = "The coordinates are declared Chinese, yet lie outside China."
        yield Fault("/travel/crs", problem, "wgs84", "Declare wgs84.", "warning")
