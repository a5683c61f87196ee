"""Cursors are opaque, sealed, and their principal's own (SPEC R2, A2)."""

import pytest

from planner_mcp.errors import InvalidParameterError
from planner_mcp.jobs.principals import Principal
from planner_mcp.jobs.store.security.encryption import SecretCipher
from planner_mcp.server.mcp.methods.page_cursors import Cursors

ANN, BEN = Principal("ann"), Principal("ben")
LIST = "resources/list"


def test_any_replica_with_the_key_reads_a_cursor() -> None:
    """SPEC J4: nothing a client holds depends on which replica answered."""
    cursor = Cursors(SecretCipher(b"key")).make(LIST, ANN, "[2,50]")
    assert Cursors(SecretCipher(b"key")).read(LIST, ANN, cursor) == "[2,50]"
    assert b"[2,50]" not in bytes.fromhex(cursor)


@pytest.mark.parametrize(("method", "principal", "key"), [
    (LIST, BEN, b"key"),
    ("tools/list", ANN, b"key"),
    (LIST, ANN, b"other key"),
])  # fmt: skip
def test_a_cursor_of_another_is_refused(method: str, principal: Principal, key: bytes) -> None:
    """SPEC A2, R2: another principal's, another list's, another deployment's."""
    cursor = Cursors(SecretCipher(b"key")).make(LIST, ANN, "0")
    with pytest.raises(InvalidParameterError):
        Cursors(SecretCipher(key)).read(method, principal, cursor)


def test_a_list_in_memory_is_cut_into_pages() -> None:
    """SPEC R2: every entry once, no cursor after the last."""
    cursors, items = Cursors(SecretCipher(b"key")), list(range(7))
    first, following = cursors.page(LIST, ANN, items, None, 3)
    second, last = cursors.page(LIST, ANN, items, following, 3)
    third, none = cursors.page(LIST, ANN, items, last, 3)
    assert first + second + third == items
    assert none is None
    assert cursors.page(LIST, ANN, [], None, 3) == ([], None)
