"""Requests that create something, and the answers they get when they come again with the same idempotency key.

Owns the records. A solve has a key of its own (`SolveRequest.idempotency_key`), which binds the job itself.
"""

from dataclasses import dataclass
from typing import Final

RENEW_S: Final = 10.0
"""Seconds between two renewals of a request that is under way; one that is not renewed counts as lost after a few."""


@dataclass(frozen=True, slots=True)
class KeyedRequest:
    """One request with its key."""

    owner: str
    """Whom the key belongs to: a principal with its scopes, because answers differ by scope."""
    key: str
    fingerprint: str
    """Digest of what was asked."""


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """The answer of the first request."""

    status: int
    headers: dict[str, str]
    body: str
