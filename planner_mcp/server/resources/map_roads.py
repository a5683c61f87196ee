"""What lies under a map: the roads of its box from the extract of the road engine, and the routes along them.

Owns what a page gets of both, in bounded size. The box follows from the positions that the reader is shown, so a
masked reader learns of no other place; routes along roads are for those alone who may see exact positions. Where no
extract is loaded there are no roads, and a page draws a grid.
"""

from collections.abc import Mapping
from typing import Final

from planner_mcp.jobs.limits.fair_limiter import FairLimiter
from planner_mcp.render.svg_drawing import Roads
from planner_mcp.routing.scenario.coordinates import Lines, globe_positions
from planner_mcp.routing.scenario.shown_scenario import ShownScenario
from planner_mcp.server.resources.json_resources import Variables
from planner_mcp.server.resources.rendering_resources import drawn_plan, plan_file
from planner_mcp.server.resources.resource_definition import JSON, Contents, ReadContext
from planner_mcp.text import ATTRIBUTION, Json, compact
from planner_mcp.travel.drawn_roads import MAX_BYTES, UNITS, Box, coded, thinned

_limiter: Final = FairLimiter()


async def map_ground(reading: ReadContext, plan_id: str) -> Json:
    """Return roads and lines of a plan, coded in the coordinates of its scenario as the reader is shown it."""
    scenario, _plan, lines, roads = await drawn_plan(reading, plan_id)
    return await _limiter.run(reading.principal.id, _coded, scenario, roads, lines)


def _coded(scenario: ShownScenario, roads: Roads, lines: Lines) -> Json:
    box = Box.around(globe_positions(scenario).values())
    if box is None or not (any(roads) or lines):
        return {"roads": [], "lines": {}}
    crs = (scenario.get("travel") or {}).get("crs") or "wgs84"
    origin = round(box.south * UNITS), round(box.west * UNITS)
    return {
        "origin": origin,
        "attribution": ATTRIBUTION,
        "roads": [[coded(line, origin, crs) for line in rank] for rank in roads],
        "lines": _bounded(lines, box.step, origin, crs),
    }


def _bounded(lines: Lines, step: float, origin: tuple[int, int], crs: str) -> Mapping[str, list[int]]:
    """Return lines in as many bytes as roads may have: with fewer points the more they are."""
    while True:
        found = {agent: coded(thinned(line, step), origin, crs) for agent, line in lines.items()}
        if len(compact(found)) <= MAX_BYTES or step > 1:
            return found
        step *= 2


async def _read(reading: ReadContext, variables: Variables) -> Contents:
    return Contents(JSON, compact(await map_ground(reading, variables["plan_id"])))


ROADS: Final = plan_file(
    "roads.json", "plan-roads", "Roads under a map", "What a page draws below the routes.", JSON, _read, 0.1
)
