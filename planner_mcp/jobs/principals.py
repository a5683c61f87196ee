"""The principal of a call and its scopes.

Owns the principal, its opaque id and the names of the scopes. `server/auth` turns credentials into principals.
"""

import base64
import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import Final

from planner_mcp.errors import InsufficientScopeError


@dataclass(frozen=True, slots=True)
class Principal:
    """Whom a call acts for. Built from the token alone (`local` without auth); never from arguments."""

    id: str
    """Issuer, subject and tenant folded into one opaque, colon-free text; the owner of everything it makes."""
    scopes: frozenset[str] = frozenset()
    subject: str = ""
    """The subject as the issuer names it; only for the audit log."""
    tenant: str = ""
    """The customer it belongs to, where the deployment has a tenant claim."""
    group: str = ""
    """Issuer and tenant folded (`group_id`): whose proposed plans it may review; empty without authorization."""
    expires_at: float | None = field(default=None, compare=False)
    """Until when its credential is accepted, in seconds since the epoch; None where that says nothing of it."""
    key_id: str = field(default="", compare=False)
    """Id of the API key it came with; empty for a token."""
    is_guest: bool = field(default=False, compare=False)
    """Whether it reads by a link that was handed on: to a guest all is confidential, whoever wrote it."""
    session_id: str = field(default="", compare=False)
    """Names the session of the dashboard it came with; empty for any other credential."""

    def may(self, scope: str) -> bool:
        """Return whether the principal holds a scope."""
        return scope in self.scopes

    def require(self, scope: str, what: str = "This") -> None:
        """Check that the principal holds a scope.

        Args:
            scope: What it must hold.
            what: What was asked for, as the refusal begins.

        Raises:
            InsufficientScopeError: It lacks the scope.
        """
        if not self.may(scope):
            raise InsufficientScopeError(f"{what} needs the scope {scope}.")

    def as_writer(self) -> "Principal":
        """Return the principal as it writes: on what is its own, whatever it may review (ADR 0041)."""
        return replace(self, scopes=self.scopes - {APPROVE})


def principal_id(issuer: str, subject: str, tenant: str = "") -> str:
    """Return the one opaque name of issuer, subject and tenant: no two triples share it, and it holds no separator."""
    folded = json.dumps([issuer, subject, tenant], ensure_ascii=True).encode()
    return "u-" + base64.b32encode(hashlib.sha256(folded).digest()).decode().lower()[:32]


def group_id(issuer: str, tenant: str = "") -> str:
    """Return the one opaque name of an issuer's tenant; no principal has it, for subjects are never empty."""
    return principal_id(issuer, "", tenant)


READ: Final = "planner:read"
WRITE: Final = "planner:write"
ADMIN: Final = "planner:admin"
"""Reads the audit log; nothing of other principals."""
SENSITIVE: Final = "planner:sensitive"
"""Sees names, addresses, phones, prices and notes unmasked (SPEC R3)."""
APPROVE: Final = "planner:approve"
"""Approves and rejects plans that were proposed (SPEC A5)."""
BRIDGE: Final = "planner:bridge"
"""Calls the tools of a bridge that change something at the service behind it (SPEC O5)."""
SCOPES: Final = frozenset({READ, WRITE, ADMIN, SENSITIVE, APPROVE, BRIDGE})
LOCAL: Final = Principal("local", SCOPES)
"""The single user of a server without configured auth."""
