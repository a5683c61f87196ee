"""The page of the MCP App, as it is put together (SPEC O2)."""

import re

import pytest

from planner_mcp.server.resources import app_page

MOST_BYTES = 100_000


def test_the_page_is_small_and_stands_alone() -> None:
    """SPEC O2: at most 100 kB, nothing from elsewhere, no markup made of text, no code made of text."""
    page = app_page.page()
    assert len(page.encode()) <= MOST_BYTES
    assert set(re.findall(r"https?://[^\"'\s]+", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|\beval\b|new Function|localStorage|@import|url\(", page)
    assert page.count("<script") == page.count("</script") == page.count("<style") == page.count("</style") == 1


def test_the_uri_follows_the_content(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC O2: hosts keep a page by its URI, so another page has another."""
    before = app_page.page_uri()
    assert re.fullmatch(r"ui://planner/plan-[0-9a-f]{12}\.html", before)
    other = app_page.page() + " "
    monkeypatch.setattr(app_page, "page", lambda: other)
    assert app_page.page_uri.__wrapped__() != before


@pytest.mark.parametrize(
    "text",
    [
        'import x from "./y.js";\n',
        "export default 1;\n",
        "export let a = 1;\n",
        'export * from "./y.js";\n',
        "'</script>'\n",
        "const shared = 2;\n",
    ],
)
def test_a_module_in_another_form_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our choice: a module that would be put together wrongly fails the start, not a user."""
    monkeypatch.setattr(app_page, "_text", lambda _path: text)
    with pytest.raises(ValueError, match="cannot be put into a page"):
        app_page._add_module("a.js", {"b.js": "const shared=1;"})
