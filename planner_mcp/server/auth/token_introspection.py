"""Verifies opaque tokens by introspection at their issuer (RFC 7662).

Owns the request, the checks of the answer and its caching. The token is sent to the configured endpoint only; the cache
holds its SHA-256. An answer is cached for at most a minute, so a revoked token ends within that.
"""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

import httpx2 as httpx

from planner_mcp.bounded_requests import UpstreamError, fetch_json, http_client
from planner_mcp.errors import AuthorityUnavailableError, UnauthenticatedError
from planner_mcp.jobs.principals import SCOPES, Principal, group_id, principal_id
from planner_mcp.server.auth.access_tokens import scopes_of

MAX_AGE_S: Final = 60.0
"""Longest time an answer is cached."""
MAX_KEPT: Final = 10_000
TIMEOUT_S: Final = 5.0
MAX_ANSWER_BYTES: Final = 64 * 1024

AskEndpoint = Callable[[str], Awaitable[Mapping[str, Any]]]
"""Returns the endpoint's answer to a token."""


async def ask_endpoint(url: str, client_id: str, client_secret: str, token: str) -> Mapping[str, Any]:
    """Return the answer of an introspection endpoint about a token; this server is a client of it.

    Raises:
        AuthorityUnavailableError: No answer that can be read.
    """
    form = {"token": token, "token_type_hint": "access_token"}
    try:
        async with http_client(TIMEOUT_S, auth=httpx.BasicAuth(client_id, client_secret)) as client:
            request = client.build_request("POST", url, data=form)
            body = await fetch_json(client, request, max_bytes=MAX_ANSWER_BYTES)
    except (UpstreamError, OSError) as error:
        raise AuthorityUnavailableError from error
    if not isinstance(body, dict):
        raise AuthorityUnavailableError
    return body


@dataclass(frozen=True, slots=True)
class _Kept:
    until: float
    principal: Principal | None


class Introspector:
    """Verifies tokens by asking the endpoint.

    Args:
        ask: Asks the endpoint.
        issuer: Whose tokens it knows.
        audience: This server's resource identifier; must be among the answer's `aud`.
        tenant_claim: Member of the answer that names the customer, if one must.
        clock: Seconds since the epoch.
    """

    def __init__(
        self,
        ask: AskEndpoint,
        *,
        issuer: str,
        audience: str,
        tenant_claim: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._ask = ask
        self._issuer = issuer
        self._audience = audience
        self._tenant_claim = tenant_claim
        self._clock = clock
        self._kept: OrderedDict[bytes, _Kept] = OrderedDict()

    async def verify(self, token: str) -> Principal:
        """Return the principal of a token.

        Raises:
            UnauthenticatedError: It is not active, or not for this server.
            AuthorityUnavailableError: The endpoint did not answer.
        """
        name = hashlib.sha256(token.encode()).digest()
        kept = self._kept.get(name)
        if kept is None or kept.until <= self._clock():
            kept = self._verified(await self._ask(token))
            self._keep(name, kept)
        if kept.principal is None:
            raise UnauthenticatedError("The token is not active for this server.")
        return kept.principal

    def has_cached(self, token: str) -> bool:
        """Return whether an answer about a token is cached."""
        kept = self._kept.get(hashlib.sha256(token.encode()).digest())
        return kept is not None and kept.until > self._clock()

    def _verified(self, answer: Mapping[str, Any]) -> _Kept:
        now = self._clock()
        principal, expires = self._principal(answer), answer.get("exp")
        until = now + MAX_AGE_S if not _is_time(expires) else min(now + MAX_AGE_S, float(expires))
        return _Kept(until, principal if until > now else None)

    def _principal(self, answer: Mapping[str, Any]) -> Principal | None:
        """Return the principal of an active token for this server; None when a check fails."""
        audience, expires, not_before = answer.get("aud"), answer.get("exp"), answer.get("nbf", 0)
        audiences = audience if isinstance(audience, list) else [audience]
        is_good = (
            answer.get("active") is True
            and self._audience in audiences
            and answer.get("iss", self._issuer) == self._issuer
            and (expires is None or _is_time(expires))
            and _is_time(not_before)
            and not_before <= self._clock()
        )
        subject = _name(answer.get("sub")) or _name(answer.get("client_id"))
        tenant = _name(answer.get(self._tenant_claim)) if self._tenant_claim else ""
        if not is_good or not subject or (self._tenant_claim and not tenant):
            return None
        name = principal_id(self._issuer, subject, tenant)
        scopes = scopes_of(dict(answer)) & SCOPES
        group = group_id(self._issuer, tenant)
        return Principal(name, scopes, subject=subject, tenant=tenant, group=group, expires_at=expires)

    def _keep(self, name: bytes, kept: _Kept) -> None:
        self._kept[name] = kept
        self._kept.move_to_end(name)
        if len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)


def _is_time(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**40


def _name(value: Any) -> str:
    return value if isinstance(value, str) and len(value) <= 255 else ""
