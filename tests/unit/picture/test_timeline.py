"""What the timeline tells of a day (SPEC R1)."""

import re
from typing import Any, Final

from planner_mcp.picture.report import page
from planner_mcp.vrp.compile.compiler import compile_scenario
from planner_mcp.vrp.layout.schedule import lay_out
from planner_mcp.vrp.problem import Candidate
from planner_mcp.vrp.scenario import parse_scenario

STOP: Final = {"demand": 1, "service_time_s": 600, "setup_time_s": 1200}
DAY: Final[dict[str, Any]] = {
    "name": "day",
    "planning_date": "2025-07-15",
    "depot": "D",
    "locations": [{"id": "D", "x": 0, "y": 0}, {"id": "A", "x": 3600, "y": 0}, {"id": "B", "x": 4200, "y": 0}],
    "agents": [{"id": "v", "capacity": 9}],
    "tickets": [
        {"id": "t1", "location": "A", **STOP, "time_windows": [["06:00", "06:00"]]},
        {"id": "t2", "location": "A", **STOP},
        {"id": "t3", "location": "B", **STOP, "time_windows": [["07:00", "08:00"]]},
    ],
}


def test_setting_up_is_not_called_waiting() -> None:
    """SPEC R1: the setup is told apart, once for tickets in a row at one location; what is left is waited."""
    plan = lay_out(compile_scenario(parse_scenario(DAY)), Candidate.of_tickets({0: [0, 1, 2]})).as_json()
    assert plan["routes"][0]["waiting_s"] == 10 * 60
    drawn = re.findall(r"<title>((?:sets up|waits) [^<]*)</title>", page(DAY, plan))
    assert drawn == ["sets up 05:40–06:00", "sets up 06:30–06:50", "waits 06:50–07:00"]


def test_a_long_id_does_not_lie_over_the_bars() -> None:
    """SPEC R1: beside the row it is cut, and hovering tells it whole."""
    name = "van of the northern depot"
    day = {**DAY, "agents": [{"id": name, "capacity": 9}]}
    plan = lay_out(compile_scenario(parse_scenario(day)), Candidate.of_tickets({0: [0, 1, 2]})).as_json()
    assert re.findall(r'class="label"[^>]*>([^<]*)<title>([^<]*)</title>', page(day, plan)) == [("van of th…", name)]
