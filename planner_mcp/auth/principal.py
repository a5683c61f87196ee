"""Whom a request acts for. Owns where the edge leaves what it proved."""

from collections.abc import Mapping
from typing import Any

from planner_mcp.jobs.model import LOCAL, Principal


def principal_of(scope: Mapping[str, Any]) -> Principal:
    """Return what the edge proved of an ASGI request; the single user without configured auth."""
    found = scope.get("state", {}).get("principal")
    return found if isinstance(found, Principal) else LOCAL
