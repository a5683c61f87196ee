"""The map of a plan as a picture that stands alone: an SVG file with its own colours, or a PNG made from it.

Owns the colours of pictures outside a page: plain ones that every viewer knows, on a light ground. Shapes are
`svg_drawing.py`. Text in a PNG is drawn with the fonts of the machine; a container without fonts shows no names
(ADR 0010).
"""

from collections.abc import Iterator
from functools import cache
from html import escape
from math import ceil
from typing import Final

from planner_mcp.render.label_text import fitted, isolated, length, length_unit, unit_name
from planner_mcp.render.names import Names
from planner_mcp.render.page_words import Words, page_words_of
from planner_mcp.render.route_colours import colours_of, dash_of
from planner_mcp.render.svg_drawing import MAP_HEIGHT, MAP_WIDTH, Roads, map_shapes
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.scenario.coordinates import NO_LINES, Lines
from planner_mcp.routing.scenario.shown_scenario import ShownScenario

PNG_WIDTH: Final = 1080
"""One and a half times the drawing's own size."""
_HEAD: Final = 56.0
"""Height of the title above the map."""
_ROW: Final = 22.0
"""Height of a row of the legend; below the last one is `_FOOT`."""
_FOOT: Final = 16.0
_COLUMNS: Final = 2
"""Of the legend, each wide enough for a long name with its figures."""
_MOST_ENTRIES: Final = 30
"""Routes that the legend names."""
_FONTS: Final = (
    "'Noto Sans','Noto Sans CJK SC','WenQuanYi Micro Hei','PingFang SC','Microsoft YaHei','DejaVu Sans',"
    "'Liberation Sans',Arial,sans-serif"
)
"""The first that a machine has; a character that it lacks is drawn with any font that has it."""
_NO_CHARACTER: Final = "\U0010fffd"
"""That no font has."""
_STYLE: Final = f"""
.ground{{fill:#fbfaf7}} text{{font:12px {_FONTS};fill:#1d2126}} .small{{fill:#6b7078;font-size:11px;text-anchor:middle}}
.grid{{stroke:#e4e1d9;stroke-width:1}} .road{{fill:none;stroke:#d3cec1;stroke-width:.8;stroke-linejoin:round}}
.k0{{stroke-width:3.4}} .k1{{stroke-width:2.8}} .k2{{stroke-width:2.2}} .k3{{stroke-width:1.6}}
polyline,.legend line,.spur{{fill:none;stroke-width:2;stroke-linejoin:round;stroke-opacity:.85}}
.spur{{stroke-width:1.2;stroke-dasharray:2 2.5}}
.stop{{stroke:#fff;stroke-width:1.4}} .depot{{fill:#1d2126;stroke:#fff;stroke-width:2}}
.depot-name{{font-weight:600;paint-order:stroke;stroke:#fbfaf7;stroke-width:4px}}
.title{{font-size:17px;font-weight:600}} .facts{{fill:#6b7078}}
.number{{font-size:9px;font-weight:600;fill:#fff;text-anchor:middle}}
.cross{{stroke:#c4261d;stroke-width:2.4;fill:none}} .scale,.north{{stroke:#6b7078;fill:none;stroke-width:1.4}}
"""


def map_svg(scenario: ShownScenario, plan: Plan, lines: Lines = NO_LINES, roads: Roads = ()) -> str:
    """Return the map as an SVG document, with its title above and a legend below.

    Args:
        roads: What is drawn below, by rank.
    """
    words = page_words_of(scenario)
    shapes = map_shapes(scenario, plan, Names.of(scenario), lines, roads) or [
        f'<text x="{MAP_WIDTH / 2:g}" y="{MAP_HEIGHT / 2:g}" text-anchor="middle">{words["nowhere"]}</text>'
    ]
    entries = list(_legend(plan, words))
    height = _HEAD + MAP_HEIGHT + _ROW * ceil(len(entries) / _COLUMNS) + _FOOT
    style = f"<style>{_STYLE}{_colours(len(plan.routes))}</style>"
    ground = f'<rect class="ground" width="{MAP_WIDTH:g}" height="{height:g}"/>'
    body = f'<svg y="{_HEAD:g}" width="{MAP_WIDTH:g}" height="{MAP_HEIGHT:g}">{"".join(shapes)}</svg>'
    legend = "".join(_placed(index, entry) for index, entry in enumerate(entries))
    size = f'width="{MAP_WIDTH:g}" height="{height:g}" viewBox="0 0 {MAP_WIDTH:g} {height:g}"'
    title = f"<title>{escape(isolated(scenario['name']))}, {escape(scenario['planning_date'])}</title>"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>{title}{style}{ground}'
    return f"{head}{_heading(scenario, plan, words)}{body}{legend}</svg>\n"


def _heading(scenario: ShownScenario, plan: Plan, words: Words) -> str:
    """Return name and date of the day, and the figures of the plan."""
    unit = length_unit(plan)
    figures = [
        words["served"].format(plan.tickets_served, plan.tickets_total),
        f"{length(plan.distance_m, unit)} {unit_name(unit, words)}",
        words["agents"].format(plan.agents_used),
    ]
    name = f"{escape(isolated(fitted(scenario['name'], 60)))}, {escape(scenario['planning_date'])}"
    return (
        f'<text class="title" x="18" y="26">{name}</text><text class="facts" x="18" y="44">{", ".join(figures)}</text>'
    )


def _legend(plan: Plan, words: Words) -> Iterator[str]:
    """Yield the shapes of each entry: one a route, as many as there is room for, then the signs that occur."""
    unit = length_unit(plan)
    for index, route in enumerate(plan.routes[:_MOST_ENTRIES]):
        facts = f"{len(route.visits)} {words['stops']}, {length(route.distance_m, unit)} {unit_name(unit, words)}"
        name = escape(isolated(fitted(route.agent_id, 16)))
        line = f'<g class="r{index}"><line x2="22" y1="-4" y2="-4"/><circle cx="11" cy="-4" r="4"/></g>'
        yield f'{line}<text x="30">{name}: {facts}</text>'
    if (more := len(plan.routes) - _MOST_ENTRIES) > 0:
        yield f'<text x="30">{words["more"].format(more)}</text>'
    yield f'<rect class="depot" x="4" y="-11" width="14" height="14" rx="3"/><text x="30">{words["depot"]}</text>'
    if plan.unassigned:
        yield f'<path class="cross" d="M6 -9l10 10m0-10l-10 10"/><text x="30">{words["left_out"]}</text>'


def _placed(index: int, entry: str) -> str:
    row, column = divmod(index, _COLUMNS)
    x, y = 18 + column * (MAP_WIDTH - 36) / _COLUMNS, _HEAD + MAP_HEIGHT + 22 + row * _ROW
    return f'<g class="legend" transform="translate({x:g} {y:g})">{entry}</g>'


def map_png(svg: str) -> bytes:
    """Return an SVG document of ours as PNG, `PNG_WIDTH` points wide. Holds the interpreter meanwhile: see `raster`."""
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=svg, width=PNG_WIDTH))


def can_draw(character: str) -> bool:
    """Return whether a font of this machine has a character, so that it is seen in a PNG."""
    return _drawn(character) != _drawn(_NO_CHARACTER)


@cache
def _drawn(character: str) -> bytes:
    """Return the picture of a character. Reading the fonts of a machine takes 50 ms; a process finds the same ones."""
    return map_png(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><style>{_STYLE}</style>'
        f'<text x="9" y="24">{character}</text></svg>'
    )


def _colours(count: int) -> str:
    """Return the colour of each route, and how its line is dashed."""
    rules = []
    for index in range(count):
        colour, _dark = colours_of(index)
        line = f"stroke:{colour};stroke-dasharray:{dash_of(index)}"
        rules.append(f".r{index} polyline,.r{index} line{{{line}}} .r{index} circle{{fill:{colour}}}")
        rules.append(f".r{index} .spur{{stroke:{colour}}} .r{index} .arrow{{fill:{colour}}}")
    return "\n".join(rules)
