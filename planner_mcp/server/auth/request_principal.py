"""Whom a request acts for, and whether its audit line is written. Owns where the layers of a request leave both."""

import math
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

import anyio

from planner_mcp.jobs.principals import LOCAL, Principal


def principal_of(scope: Mapping[str, Any]) -> Principal:
    """Return what the edge proved of an ASGI request; the single user without configured auth."""
    found = scope.get("state", {}).get("principal")
    return found if isinstance(found, Principal) else LOCAL


def set_principal(scope: MutableMapping[str, Any], principal: Principal) -> None:
    """Leave what the edge proved, where layers outside of this one see it too."""
    scope.setdefault("state", {})["principal"] = principal


def seconds_left(principal: Principal) -> float:
    """Return how long the credential of a principal will be accepted yet; infinite where it says nothing of that."""
    return math.inf if principal.expires_at is None else max(0.0, principal.expires_at - time.time())


def set_revocation(scope: MutableMapping[str, Any], until_revoked: Callable[[], Awaitable[None]]) -> None:
    """Leave a way to wait until the credential of a request is revoked."""
    scope.setdefault("state", {})["until_revoked"] = until_revoked


async def until_refused(scope: Mapping[str, Any]) -> None:
    """Wait until the credential of a request would be accepted no more: it has expired, or was revoked."""
    until_revoked = scope.get("state", {}).get("until_revoked", anyio.sleep_forever)
    with anyio.move_on_after(seconds_left(principal_of(scope))):
        await until_revoked()


def mark_audited(scope: MutableMapping[str, Any]) -> None:
    """Note that a line of the audit log says what became of an ASGI request."""
    scope.setdefault("state", {})["is_audited"] = True


def is_audited(scope: Mapping[str, Any]) -> bool:
    """Return whether that was noted."""
    return bool(scope.get("state", {}).get("is_audited"))
