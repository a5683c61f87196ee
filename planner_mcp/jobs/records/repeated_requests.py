"""Requests that create something, and the answers they get when they come again with the same idempotency key.

Owns the records and the port `RepeatedRequestStore`. A solve has a key of its own (`SolveRequest.idempotency_key`),
which binds the job itself.
"""

from dataclasses import dataclass
from typing import Final, Protocol

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


class RepeatedRequestStore(Protocol):
    """Keeps answers by key, encrypted."""

    async def begin(self, request: KeyedRequest) -> KeptAnswer | None:
        """Return the kept answer of an equal request; None where this one is the first and now under way.

        Raises:
            IdempotencyConflictError: The key came with another request.
            RequestUnderWayError: The first has no answer yet.
        """
        ...

    async def renew(self, request: KeyedRequest) -> None:
        """Say that a request is still under way."""
        ...

    async def keep(self, request: KeyedRequest, answer: KeptAnswer) -> None:
        """Keep the answer of the request that is under way."""
        ...

    async def forget(self, request: KeyedRequest) -> None:
        """Forget a request that made nothing."""
        ...
