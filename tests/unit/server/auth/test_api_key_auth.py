"""API keys: made once, kept as digests."""

from datetime import UTC, datetime

import pytest

from planner_mcp.errors import InvalidParameterError, UnauthenticatedError
from planner_mcp.jobs.principals import READ, WRITE, principal_id
from planner_mcp.jobs.records.api_key_records import ISSUER, ApiKeyRecord
from planner_mcp.server.auth.api_key_auth import KeyVerifier, new_key

pytestmark = pytest.mark.anyio
NOW = datetime(2026, 11, 21, tzinfo=UTC)


class Ring:
    """One record."""

    def __init__(self, record: ApiKeyRecord) -> None:
        self._record = record

    async def find(self, key_id: str) -> ApiKeyRecord | None:
        return self._record if key_id == self._record.id else None


async def test_a_key_speaks_for_its_subject_within_its_scopes() -> None:
    """SPEC A1, A2: no subject of an issuer meets one of a key, and tenants never meet."""
    key, record = new_key("ada", "acme", [READ], now=NOW)
    principal = await KeyVerifier(Ring(record)).verify(key)
    assert principal.id == principal_id(ISSUER, "ada", "acme") != principal_id(ISSUER, "ada")
    assert principal.scopes == frozenset({READ})
    assert key not in repr(record)


async def test_another_key_under_the_same_id_is_refused() -> None:
    """SPEC A1: the id finds, the digest judges."""
    key, record = new_key("ada", "", [READ, WRITE], now=NOW)
    verifier = KeyVerifier(Ring(record))
    for wrong in (key[:-1] + ("a" if key[-1] != "a" else "b"), key.upper(), key + "a", key[:17], "pmk_"):
        with pytest.raises(UnauthenticatedError):
            await verifier.verify(wrong)


@pytest.mark.parametrize(
    ("subject", "tenant", "scopes"),
    [("", "", [READ]), ("a\nb", "", [READ]), ("a", "t" * 101, [READ]), ("a", "", ["x"])],
)
def test_a_key_for_nobody_or_for_an_unknown_scope_is_not_made(subject: str, tenant: str, scopes: list[str]) -> None:
    """SPEC A3."""
    with pytest.raises(InvalidParameterError):
        new_key(subject, tenant, scopes, now=NOW)
