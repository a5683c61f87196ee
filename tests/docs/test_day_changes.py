"""The examples of the page on changes of a day are what `resolve_vrp` takes (SPEC T5)."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.feasibility.infeasibility_faults import infeasibility_faults
from planner_mcp.routing.problem import Candidate
from planner_mcp.routing.scenario.field_types import read_date
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from planner_mcp.routing.scenario.scenario_patch import patch_faults, revise
from planner_mcp.server.tools.arguments.day_changes import DayChanger, hour_seconds
from planner_mcp.server.tools.solves.resolve_vrp import ResolveArguments
from tests.shared.scenarios.scenario_builders import agent, body, compiled, ticket

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "day-changes.md"
EXAMPLES = [json.loads(text) for text in re.findall(r"```json day-change=1\n(.*?)```", PAGE.read_text(), re.DOTALL)]
HOURS = {"shift_start": "08:00", "shift_end": "17:00"}
DAY = body(
    [agent("van-1", **HOURS), agent("van-2", **HOURS)],
    [
        ticket("a", "A", time_windows=[["08:00", "08:30"]]),
        ticket("b", "A", time_windows=[["08:00", "08:30"]], service_time_s=1800),
        ticket("c", "B", time_windows=[["10:00", "16:00"]]),
        ticket("d", "B", time_windows=[["10:00", "16:00"]]),
    ],
    locations=[{"id": "D", "x": 0, "y": 0}, {"id": "A", "x": 600, "y": 0}, {"id": "B", "x": 1800, "y": 0}],
)
WORDS = {"breakdown", "absent", "late_by", "new_ticket", "cancelled_ticket", "no_show"}


def test_every_word_has_an_example() -> None:
    """SPEC T5: the page shows each word once."""
    assert {word for example in EXAMPLES for word in example if word in WORDS} == WORDS


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: next(iter(example)))
def test_an_example_changes_the_day(example: dict[str, Any]) -> None:
    """SPEC T5: the words come to a patch that gives a day which can be planned."""
    asked = ResolveArguments.model_validate({"warm_from": "job-0-x", **example})
    problem = compiled(DAY)
    plan = build_plan(problem, Candidate.of_tickets({0: [0], 1: [1, 2, 3]}))
    hour = asked.breakdown.at if asked.breakdown else asked.keep_until
    planned_on = read_date(DAY["planning_date"])
    until_s = None if hour is None else hour_seconds(hour, planned_on)
    changed = DayChanger(asked, DAY, plan, until_s, planned_on).changed()
    assert changed.patch
    assert list(patch_faults(DAY, changed.patch)) == []
    parse_scenario(revise(DAY, changed.patch), prove_infeasible=infeasibility_faults)
