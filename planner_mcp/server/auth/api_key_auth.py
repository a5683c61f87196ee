"""Creates and verifies API keys, for deployments without a token issuer.

Owns the form of a key, what is stored of it and how it is verified. A key has 256 random bits, so a plain SHA-256 of it
needs no salt; the key itself is shown once and never stored. Records are stored by `jobs.store.security.api_key_store`.
"""

import hmac
import re
import secrets
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from planner_mcp.errors import InvalidParameterError, UnauthenticatedError
from planner_mcp.jobs.principals import SCOPES, Principal, group_id
from planner_mcp.jobs.records.api_key_records import ISSUER, ApiKeyRecord
from planner_mcp.jobs.store.security.api_key_store import ApiKeyStore
from planner_mcp.text import digest_of

PREFIX: Final = "pmk_"
"""Lets scanners for leaked secrets recognise a key, and distinguishes it from a token."""
MAX_NAME: Final = 100
_FORM: Final = re.compile(r"pmk_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")


def new_key(
    subject: str, tenant: str, scopes: Iterable[str], *, now: datetime, reviews_with: str = ""
) -> tuple[str, ApiKeyRecord]:
    """Return a new key, to be shown once, and its record.

    Raises:
        InvalidParameterError: An unknown scope, or a name that is empty, too long or not printable.
    """
    held = frozenset(scopes)
    if unknown := held - SCOPES:
        raise InvalidParameterError(f"{len(unknown)} of the scopes are unknown; known are {', '.join(sorted(SCOPES))}.")
    if not subject or not all(len(name) <= MAX_NAME and name.isprintable() for name in (subject, tenant)):
        raise InvalidParameterError(f"Subject and tenant are printable text of at most {MAX_NAME} characters.")
    key_id = secrets.token_hex(6)
    key = f"{PREFIX}{key_id}_{secrets.token_urlsafe(32)}"
    return key, ApiKeyRecord(key_id, digest_of(key), subject, tenant, held, now, reviews_with)


class KeyVerifier:
    """Verifies API keys against their records. A revoked key ends with the next request.

    Args:
        key_store: Where records are found.
    """

    def __init__(self, key_store: ApiKeyStore) -> None:
        self._key_store = key_store

    async def verify(self, token: str) -> Principal:
        """Return the principal of a key; `UnauthenticatedError` when it is unknown, revoked or wrong."""
        form = _FORM.fullmatch(token)
        record = await self._key_store.find(form[1]) if form is not None else None
        if record is None or not hmac.compare_digest(record.digest, digest_of(token)):
            raise UnauthenticatedError("The API key is not accepted.")
        return principal_of_key(record)


def principal_of_key(record: ApiKeyRecord) -> Principal:
    """Return whom a key acts for."""
    return Principal(
        record.principal_id,
        record.scopes & SCOPES,
        subject=record.subject,
        tenant=record.tenant,
        group=group_id(record.reviews_with or ISSUER, record.tenant),
        key_id=record.id,
    )
