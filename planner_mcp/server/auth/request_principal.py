"""Keeps in the ASGI scope the principal of a request and whether its audit line is written."""

import math
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

import anyio

from planner_mcp.jobs.principals import LOCAL, Principal


def principal_of(scope: Mapping[str, Any]) -> Principal:
    """Return the authenticated principal of an ASGI request; the local user where no authorization is configured."""
    found = scope.get("state", {}).get("principal")
    return found if isinstance(found, Principal) else LOCAL


def set_principal(scope: MutableMapping[str, Any], principal: Principal) -> None:
    """Store the authenticated principal where outer layers can read it as well."""
    scope.setdefault("state", {})["principal"] = principal


def seconds_left(principal: Principal) -> float:
    """Return the seconds until the credential of a principal expires; infinite where it has no expiry."""
    return math.inf if principal.expires_at is None else max(0.0, principal.expires_at - time.time())


def set_revocation(scope: MutableMapping[str, Any], until_revoked: Callable[[], Awaitable[None]]) -> None:
    """Store the function that waits until the credential of a request is revoked."""
    scope.setdefault("state", {})["until_revoked"] = until_revoked


async def until_refused(scope: Mapping[str, Any]) -> None:
    """Wait until the credential of a request has expired or was revoked."""
    until_revoked = scope.get("state", {}).get("until_revoked", anyio.sleep_forever)
    with anyio.move_on_after(seconds_left(principal_of(scope))):
        await until_revoked()


def mark_audited(scope: MutableMapping[str, Any]) -> None:
    """Note that the audit log has a line about an ASGI request."""
    scope.setdefault("state", {})["is_audited"] = True


def is_audited(scope: Mapping[str, Any]) -> bool:
    """Return whether that was noted."""
    return bool(scope.get("state", {}).get("is_audited"))
