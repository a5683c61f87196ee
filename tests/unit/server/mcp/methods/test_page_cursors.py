"""Cursors are opaque, sealed, and their principal's own (SPEC R2, A2)."""

from types import SimpleNamespace
from typing import Any

import mcp_types as types
import pytest

from planner_mcp.errors import InvalidParameterError
from planner_mcp.jobs.principals import Principal
from planner_mcp.jobs.store.security.encryption import SecretCipher
from planner_mcp.server.mcp.methods.page_cursors import PAGE, Cursors

ANN, BEN = Principal("ann"), Principal("ben")
LIST = "resources/list"


def asking(principal: Principal, method: str = LIST) -> Any:
    """Return the context of a request for a list."""
    return SimpleNamespace(method=method, request=SimpleNamespace(scope={"state": {"principal": principal}}))


def page_at(cursor: str | None) -> types.PaginatedRequestParams:
    """Return the parameters of a request for a page."""
    return types.PaginatedRequestParams(cursor=cursor)


def test_any_replica_with_the_key_reads_a_cursor() -> None:
    """SPEC J4: nothing a client holds depends on which replica answered."""
    cursor = Cursors(SecretCipher(b"key")).make(asking(ANN), "[2,50]")
    assert Cursors(SecretCipher(b"key")).read(asking(ANN), page_at(cursor)) == "[2,50]"
    assert b"[2,50]" not in bytes.fromhex(cursor)


@pytest.mark.parametrize(("asked", "key"), [
    (asking(BEN), b"key"),
    (asking(ANN, "tools/list"), b"key"),
    (asking(ANN), b"other key"),
])  # fmt: skip
def test_a_cursor_of_another_is_refused(asked: Any, key: bytes) -> None:
    """SPEC A2, R2: another principal's, another list's, another deployment's."""
    cursor = Cursors(SecretCipher(b"key")).make(asking(ANN), "0")
    with pytest.raises(InvalidParameterError):
        Cursors(SecretCipher(key)).read(asked, page_at(cursor))


def test_a_list_in_memory_is_cut_into_pages() -> None:
    """SPEC R2: every entry once, no cursor after the last."""
    cursors, items = Cursors(SecretCipher(b"key")), list(range(2 * PAGE + 1))
    first, following = cursors.page(asking(ANN), None, items)
    second, last = cursors.page(asking(ANN), page_at(following), items)
    third, none = cursors.page(asking(ANN), page_at(last), items)
    assert first + second + third == items
    assert none is None
    assert cursors.page(asking(ANN), page_at(None), []) == ([], None)
