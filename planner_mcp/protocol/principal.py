"""Whom a request acts for. Owns where the edge leaves what it proved."""

from starlette.requests import Request

from planner_mcp.jobs.model import LOCAL, Principal


def principal_of(request: Request | None) -> Principal:
    """Return what the edge proved of a request; the single user without auth, or over stdio."""
    found = request.scope.get("state", {}).get("principal") if request is not None else None
    return found if isinstance(found, Principal) else LOCAL
