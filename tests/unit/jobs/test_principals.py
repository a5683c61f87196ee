"""Whom a call acts for."""

import pytest

from planner_mcp.errors import InsufficientScopeError
from planner_mcp.jobs.principals import READ, WRITE, Principal


def test_a_missing_scope_is_named_in_the_error() -> None:
    """SPEC A3: and what needs it; who holds the scope passes."""
    reader = Principal("ann", frozenset({READ}))
    reader.require(READ)
    with pytest.raises(InsufficientScopeError, match="This needs the scope planner:write"):
        reader.require(WRITE)
    with pytest.raises(InsufficientScopeError, match="The tool solve_vrp needs the scope planner:write"):
        reader.require(WRITE, what="The tool solve_vrp")
