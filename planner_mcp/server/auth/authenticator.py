"""Authenticates a request: returns the principal its headers name, or refuses it.

Owns the form a credential comes in (one `Authorization` header, at most 8 kB, Bearer) and which of the three kinds it
is: an API key by its prefix, a signed token by its two dots, else an opaque one. `api_key_auth`, `access_tokens` and
`token_introspection` verify them.
"""

import re
from collections.abc import Iterable
from typing import Final, Protocol

from planner_mcp.errors import UnauthenticatedError
from planner_mcp.jobs.principals import Principal
from planner_mcp.server.auth.api_key_auth import PREFIX

MAX_TOKEN_BYTES: Final = 8192
_BEARER: Final = re.compile(rb"bearer +([A-Za-z0-9\-._~+/]+=*)", re.IGNORECASE)

RawHeaders = Iterable[tuple[bytes, bytes]]


class Verifier(Protocol):
    """Verifies one kind of credential."""

    async def verify(self, token: str) -> Principal:
        """Return its principal; `UnauthenticatedError` when any check fails."""
        ...


class RemoteVerifier(Verifier, Protocol):
    """Verifies credentials by asking their issuer."""

    def has_cached(self, token: str) -> bool:
        """Return whether an answer about a credential is cached."""
        ...


class Authenticator:
    """Returns the principal of a request.

    Args:
        tokens: Verifies signed tokens; None where no issuer is configured.
        opaque: Looks other tokens up; None where that is not configured.
        keys: Verifies API keys; None where they are switched off.
    """

    def __init__(self, *, tokens: Verifier | None, opaque: RemoteVerifier | None, keys: Verifier | None) -> None:
        self._tokens = tokens
        self._opaque = opaque
        self._keys = keys

    async def principal(self, headers: RawHeaders) -> Principal:
        """Return the principal of a request.

        Args:
            headers: Names in lower case, as ASGI has them.

        Raises:
            UnauthenticatedError: No credential, more than one, or one that is not accepted.
        """
        return await self.principal_of_token(bearer_of(headers))

    async def principal_of_token(self, token: str) -> Principal:
        """Return the principal of a credential; raises as `principal`."""
        verifier = self._keys if token.startswith(PREFIX) else self._by_shape(token)
        if verifier is None:
            raise UnauthenticatedError("Credentials of this kind are not accepted here.")
        return await verifier.verify(token)

    def needs_lookup(self, headers: RawHeaders) -> bool:
        """Return whether the credential of a request can be verified only by asking its issuer."""
        try:
            token = bearer_of(headers)
        except UnauthenticatedError:
            return False
        is_opaque = not token.startswith(PREFIX) and self._by_shape(token) is self._opaque
        return is_opaque and self._opaque is not None and not self._opaque.has_cached(token)

    def _by_shape(self, token: str) -> Verifier | None:
        return self._tokens if self._tokens is not None and token.count(".") == 2 else self._opaque


def bearer_of(headers: RawHeaders) -> str:
    """Return the one bearer token of a request; a second header, another scheme or 8 kB more is a refusal."""
    sent = [value for name, value in headers if name == b"authorization"]
    if not sent:
        raise UnauthenticatedError
    if len(sent) > 1 or len(sent[0]) > MAX_TOKEN_BYTES:
        raise UnauthenticatedError("One Authorization header of at most 8 kB is accepted.")
    if (match := _BEARER.fullmatch(sent[0].strip())) is None:
        raise UnauthenticatedError("The Authorization header holds no bearer token.")
    return match[1].decode()
