"""The engines that tools offer are those that workers have."""

from typing import get_args

from planner_mcp.routing.engine_names import EngineName
from workers.engines.selection import engine_registry


def test_the_names_that_tools_accept_are_those_of_the_registry() -> None:
    """SPEC T6: a name that `solve_vrp` accepts is an engine, and every engine can be named."""
    assert sorted(engine_registry.names()) == list(get_args(EngineName))
