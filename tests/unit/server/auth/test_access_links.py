"""Access links: what they carry, and what no longer opens."""

from dataclasses import replace
from typing import Final

import pytest

from planner_mcp.errors import LinkExpiredError, NotFoundError
from planner_mcp.jobs.principals import ADMIN, READ, SENSITIVE, WRITE, Principal
from planner_mcp.jobs.store.security.encryption import SecretCipher
from planner_mcp.server.auth.access_links import AccessLinks

ANN: Final = Principal("u-ann", frozenset({READ, WRITE, ADMIN, SENSITIVE}))
NOW: Final = 1_800_000_000.0


def links(key: bytes = b"k", use: str = "download", now: float = NOW) -> AccessLinks:
    """Return the links of one use of a deployment, at a time."""
    return AccessLinks(SecretCipher(key), use, clock=lambda: now)


def test_another_replica_reads_whom_a_link_acts_for_and_what_it_allows() -> None:
    """SPEC T5, R3: reading alone, and masked as for the principal that asked."""
    token, expires_at = links().make(ANN, "plan://p/sheets.html", 60)
    opened = links(now=NOW + 59).open(token)
    assert (opened.principal.id, opened.grant, opened.expires_at) == ("u-ann", "plan://p/sheets.html", expires_at)
    assert opened.principal.scopes == {READ, SENSITIVE}
    masked, _ = links().make(replace(ANN, scopes=frozenset({READ, WRITE})), "x", 60)
    assert links().open(masked).principal.scopes == {READ}


def test_a_link_ends_with_its_time_or_with_the_credential_of_its_principal() -> None:
    """SPEC A1: nobody reads on by a link when its token has expired."""
    token, expires_at = links().make(replace(ANN, expires_at=NOW + 10), "x", 60)
    assert expires_at == NOW + 10
    with pytest.raises(LinkExpiredError):
        links(now=NOW + 10).open(token)


def test_a_link_that_was_altered_or_made_elsewhere_does_not_open() -> None:
    """SPEC A2: any other character, another key, another use, and what never was a link."""
    token, _ = links().make(ANN, "x", 60)
    altered = [token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :] for at in range(len(token) - 1)]
    for wrong in (*altered, token[:-4], "", "=", "é", "x" * 10_000):
        with pytest.raises(NotFoundError):
            links().open(wrong)
    for other in (links(key=b"other"), links(use="share")):
        with pytest.raises(NotFoundError):
            other.open(token)
