"""What is kept of an API key.

`server/auth/api_key_auth.py` creates and verifies keys.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

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
