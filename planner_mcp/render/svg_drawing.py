"""Draws a plan as SVG: a route map, a timeline and the curve of costs.

Owns shapes and their places; words around them and colours are those of `plan_report.py` with `report.css`, and of
`standalone_map.py`. Nothing is fetched: no tiles, no fonts, no scripts. A route carries the class `r<n>`, so that a
page can light it up everywhere at once; hovering any shape shows its `<title>`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain, count, pairwise
from math import atan2, ceil, cos, degrees, dist, floor, hypot, log10, pi
from typing import Any, Final

from planner_mcp.render.label_text import fitted, isolated, length, length_unit, money, scale
from planner_mcp.render.names import Names
from planner_mcp.routing.plan import Plan, PlannedRoute, Visit
from planner_mcp.routing.scenario.coordinates import Lines, Position, globe_positions
from planner_mcp.routing.scenario.shown_scenario import ShownScenario
from planner_mcp.text import ATTRIBUTION, DAY_S, clock, plain

MAP_WIDTH: Final = 720.0
MAP_HEIGHT: Final = 560.0
_MARGIN: Final = 28.0
_METRES_PER_DEGREE: Final = 111_195.0
"""Of latitude, on a sphere of 6371 km."""
_LEAST_DEGREES: Final = 1e-3
"""That a map is high and wide: about a hundred metres, the length of a yard."""
_LEAST_UNITS: Final = 1e-3
_ONE_SPOT_UNITS: Final = 1.0
"""That a map of a plane is high and wide where all places are one."""
_ROW: Final = 26.0
_LABEL: Final = 70.0
_LABEL_CHARS: Final = 10
"""Of an agent's id that fit beside its row; the whole id shows on hovering."""
_DEPOT_COLUMNS: Final = 24
"""Of a depot's name; the whole name shows on hovering."""
_CHART_WIDTH: Final = 1120.0
_TICK: Final = 80.0
"""Least room of an hour's label; "2777:46" takes half of it, and paper is two thirds as wide as the drawing."""
_TIMES_WIDTH: Final = _CHART_WIDTH - _LABEL - 36
_TICKS_S: Final = (60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, DAY_S)
"""What may lie between two labels; beyond, days by powers of two."""
_SHORTEST_S: Final = 60
"""Of what is drawn between arrival and service."""

Point = tuple[float, float]
"""(x, y) in points of the drawing."""
Roads = Sequence[Sequence[Sequence[Position]]]
"""Positions along each road of a rank, main roads first."""
MOST_NUMBERS: Final = 200
"""Stops of a map that show their numbers; those of a larger plan would cover each other and are dots."""
_ARROW_EVERY: Final = 34.0
"""Points of a line between two arrow heads."""
_ARROW_EVERY_ROAD: Final = 80.0
"""Points between two arrow heads of a line that follows the bends of roads."""
_LEAST_ARROW: Final = 4.0
"""Of a piece that has one."""
_LEAST_STEP: Final = 0.7
"""Points of the map between two points of a line that can be distinguished."""


@dataclass(frozen=True, slots=True)
class Projection:
    """Turns a place into a point of the map, keeping distances true at the middle latitude."""

    middle: Position
    """Of what the map shows, half way between its outermost places."""
    stretch: float
    """Share of a degree of latitude that a degree of longitude measures; 1 in the plane."""
    scale: float
    """Points per degree of latitude (or plane unit)."""
    is_plane: bool

    @staticmethod
    def around(places: Iterable[Position], *, is_plane: bool) -> "Projection":
        """Return the projection that fills the map with these places."""
        lats, lons = zip(*places, strict=True)
        west, east = (min(lons), max(lons)) if is_plane else _shortest_span(lons)
        middle = ((min(lats) + max(lats)) / 2, (west + east) / 2)
        stretch = 1.0 if is_plane else cos(middle[0] * pi / 180)
        width, height = (east - west) * stretch, max(lats) - min(lats)
        least = _least_extent(max(width, height), is_plane=is_plane)
        across, down = (MAP_WIDTH - 2 * _MARGIN) / max(width, least), (MAP_HEIGHT - 2 * _MARGIN) / max(height, least)
        return Projection(middle, stretch, min(across, down), is_plane)

    def point(self, place: Position) -> Point:
        """Return (x, y) in points of the map."""
        north, east = place[0] - self.middle[0], place[1] - self.middle[1]
        if not self.is_plane:
            east = (east + 180) % 360 - 180
        return MAP_WIDTH / 2 + east * self.stretch * self.scale, MAP_HEIGHT / 2 - north * self.scale

    @property
    def points_per_metre(self) -> float:
        """Length of a metre (or plane unit) on the map."""
        return self.scale / (1.0 if self.is_plane else _METRES_PER_DEGREE)


def _least_extent(extent: float, *, is_plane: bool) -> float:
    """Return how wide and high a map is at least, of places that lie so far apart."""
    if not is_plane:
        return _LEAST_DEGREES
    return _LEAST_UNITS if extent else _ONE_SPOT_UNITS


def _shortest_span(lons: Sequence[float]) -> tuple[float, float]:
    """Return west and east of the shortest span around all longitudes; east exceeds 180 where it crosses there."""
    ordered = sorted(lons)
    gaps = [(after - before, after) for before, after in pairwise(ordered)]
    widest, west = max([(ordered[0] + 360 - ordered[-1], ordered[0]), *gaps])
    return west, west + 360 - widest


def route_map(scenario: ShownScenario, plan: Plan, names: Names, lines: Lines, roads: Roads) -> str:
    """Return the map as an element of a page that styles it, empty without positions; arguments as for `map_shapes`."""
    shapes = map_shapes(scenario, plan, names, lines, roads)
    return _svg("map", MAP_WIDTH, MAP_HEIGHT, "Route map", shapes) if shapes else ""


def map_shapes(scenario: ShownScenario, plan: Plan, names: Names, lines: Lines, roads: Roads) -> list[str]:
    """Return what is on the map: each route a line with its stops, depots as squares, tickets left out as crosses.

    Up to `MOST_NUMBERS` stops show their number in their route. Where no position is known there is nothing.

    Args:
        lines: Points along the roads by agent; the other routes are straight from stop to stop.
        roads: What is drawn below; without roads it is a grid.
    """
    places, is_plane = _positions(scenario)
    if not places:
        return []
    where = {ticket["id"]: ticket["location"] for ticket in scenario["tickets"]}
    projection = Projection.around(chain(places.values(), *lines.values()), is_plane=is_plane)
    parts = [*(_roads(projection, roads) if any(roads) else _grid(projection))]
    unit = length_unit(plan)
    shown = {name: projection.point(place) for name, place in places.items()}
    has_numbers = sum(len(route.visits) for route in plan.routes) <= MOST_NUMBERS
    for index, route in enumerate(plan.routes):
        line = [projection.point(place) for place in lines.get(route.agent_id, ())]
        parts.append(_route(index, route, shown, unit, names, line=line, has_numbers=has_numbers))
    parts += [_depot(names.place(name), shown[name]) for name in _depots(plan, places)]
    parts += [
        _cross(shown[place], f"{names.ticket(entry.ticket_id)}: {entry.code}")
        for entry in plan.unassigned
        if (place := where[entry.ticket_id]) in shown
    ]
    return [*parts, _scale_bar(projection), _north(), *([_attribution()] if lines or any(roads) else [])]


def _positions(scenario: ShownScenario) -> tuple[dict[str, Position], bool]:
    """Return (lat, lon) in WGS-84, or (y, x) in units of a plane, by location, and whether it is a plane."""
    plane = {
        place["id"]: (y, x)
        for place in scenario.get("locations") or ()
        if (x := place.get("x")) is not None and (y := place.get("y")) is not None
    }
    return (plane, True) if plane else (globe_positions(scenario), False)


def _svg(kind: str, width: float, height: float, label: str, parts: Iterable[str]) -> str:
    head = f'<svg class="{kind}" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{label}">'
    return head + "".join(parts) + "</svg>"


def _title(text: str) -> str:
    return f"<title>{escape(text)}</title>"


def _round_step(target: float) -> float:
    """Return 1, 2 or 5 times a power of ten, at most `target`."""
    base = 10.0 ** floor(log10(target))
    return base * max(step for step in (1, 2, 5) if step * base <= target)


def _grid(projection: Projection) -> Iterable[str]:
    step = _round_step(90 / projection.points_per_metre) * projection.points_per_metre
    for index in range(1, int(MAP_WIDTH / step) + 1):
        yield f'<line class="grid" x1="{index * step:.1f}" x2="{index * step:.1f}" y1="0" y2="{MAP_HEIGHT:g}"/>'
    for index in range(1, int(MAP_HEIGHT / step) + 1):
        yield f'<line class="grid" y1="{index * step:.1f}" y2="{index * step:.1f}" x1="0" x2="{MAP_WIDTH:g}"/>'


def _roads(projection: Projection, roads: Roads) -> Iterable[str]:
    """Yield a path a rank, side streets first, so that main roads lie above them."""
    for rank, lines in reversed(list(enumerate(roads))):
        drawn = "".join(f"M{_points(_thinned(projection.point(place) for place in line))}" for line in lines)
        yield f'<path class="road k{rank}" d="{drawn}"/>'


def _points(line: Iterable[Point]) -> str:
    return "L".join(f"{x:.1f},{y:.1f}" for x, y in line)


def _depots(plan: Plan, places: dict[str, Position]) -> list[str]:
    """Return where routes start, end or reload."""
    ends = {end for route in plan.routes for end in (route.start_location, route.end_location)}
    ends |= {visit.location for route in plan.routes for visit in route.visits if visit.kind == "reload"}
    return sorted(end for end in ends if end in places)


def _route(
    index: int,
    route: PlannedRoute,
    shown: Mapping[str, Point],
    unit: str,
    names: Names,
    *,
    line: Sequence[Point],
    has_numbers: bool,
) -> str:
    """Return the line and the dots of a route; stops are counted as in every form, those without a place too."""
    ends = [route.start_location, *(visit.location for visit in route.visits), route.end_location]
    points = _thinned(line) if line else [shown[name] for name in ends if name and name in shown]
    drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    stops = [
        (number, visit, shown[visit.location])
        for number, visit in enumerate(route.visits, 1)
        if visit.ticket_id is not None and visit.location is not None and visit.location in shown
    ]
    dots = [_stop(number, visit, point, names, has_number=has_numbers) for number, visit, point in stops]
    facts = f"{len(route.visits)} stops, {length(route.distance_m, unit)} {unit}"
    span = f"{clock(route.start_s)}–{clock(route.end_s)}"
    title = _title(f"{isolated(route.agent_id)}: {facts}, {span}")
    spurs = "".join(f"M{_points([point, _nearest(points, point)])}" for _, _, point in stops) if line else ""
    ways = [f'<path class="spur" d="{spurs}"/>'] if spurs else []
    shapes = "".join([*ways, *_arrows(points, _ARROW_EVERY_ROAD if line else _ARROW_EVERY), *dots])
    return f'<g class="route r{index}"><polyline points="{drawn}">{title}</polyline>{shapes}</g>'


def _nearest(line: Sequence[Point], point: Point) -> Point:
    """Return the point of a line that is nearest to another point."""
    feet = (_foot(start, end, point) for start, end in pairwise(line))
    return min(feet, key=lambda foot: dist(foot, point), default=line[0])


def _foot(start: Point, end: Point, point: Point) -> Point:
    """Return the point of a segment that is nearest to another point."""
    (x, y), (east, south) = start, (end[0] - start[0], end[1] - start[1])
    square = east * east + south * south
    share = ((point[0] - x) * east + (point[1] - y) * south) / square if square else 0.0
    share = min(1.0, max(0.0, share))
    return x + share * east, y + share * south


def _arrows(points: Sequence[Point], every: float) -> Iterable[str]:
    """Yield heads that show the direction of a line, each in the middle of a piece that is long enough."""
    since = 0.0
    for (x, y), (to_x, to_y) in pairwise(points):
        length = hypot(to_x - x, to_y - y)
        since += length
        if since >= every and length >= _LEAST_ARROW:
            since = 0.0
            middle, turn = f"{(x + to_x) / 2:.1f} {(y + to_y) / 2:.1f}", degrees(atan2(to_y - y, to_x - x))
            yield f'<path class="arrow" d="M-4-3.4L4 0L-4 3.4z" transform="translate({middle}) rotate({turn:.0f})"/>'


def _thinned(points: Iterable[Point]) -> list[Point]:
    """Return points without those that are too near the one before to be seen apart; the last one stays."""
    kept: list[Point] = []
    last = None
    for x, y in points:
        last = (x, y)
        if not kept or abs(x - kept[-1][0]) + abs(y - kept[-1][1]) >= _LEAST_STEP:
            kept.append(last)
    return kept if last is None or kept[-1] == last else [*kept, last]


def _attribution() -> str:
    """Return whom to name for roads (ODbL 1.0, section 4.3)."""
    return f'<text class="small" x="{MAP_WIDTH / 2:g}" y="{MAP_HEIGHT - 6:g}">{ATTRIBUTION}</text>'


def _stop(number: int, visit: Visit, point: Point, names: Names, *, has_number: bool) -> str:
    x, y = point
    title = _title(f"{number}. {names.stop(visit)}, {clock(visit.start_s)}")
    radius = (7 if number < 100 else 9) if has_number else 4.2
    dot = f'<circle class="stop" cx="{x:.1f}" cy="{y:.1f}" r="{radius}">{title}</circle>'
    return dot + (f'<text class="number" x="{x:.1f}" y="{y + 3:.1f}">{number}</text>' if has_number else "")


def _depot(name: str, point: Point) -> str:
    x, y = point
    label = escape(fitted(name, _DEPOT_COLUMNS))
    square = f'<rect class="depot" x="{x - 7:.1f}" y="{y - 7:.1f}" width="14" height="14" rx="3"/>'
    anchor, dx = ("end", -12) if x > MAP_WIDTH - 130 else ("start", 12)
    text = f'<text class="depot-name" x="{x + dx:.1f}" y="{y + 4:.1f}" text-anchor="{anchor}">{label}</text>'
    return f"<g>{_title(name)}{square}{text}</g>"


def _cross(point: Point, text: str) -> str:
    x, y = point
    return f'<path class="cross" d="M{x - 5:.1f} {y - 5:.1f}l10 10m0-10l-10 10">{_title(text)}</path>'


def _scale_bar(projection: Projection) -> str:
    extent = _round_step(140 / projection.points_per_metre)
    width = extent * projection.points_per_metre
    bar = f'<path class="scale" d="M18 {MAP_HEIGHT - 24:g}v6h{width:.1f}v-6"/>'
    caption = scale(extent, is_plane=projection.is_plane)
    return f'{bar}<text class="small" x="{18 + width / 2:.1f}" y="{MAP_HEIGHT - 28:g}">{caption}</text>'


def _north() -> str:
    return f'<path class="north" d="M{MAP_WIDTH - 26:g} 40l6-20l6 20l-6-4z"><title>North</title></path>'


def timeline(plan: Plan, setups_s: Mapping[str, float], names: Names, moment: Callable[[float], str]) -> str:
    """Return one row an agent: the whole route as a thin bar, service as blocks, setup as low ones, waiting hatched.

    Args:
        setups_s: What setting up takes, by ticket id; spent once for visits in a row at one location.
        moment: How a time is written; with its date where the plan runs past midnight.
    """
    routes = plan.routes
    starts, ends = [route.start_s for route in routes], [route.end_s for route in routes]
    ticks = _ticks(min(starts, default=0), max(ends, default=DAY_S))
    height = _ROW * len(routes) + 30
    points_per_s = _TIMES_WIDTH / (ticks[-1] - ticks[0])

    def at(seconds: float) -> float:
        return _LABEL + (seconds - ticks[0]) * points_per_s

    parts = [
        f'<line class="grid" x1="{at(tick):.1f}" x2="{at(tick):.1f}" y1="22" y2="{height:g}"/>'
        f'<text class="small" x="{at(tick):.1f}" y="15">{moment(tick)}</text>'
        for tick in ticks
    ]
    for index, route in enumerate(routes):
        top = 30 + _ROW * index
        parts.append(f'<g class="route r{index}">{"".join(_row(route, setups_s, top, at, names))}</g>')
    return _svg("timeline", _CHART_WIDTH, height, "Timeline", parts)


def _ticks(start_s: float, end_s: float) -> range:
    """Return the times that are labelled, in seconds: at least two, the span between the first and the last."""
    for step in chain(_TICKS_S, (DAY_S * 2**power for power in count(1))):
        first = floor(start_s / step)
        last = max(ceil(end_s / step), first + 1)
        if (last - first) * _TICK <= _TIMES_WIDTH:
            return range(first * step, last * step + 1, step)
    raise AssertionError  # steps grow without end


def _row(route: PlannedRoute, setups_s: Mapping[str, float], top: float, at: Any, names: Names) -> Iterable[str]:
    middle = top + 8
    name = route.agent_id
    yield f'<text class="label" x="0" y="{top + 12:g}">{escape(plain(name, _LABEL_CHARS))}{_title(name)}</text>'
    left, right = at(route.start_s), at(route.end_s)
    yield f'<line class="drive" x1="{left:.1f}" x2="{right:.1f}" y1="{middle}" y2="{middle}"/>'
    for kind, since, until, does in _standing(route, setups_s):
        if until - since >= _SHORTEST_S:
            yield _block(kind, since, until, top + 4, 8, at, f"{does} {clock(since)}–{clock(until)}")
    for visit in route.visits:
        text = f"{names.stop(visit)}, {clock(visit.start_s)}–{clock(visit.departure_s)}"
        kind = "pause" if visit.ticket_id is None else "service late" if visit.late_s else "service"
        yield _block(kind, visit.start_s, visit.departure_s, top, 16, at, text)


def _standing(route: PlannedRoute, setups_s: Mapping[str, float]) -> Iterable[tuple[str, float, float, str]]:
    """Yield what an agent does between its arrival and the service: kind of block, from when to when, in words."""
    place = None
    for visit in route.visits:
        setup_s = setups_s.get(visit.ticket_id or "", 0) if visit.location != place else 0
        ready_s = min(visit.arrival_s + setup_s, visit.start_s)
        yield "service", visit.arrival_s, ready_s, "sets up"
        yield "wait", ready_s, visit.start_s, "waits"
        place = visit.location or place


def _block(kind: str, start_s: float, end_s: float, top: float, height: float, at: Any, text: str) -> str:
    x, width = at(start_s), max(at(end_s) - at(start_s), 1.5)
    box = f'x="{x:.1f}" y="{top:g}" width="{width:.1f}" height="{height:g}"'
    return f'<rect class="{kind}" {box} rx="2">{_title(text)}</rect>'


def curve(history: Sequence[tuple[float, float]]) -> str:
    """Return the best cost over elapsed seconds as a falling staircase; empty for fewer than two points.

    First plans that still leave tickets out cost thousands of times more; they are not drawn.
    """
    history = [(elapsed, cost) for elapsed, cost in history if cost <= 3 * abs(history[-1][1])]
    if len(history) < 2:
        return ""
    width, height, left, bottom = 520.0, 150.0, 58.0, 22.0
    last = max(history[-1][0], 0.001)
    low, high = min(cost for _, cost in history), max(cost for _, cost in history)

    def point(elapsed_s: float, cost: float) -> str:
        x = left + elapsed_s / last * (width - left - 12)
        y = 12 + (high - cost) / max(high - low, 1e-9) * (height - bottom - 22)
        return f"{x:.1f} {y:.1f}"

    steps = [f"M{point(*history[0])}"]
    for (_, before), (elapsed, cost) in pairwise(history):
        steps.append(f"L{point(elapsed, before)}L{point(elapsed, cost)}")
    y_low = height - bottom - 10
    parts = [
        f'<line class="grid" x1="{left}" x2="{width - 12}" y1="12" y2="12"/>',
        f'<line class="grid" x1="{left}" x2="{width - 12}" y1="{y_low}" y2="{y_low}"/>',
        f'<text class="small end" x="{left - 6}" y="16">{money(high)}</text>',
        f'<text class="small end" x="{left - 6}" y="{y_low + 4}">{money(low)}</text>',
        f'<text class="small end" x="{width - 12}" y="{height - 4}">{last:.1f} s</text>',
        f'<path class="curve" d="{"".join(steps)}"/>',
    ]
    return _svg("convergence", width, height, "Best cost over time", parts)
