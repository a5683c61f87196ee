"""Opaque tokens, looked up (SPEC A1, RFC 7662)."""

from collections.abc import Mapping
from typing import Any

import pytest

from planner_mcp.errors import AuthorityUnavailableError, UnauthenticatedError
from planner_mcp.jobs.principals import principal_id
from planner_mcp.server.auth.token_introspection import MAX_AGE_S, Introspector

pytestmark = pytest.mark.anyio
ISSUER, AUDIENCE, NOW = "https://as.example", "https://planner.example/mcp", 1_800_000_000.0
GOOD: dict[str, Any] = {
    "active": True,
    "sub": "ada",
    "aud": AUDIENCE,
    "iss": ISSUER,
    "exp": NOW + 600,
    "scope": "planner:read other",
}


class IntrospectionEndpoint:
    """Answers what it is told to, and counts."""

    def __init__(self, answer: Mapping[str, Any] | None = None) -> None:
        self.answer: Mapping[str, Any] | None = GOOD if answer is None else answer
        self.asked = 0
        self.now = NOW

    async def ask(self, _token: str) -> Mapping[str, Any]:
        self.asked += 1
        if self.answer is None:
            raise AuthorityUnavailableError
        return self.answer

    def introspector(self, **more: Any) -> Introspector:
        return Introspector(self.ask, issuer=ISSUER, audience=AUDIENCE, clock=lambda: self.now, **more)


async def test_an_active_token_names_the_same_principal_as_a_signed_one() -> None:
    """SPEC A1, A2: issuer and subject, whichever form the token has; only scopes of ours."""
    principal = await IntrospectionEndpoint().introspector().verify("opaque")
    assert principal.id == principal_id(ISSUER, "ada")
    assert principal.scopes == frozenset({"planner:read"})


@pytest.mark.parametrize(
    "change",
    [
        {"active": False},
        {"active": "true"},
        {"active": 1},
        {"aud": "https://other.example"},
        {"aud": None},
        {"iss": "https://evil.example"},
        {"exp": NOW - 1},
        {"exp": str(NOW + 600)},
        {"exp": 1e308},
        {"nbf": NOW + 600},
        {"sub": "", "client_id": ""},
        {"sub": ["ada"]},
    ],
    ids=str,
)
async def test_an_answer_with_any_doubt_is_a_refusal(change: dict[str, Any]) -> None:
    """SPEC A1: believed only where it is for this server, now, by the configured issuer."""
    with pytest.raises(UnauthenticatedError):
        await IntrospectionEndpoint({**GOOD, **change}).introspector().verify("opaque")


async def test_an_answer_counts_for_a_minute_at_most() -> None:
    """SPEC A1: a token that was withdrawn ends within a minute, one that expires sooner then."""
    endpoint = IntrospectionEndpoint()
    introspector = endpoint.introspector()
    for _ in range(3):
        await introspector.verify("opaque")
    assert endpoint.asked == 1
    endpoint.answer = {"active": False}
    endpoint.now += MAX_AGE_S + 1
    with pytest.raises(UnauthenticatedError):
        await introspector.verify("opaque")
    short = IntrospectionEndpoint({**GOOD, "exp": NOW + 5})
    introspector = short.introspector()
    await introspector.verify("opaque")
    short.now += 6
    with pytest.raises(UnauthenticatedError):
        await introspector.verify("opaque")
    assert short.asked == 2


async def test_an_endpoint_that_is_away_is_no_verdict() -> None:
    """SPEC A1: the caller is told to come back, and the next try asks again."""
    endpoint = IntrospectionEndpoint()
    endpoint.answer, introspector = None, endpoint.introspector()
    for _ in range(2):
        with pytest.raises(AuthorityUnavailableError):
            await introspector.verify("opaque")
    assert endpoint.asked == 2


async def test_a_tenant_claim_once_configured_is_required() -> None:
    """SPEC A2."""
    with pytest.raises(UnauthenticatedError):
        await IntrospectionEndpoint().introspector(tenant_claim="org").verify("opaque")
    found = await IntrospectionEndpoint({**GOOD, "org": "acme"}).introspector(tenant_claim="org").verify("opaque")
    assert found.tenant == "acme"
