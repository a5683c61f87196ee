"""What the Lua steps are given from Python."""

import re
from collections.abc import Mapping

import pytest

from planner_mcp.jobs.job_lifecycle import TRANSITIONS
from planner_mcp.jobs.plan_review import REVIEWS
from planner_mcp.jobs.store.lua_scripts import load_steps
from planner_mcp.settings import Settings


@pytest.mark.parametrize(("name", "table"), [("MOVES", TRANSITIONS), ("REVIEWS", REVIEWS)])
def test_lua_is_given_the_tables_of_transitions(name: str, table: Mapping[tuple[str, str], str]) -> None:
    """Our choice: each table lives once."""
    (line,) = re.findall(rf"^local {name} = (.*)$", load_steps(Settings())["review"].head, re.MULTILINE)
    assert {tuple(pair): target for *pair, target in re.findall(r'\["(\w+):(\w+)"\] = "(\w+)"', line)} == table
