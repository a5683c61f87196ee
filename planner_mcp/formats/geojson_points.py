"""Points of a GeoJSON file as the table they would be in a spreadsheet (SPEC T5).

Owns the turn of features into rows: their properties are the columns, their position is `lat` and `lon`.
"""

from typing import Any, Final

from planner_mcp.errors import Fault, input_error
from planner_mcp.formats.tables.sheets.text_tables import MAX_COLUMNS, SPLIT, Table, check_headers, too_large
from planner_mcp.text import Json, decimals

_ACCEPTED: Final = "a FeatureCollection of points"
_EXPORT: Final = Fault(
    "",
    "The file is the map of a plan, which says neither how much its tickets are nor how long they take.",
    "stops.xlsx or stops.csv of the plan",
    "Export the plan as CSV and import that.",
)


def is_collection(parsed: Any) -> bool:
    """Return whether a JSON value calls itself a FeatureCollection."""
    return isinstance(parsed, dict) and parsed.get("type") == "FeatureCollection"


def read_points(parsed: Any, *, max_rows: int) -> Table:
    """Return the points of a FeatureCollection as a table; a row's number is that of its feature, from 1.

    Raises:
        TooLargeError: It has more points than allowed.
        InputError: It is no such value, or a feature is no point.
    """
    try:
        features = list(parsed["features"])
    except (TypeError, KeyError):
        raise input_error([Fault("", "The file has no points.", _ACCEPTED)]) from None
    if len(features) > max_rows:
        problem = f"There are more than {max_rows} points."
        raise too_large("/features", problem, f"at most {max_rows}", SPLIT)
    if any(map(_is_route, features)):
        raise input_error([_EXPORT])
    rows, faults = [], []
    for number, feature in enumerate(features, start=1):
        try:
            rows.append((number, _row(feature)))
        except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError):
            hint = "Remove the feature, or make it a point."
            path, accepted = f"/features/{number - 1}", "[lon, lat] of a Point"
            faults.append(Fault(path, "The feature is no point.", accepted, hint, which=(f"feature {number - 1}",)))
    if faults:
        raise input_error(faults)
    headers = tuple(dict.fromkeys(name for _, row in rows for name in row))
    if len(headers) > MAX_COLUMNS:
        problem = f"The points have more than {MAX_COLUMNS} properties."
        raise too_large("/features", problem, f"at most {MAX_COLUMNS}", "Leave out properties that are not needed.")
    if not headers:
        raise input_error([Fault("", "The points have no properties.", _ACCEPTED)])
    check_headers(headers, "/features")
    return Table(headers, tuple(rows))


def _is_route(feature: Any) -> bool:
    """Return whether a feature is the line of an agent, as `plan_maps.py` writes one."""
    properties = feature.get("properties") if isinstance(feature, dict) else None
    return isinstance(properties, dict) and {"agent_id", "distance_m", "start", "end"} <= properties.keys()


def _row(feature: Json) -> dict[str, str]:
    if feature["geometry"]["type"] != "Point":
        raise ValueError("no point")
    lon, lat = feature["geometry"]["coordinates"][:2]
    known = {str(name): value for name, value in (feature.get("properties") or {}).items()}
    if "id" in feature:
        known.setdefault("id", feature["id"])
    cells = {name: _cell(value) for name, value in known.items() if value is not None}
    position = {"lat": decimals(float(lat)), "lon": decimals(float(lon))}
    return {name: cell for name, cell in cells.items() if cell} | position


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return "" if isinstance(value, dict) else str(value).strip()
