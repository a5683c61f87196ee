"""Distances and travel times between locations, as integers.

Owns the sources of travel data (matrices of `scenario/travel_matrices.py`, haversine on WGS-84, the Euclidean plane, or
unit legs where positions are unknown), the rounding, and the sentences about assumptions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from planner_mcp import arrays as np
from planner_mcp.arrays import Floats, Indices
from planner_mcp.errors import TravelUnknownError
from planner_mcp.routing.plan import NO_TRAVEL, UNIT_LEGS
from planner_mcp.routing.problem import Matrix, empty_table
from planner_mcp.routing.scenario.coordinates import EARTH_RADIUS_M, to_wgs84
from planner_mcp.routing.scenario.scenario_model import Location, Scenario
from planner_mcp.routing.scenario.scenario_model import Travel as TravelFields
from planner_mcp.routing.scenario.travel_matrices import Table, TravelMatrices, among, decimals_of
from planner_mcp.text import Json

_BLOCK: Final = 128
"""Rows and columns of a matrix computed at once: they fit into a cache, which halves the time of large matrices."""
_FLOAT_ERROR: Final = 2e-15
"""Relative error of a value after a few float operations."""


@dataclass(frozen=True, slots=True, eq=False)
class IntegerMatrices:
    """The travel data of a problem; fields as in `Problem`."""

    distances: tuple[Matrix, ...]
    durations: tuple[Matrix, ...]
    scale: int
    positions: tuple[tuple[float, float], ...]
    provenance: Json
    assumptions: tuple[str, ...]


def integer_matrices_of(scenario: Scenario, ids: Sequence[str], speed_factors: Sequence[float]) -> IntegerMatrices:
    """Return matrices between locations, one pair (n, n) for each speed factor.

    Args:
        scenario: Its travel section and positions.
        ids: Locations, in the order of the matrices.
        speed_factors: An agent with factor 2 needs half the travel time.

    Raises:
        TravelUnknownError: The scenario refers to matrices that were not provided.
    """
    ids = _with_stand_ins(scenario, ids)
    places = {place.id: place for place in scenario.locations}
    chosen = [places.get(name) for name in ids]
    if scenario.refers_to_matrices and scenario.travel_matrices is None:
        raise TravelUnknownError
    if scenario.travel_matrices is not None:
        return _from_matrices(scenario, scenario.travel_matrices, ids, speed_factors)
    if all(place is not None and place.lat is not None for place in chosen):
        return _on_the_globe(scenario.travel, [place for place in chosen if place], speed_factors)
    if all(place is not None and place.x is not None for place in chosen):
        return _on_the_plane(scenario.travel, [place for place in chosen if place], speed_factors)
    return _unit_legs(scenario.travel, len(ids), speed_factors)


def _with_stand_ins(scenario: Scenario, ids: Sequence[str]) -> Sequence[str]:
    """Return locations with another one in place of each whose address is open: nobody is sent there."""
    unknown = scenario.open_places
    known = next((name for name in ids if name not in unknown), None)
    return ids if known is None or not unknown else [known if name in unknown else name for name in ids]


def _round(values: Floats, scale: int, rounding: str, *, speed: float = 1.0) -> Floats:
    """Return lengths, or travel times at a speed, in whole units of 1/scale.

    `floor` and `ceil` tolerate a float error of 1e-9, and in large values a relative error of `_FLOAT_ERROR`.
    """
    scaled = values / speed if speed != 1.0 else values.copy()
    if scale != 1:
        scaled *= scale
    if rounding == "nearest":
        return np.rint(scaled, out=scaled)
    sign = 1 if rounding == "floor" else -1
    scaled *= 1 + sign * _FLOAT_ERROR
    scaled += sign * 1e-9
    return (np.floor if rounding == "floor" else np.ceil)(scaled, out=scaled)


def _symmetric(
    points: Floats, lengths: Callable[[Floats, Floats], Floats], rounded: Sequence[Callable[[Floats], Floats]]
) -> list[Matrix]:
    """Return tables between places that are as far from each other there as back, (n, n) each.

    Args:
        points: Positions, (n, d).
        lengths: Returns the metres between two sets of positions, (m, d) and (k, d), as (m, k). It grows with each
            coordinate's difference.
        rounded: For each table, makes whole units of metres.
    """
    size = len(points)
    longest = lengths(np.zeros((1, points.shape[1])), np.ptp(points, axis=0)[None, :])
    tables = [empty_table(size, int(to_units(longest)[0, 0]) + 1) for to_units in rounded]
    blocks = [slice(low, low + _BLOCK) for low in range(0, size, _BLOCK)]
    for number, rows in enumerate(blocks):
        for columns in blocks[number:]:
            metres = lengths(points[rows], points[columns])
            for table, to_units in zip(tables, rounded, strict=True):
                cells = to_units(metres).astype(table.dtype)
                table[rows, columns] = cells
                table[columns, rows] = cells.T
    return tables


def _on_the_globe(travel: TravelFields, places: list[Location], factors: Sequence[float]) -> IntegerMatrices:
    positions = tuple(to_wgs84(place.lat or 0.0, place.lon or 0.0, travel.crs) for place in places)
    scale = 10 ** (travel.decimals or 0)
    points = _on_unit_sphere(positions)
    metres_per_second = travel.speed_kmh / 3.6
    to_units = partial(_round, scale=scale, rounding=travel.rounding)
    distances, *durations = _symmetric(
        points,
        lambda origins, targets: _great_circles(origins, targets) * travel.globe_detour,
        [to_units, *(partial(to_units, speed=metres_per_second * factor) for factor in factors)],
    )
    speed = f"{travel.speed_kmh:g} km/h"
    detour = travel.globe_detour
    facts = {"source": "haversine", "speed_kmh": travel.speed_kmh, "detour": detour, "crs": travel.crs}
    assumed = f"Roads are not known: distances are straight lines (haversine) at {speed}."
    if detour != 1.0:
        assumed = f"Roads are not known: distances are straight lines (haversine) times {detour:g} at {speed}."
    return IntegerMatrices((distances,) * len(factors), tuple(durations), scale, positions, facts, (assumed,))


def _on_unit_sphere(positions: Sequence[tuple[float, float]]) -> Floats:
    lat, lon = np.radians(np.array(positions, dtype=np.float64).reshape(-1, 2)).T
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)


def _great_circles(origins: Floats, targets: Floats) -> Floats:
    """Return metres between points on the unit sphere, (n, 3) and (m, 3), as (n, m).

    The haversine formula by way of the chord: half the chord is the square root of the haversine, and three
    subtractions are cheaper than two sines per pair.
    """
    chord = np.zeros((len(origins), len(targets)))
    for axis in range(3):
        gap = origins[:, axis, None] - targets[None, :, axis]
        gap *= gap
        chord += gap
    half = np.sqrt(chord, out=chord)
    half /= 2
    angle = np.arcsin(np.minimum(1.0, half, out=half), out=half)
    angle *= 2 * EARTH_RADIUS_M
    return angle


def _on_the_plane(travel: TravelFields, places: list[Location], factors: Sequence[float]) -> IntegerMatrices:
    positions = tuple((place.x or 0.0, place.y or 0.0) for place in places)
    scale = 10 ** (3 if travel.decimals is None else travel.decimals)
    points = np.array(positions, dtype=np.float64).reshape(-1, 2)
    to_units = partial(_round, scale=scale, rounding=travel.rounding)
    speeds = [travel.plane_speed * factor for factor in factors]
    # at speed 1 the same array serves both, which saves its memory
    others = sorted({speed for speed in speeds if speed != 1.0})
    distances, *tables = _symmetric(
        points,
        lambda origins, targets: _plane_lengths(origins, targets) * travel.plane_detour,
        [to_units, *(partial(to_units, speed=speed) for speed in others)],
    )
    by_speed = dict(zip(others, tables, strict=True)) | {1.0: distances}
    durations = tuple(by_speed[speed] for speed in speeds)
    facts = {"source": "plane", "plane_speed": travel.plane_speed, "detour": travel.plane_detour}
    assumed = (f"Distances are straight lines in the plane at {travel.plane_speed:g} units per second.",)
    return IntegerMatrices((distances,) * len(factors), durations, scale, positions, facts, assumed)


def _plane_lengths(origins: Floats, targets: Floats) -> Floats:
    """Return lengths between points of the plane, (n, 2) and (m, 2), as (n, m)."""
    gaps = origins[:, None, :] - targets[None, :, :]
    lengths: Floats = np.hypot(gaps[..., 0], gaps[..., 1])
    return lengths


def _unit_legs(travel: TravelFields, size: int, factors: Sequence[float]) -> IntegerMatrices:
    distances, *durations = (_equal_legs(size, travel.rounding, speed) for speed in (1.0, *factors))
    return IntegerMatrices((distances,) * len(factors), tuple(durations), 1, (), {"source": UNIT_LEGS}, (NO_TRAVEL,))


def _equal_legs(size: int, rounding: str, speed: float) -> Matrix:
    """Return a table in which every leg between two places has length 1, at a speed."""
    leg = int(_round(np.ones(1), 1, rounding, speed=speed)[0])
    table = empty_table(size, leg)
    table[:] = leg
    np.fill_diagonal(table, 0)
    return table


def _table_of(values: Table, chosen: Indices, to_units: Callable[[Floats], Floats]) -> Matrix:
    """Return given lengths or times between some rows in whole units, in the form of `empty_table`."""
    longest = max(int(to_units(part).max(initial=0)) for _rows, part in among(values, chosen))
    table = empty_table(len(chosen), longest)
    for rows, part in among(values, chosen):
        table[rows] = to_units(part)
    return table


def _from_matrices(
    scenario: Scenario, travel_matrices: TravelMatrices, ids: Sequence[str], factors: Sequence[float]
) -> IntegerMatrices:
    travel, given, chosen = scenario.travel, travel_matrices.given, travel_matrices.rows_of(ids)
    decimals = (
        travel.decimals
        if travel.decimals is not None
        else max(decimals_of(values, chosen) for values in given.values())
    )
    to_units = partial(_round, scale=10**decimals, rounding=travel.rounding)
    assumed = [str(travel_matrices.provenance["said"])] if "said" in travel_matrices.provenance else []
    distances = _table_of(given["distances" if "distances" in given else "durations"], chosen, to_units)
    if "distances" not in given:
        assumed.append("Only durations are given: distance is taken equal to travel time.")
    if "durations" not in given:
        assumed.append(f"Travel times follow from the given distances at {travel.speed_kmh:g} km/h.")
    metres_per_second = 1.0 if "durations" in given else travel.speed_kmh / 3.6
    times = given["durations" if "durations" in given else "distances"]
    is_shared = "distances" not in given
    durations = tuple(
        distances
        if is_shared and factor == 1.0
        else _table_of(times, chosen, partial(to_units, speed=metres_per_second * factor))
        for factor in factors
    )
    facts = {name: fact for name, fact in travel_matrices.provenance.items() if name != "said"}
    positions = _drawing_positions(scenario, ids)
    return IntegerMatrices((distances,) * len(factors), durations, 10**decimals, positions, facts, tuple(assumed))


def _drawing_positions(scenario: Scenario, ids: Sequence[str]) -> tuple[tuple[float, float], ...]:
    """Return positions for drawing, for scenarios with explicit matrices; empty unless every location has one."""
    places = {place.id: place for place in scenario.locations}
    found: list[tuple[float, float]] = []
    for name in ids:
        place = places.get(name)
        if place is not None and place.lat is not None and place.lon is not None:
            found.append(to_wgs84(place.lat, place.lon, scenario.travel.crs))
        elif place is not None and place.x is not None and place.y is not None:
            found.append((place.x, place.y))
    return tuple(found) if len(found) == len(ids) else ()
