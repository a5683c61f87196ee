"""What the timeline tells of a day (SPEC R1)."""

import itertools
import re
from typing import Any, Final

import pytest

from planner_mcp.render.names import Names
from planner_mcp.render.plan_report import report_page
from planner_mcp.render.svg_drawing import timeline
from planner_mcp.routing.plan import Plan, PlannedRoute, PlanStatus
from planner_mcp.text import clock
from tests.shared.scenarios.planned_days import plan_of

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
    plan = plan_of(DAY, [0, 1, 2])
    assert plan.routes[0].waiting_s == 10 * 60
    drawn = re.findall(r"<title>((?:sets up|waits) [^<]*)</title>", report_page(DAY, plan))
    assert drawn == ["sets up 05:40–06:00", "sets up 06:30–06:50", "waits 06:50–07:00"]


def test_a_long_id_does_not_lie_over_the_bars() -> None:
    """SPEC R1: beside the row it is cut, and hovering tells it whole."""
    name = "van of the northern depot"
    day = {**DAY, "agents": [{"id": name, "capacity": 9}]}
    plan = plan_of(day, [0, 1, 2])
    labels = re.findall(r'class="label"[^>]*>([^<]*)<title>([^<]*)</title>', report_page(day, plan))
    assert labels == [("van of th…", name)]


@pytest.mark.parametrize(
    ("start_s", "end_s", "expected"),
    [
        (0, 0, ["00:00", "00:01"]),
        (28_830, 28_950, ["08:00", "08:01", "08:02", "08:03"]),
        (30_600, 63_000, [f"{hour:02d}:00" for hour in range(8, 19)]),
        (39_060, 232_800, [f"{hour:02d}:00" for hour in range(6, 67, 6)]),
        (0, 10_000_000, [f"{hour:02d}:00" for hour in range(0, 3073, 384)]),
    ],
)
def test_hours_beside_each_other_can_be_read(start_s: float, end_s: float, expected: list[str]) -> None:
    """SPEC R1: whether a plan takes two minutes or a season, first and last label lie around it."""
    route = PlannedRoute("v", (), None, None, start_s, end_s, 0.0, 0.0, 0.0, 0.0)
    plan = Plan(PlanStatus.FEASIBLE, 0.0, (route,), (), 0.0, 0.0, 1, 0, 0)
    drawn = timeline(plan, {}, Names({}, {}), clock)
    labels = re.findall(r'class="small" x="([\d.]+)" y="15">([^<]*)<', drawn)
    assert [label for _, label in labels] == expected
    places = [float(x) for x, _ in labels]
    assert min(after - before for before, after in itertools.pairwise(places)) >= 45
