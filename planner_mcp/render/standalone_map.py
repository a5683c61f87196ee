"""The map of a plan as a picture that stands alone: an SVG file with its own colours, or a PNG made from it.

Owns the colours of pictures outside a page: plain ones that every viewer knows, on a light ground. Shapes are
`svg_drawing.py`. Text in a PNG is drawn with the fonts of the machine; a container without fonts shows no names
(ADR 0010).
"""

import colorsys
from html import escape
from typing import Any, Final

from planner_mcp.render.label_text import isolated
from planner_mcp.render.map_positions import positions, unassigned_places
from planner_mcp.render.svg_drawing import MAP_HEIGHT, MAP_WIDTH, NO_LINES, Lines, map_shapes
from planner_mcp.routing.plan import Plan

PNG_WIDTH: Final = 1080
"""One and a half times the drawing's own size."""
_FONTS: Final = "'Noto Sans','Noto Sans CJK SC','DejaVu Sans','Liberation Sans',Arial,sans-serif"
_STYLE: Final = f"""
.ground{{fill:#fbfaf7}} text{{font:12px {_FONTS};fill:#1d2126}} .small{{fill:#6b7078;font-size:11px;text-anchor:middle}}
.grid{{stroke:#e4e1d9;stroke-width:1}} polyline{{fill:none;stroke-width:2;stroke-linejoin:round;stroke-opacity:.85}}
.stop{{stroke:#fff;stroke-width:1.4}} .depot{{fill:#1d2126;stroke:#fff;stroke-width:2}}
.depot-name{{font-weight:600;paint-order:stroke;stroke:#fbfaf7;stroke-width:4px}}
.cross{{stroke:#c4261d;stroke-width:2.4;fill:none}} .scale,.north{{stroke:#6b7078;fill:none;stroke-width:1.4}}
"""


def map_svg(scenario: dict[str, Any], plan: Plan, lines: Lines = NO_LINES) -> str:
    """Return the map as an SVG document.

    Args:
        scenario: As given to `create_scenario`.
        plan: The plan.
        lines: (lat, lon) along the roads by agent.
    """
    places, is_plane = positions(scenario)
    unassigned = unassigned_places(scenario, plan)
    shapes = map_shapes(plan, places, unassigned, is_plane=is_plane, lines=lines) if places else [_nowhere()]
    size = f'width="{MAP_WIDTH:g}" height="{MAP_HEIGHT:g}" viewBox="0 0 {MAP_WIDTH:g} {MAP_HEIGHT:g}"'
    style = f"<style>{_STYLE}{_colours(len(plan.routes))}</style>"
    ground = f'<rect class="ground" width="{MAP_WIDTH:g}" height="{MAP_HEIGHT:g}"/>'
    title = f"<title>{escape(isolated(scenario['name']))}, {escape(scenario['planning_date'])}</title>"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>{title}'
    return f"{head}{style}{ground}{''.join(shapes)}</svg>\n"


def map_png(svg: str) -> bytes:
    """Return an SVG document of ours as PNG, `PNG_WIDTH` points wide. Holds the interpreter meanwhile: see `raster`."""
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=svg, width=PNG_WIDTH))


def _nowhere() -> str:
    return f'<text x="{MAP_WIDTH / 2:g}" y="{MAP_HEIGHT / 2:g}" text-anchor="middle">No positions are known.</text>'


def _colours(count: int) -> str:
    """Return a colour a route, neighbours far apart on the circle of hues and told apart by lightness too."""
    rules = []
    for index in range(count):
        hue = (0.07 + index / max(count, 1)) % 1
        channels = colorsys.hls_to_rgb(hue, 0.36 if index % 2 else 0.45, 0.72)
        colour = "#" + "".join(f"{round(255 * channel):02x}" for channel in channels)
        rules.append(f".r{index} polyline{{stroke:{colour}}} .r{index} .stop{{fill:{colour}}}")
    return "\n".join(rules)
