"""Geographic positions: great-circle distance, and conversion of Chinese coordinate systems to WGS-84.

Owns single positions; `compilation/integer_matrices.py` computes whole matrices. GCJ-02 (maps of AMap and Tencent) and
BD-09 (Baidu) are converted by public approximations, accurate to about a metre inside China. Outside the rectangle
where GCJ-02 applies positions are returned unchanged.
"""

from collections.abc import Mapping, Sequence
from math import asin, atan2, cos, pi, radians, sin, sqrt
from typing import Final

from planner_mcp.routing.scenario.shown_scenario import ShownScenario

Position = tuple[float, float]
"""(lat, lon) in degrees, WGS-84 where nothing else is said."""
Lines = Mapping[str, Sequence[Position]]
"""Positions along the roads, by agent."""
NO_LINES: Final[Lines] = {}
EARTH_RADIUS_M: Final = 6_371_008.8
"""Mean radius of WGS-84 (IUGG)."""
_AXIS_M: Final = 6_378_245.0
"""Semi-major axis of the Krasovsky 1940 ellipsoid that GCJ-02 is built on."""
_ECCENTRICITY: Final = 0.006_693_421_622_965_943
"""Its squared eccentricity."""
_BD_ANGLE: Final = pi * 3000.0 / 180.0


def haversine_m(a: Position, b: Position) -> float:
    """Return the great-circle distance in metres between two positions."""
    north, east = radians(b[0] - a[0]) / 2, radians(b[1] - a[1]) / 2
    half = sin(north) ** 2 + cos(radians(a[0])) * cos(radians(b[0])) * sin(east) ** 2
    return 2 * EARTH_RADIUS_M * asin(min(1.0, sqrt(half)))


def globe_positions(scenario: ShownScenario) -> dict[str, Position]:
    """Return positions by location of a scenario's JSON; empty where the day lies on a plane or nowhere."""
    crs = (scenario.get("travel") or {}).get("crs") or "wgs84"
    return {
        place["id"]: to_wgs84(lat, lon, crs)
        for place in scenario.get("locations") or ()
        if (lat := place.get("lat")) is not None and (lon := place.get("lon")) is not None
    }


def to_wgs84(lat: float, lon: float, crs: str) -> Position:
    """Return the WGS-84 (lat, lon) of a position given in `wgs84`, `gcj02` or `bd09`."""
    if crs == "bd09":
        lat, lon = _bd09_to_gcj02(lat, lon)
    if crs == "wgs84" or not is_in_china(lat, lon):
        return lat, lon
    guess_lat, guess_lon = lat, lon
    for _ in range(3):  # the shift varies slowly, so three steps reach a millimetre
        shifted_lat, shifted_lon = _wgs84_to_gcj02(guess_lat, guess_lon)
        guess_lat, guess_lon = guess_lat + lat - shifted_lat, guess_lon + lon - shifted_lon
    return guess_lat, guess_lon


def from_wgs84(lat: float, lon: float, crs: str) -> Position:
    """Return the (lat, lon) in `wgs84`, `gcj02` or `bd09` of a position in WGS-84."""
    if crs == "gcj02" and is_in_china(lat, lon) and is_in_china(*(shifted := _wgs84_to_gcj02(lat, lon))):
        return shifted
    guess_lat, guess_lon = lat, lon
    for _ in range(4):  # as above: the shift varies slowly
        back_lat, back_lon = to_wgs84(guess_lat, guess_lon, crs)
        guess_lat, guess_lon = guess_lat + lat - back_lat, guess_lon + lon - back_lon
    return guess_lat, guess_lon


def is_in_china(lat: float, lon: float) -> bool:
    """Return whether a position in degrees lies in the rectangle where GCJ-02 applies."""
    return 0.8293 <= lat <= 55.8271 and 72.004 <= lon <= 137.8347


def _bd09_to_gcj02(lat: float, lon: float) -> tuple[float, float]:
    x, y = lon - 0.0065, lat - 0.006
    radius = sqrt(x * x + y * y) - 0.00002 * sin(y * _BD_ANGLE)
    angle = atan2(y, x) - 0.000003 * cos(x * _BD_ANGLE)
    return radius * sin(angle), radius * cos(angle)


def _wgs84_to_gcj02(lat: float, lon: float) -> tuple[float, float]:
    north, east = _offset(lat, lon)
    phi = lat / 180.0 * pi
    magic = 1 - _ECCENTRICITY * sin(phi) ** 2
    north = north * 180.0 / (_AXIS_M * (1 - _ECCENTRICITY) / (magic * sqrt(magic)) * pi)
    east = east * 180.0 / (_AXIS_M / sqrt(magic) * cos(phi) * pi)
    return lat + north, lon + east


def _offset(lat: float, lon: float) -> tuple[float, float]:
    """Return the GCJ-02 offset in metres north and east, a sum of sines."""
    x, y = lon - 105.0, lat - 35.0
    common = (20.0 * sin(6.0 * x * pi) + 20.0 * sin(2.0 * x * pi)) * 2.0 / 3.0
    north = -100.0 + 2.0 * x + 3.0 * y + 0.2 * y * y + 0.1 * x * y + 0.2 * sqrt(abs(x)) + common
    north += (20.0 * sin(y * pi) + 40.0 * sin(y / 3.0 * pi)) * 2.0 / 3.0
    north += (160.0 * sin(y / 12.0 * pi) + 320.0 * sin(y * pi / 30.0)) * 2.0 / 3.0
    east = 300.0 + x + 2.0 * y + 0.1 * x * x + 0.1 * x * y + 0.1 * sqrt(abs(x)) + common
    east += (20.0 * sin(x * pi) + 40.0 * sin(x / 3.0 * pi)) * 2.0 / 3.0
    east += (150.0 * sin(x / 12.0 * pi) + 300.0 * sin(x / 30.0 * pi)) * 2.0 / 3.0
    return north, east
