"""What is kept of an API key, and the store that finds it by its id.

`server/auth/api_key_auth.py` creates and verifies keys.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from planner_mcp.jobs.principals import principal_id

ISSUER: Final = "urn:planner-mcp:keys"
"""Takes the place of a token's issuer, so that subjects of keys and of issuers never coincide."""


@dataclass(frozen=True, slots=True)
class ApiKeyRecord:
    """What is kept of a key."""

    id: str
    """Twelve hexadecimal digits; not secret."""
    digest: str
    """SHA-256 of the whole key, in hexadecimal."""
    subject: str
    """Its subject; keys of one subject and tenant share their scenarios and jobs."""
    tenant: str
    scopes: frozenset[str]
    created_at: datetime
    reviews_with: str = ""
    """The issuer whose principals of the same tenant review its plans, and it theirs; empty: other keys alone."""

    @property
    def principal_id(self) -> str:
        """Id of its principal."""
        return principal_id(ISSUER, self.subject, self.tenant)


class ApiKeyStore(Protocol):
    """Where records are found."""

    async def find(self, key_id: str) -> ApiKeyRecord | None:
        """Return a record, None for a key that is unknown or revoked."""
        ...

    async def known(self, key_ids: Sequence[str]) -> set[str]:
        """Return those of some ids, one at least, whose keys are neither unknown nor revoked."""
        ...
