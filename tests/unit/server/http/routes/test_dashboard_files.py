"""The files of the dashboard: small, complete, and without an address of another site."""

import re
from pathlib import Path
from typing import Final

import planner_mcp.server.http
from planner_mcp.formats.tables.headers.header_words import OFFERED
from planner_mcp.jobs.limits.principal_limits import AUTHENTICATED_LIMITS, LIMIT_NAMES
from planner_mcp.routing.scenario.window_text import OPEN_END_S
from planner_mcp.translation import translated

FOLDER: Final = Path(planner_mcp.server.http.__file__).parent / "dashboard"
FILES: Final = sorted(path for path in FOLDER.rglob("*") if path.is_file())
NAMESPACE: Final = "http://www.w3.org/2000/svg"


def test_the_dashboard_has_at_most_200_kb() -> None:
    """SPEC O2: unpacked, all files together."""
    assert sum(path.stat().st_size for path in FILES) <= 200_000


def test_no_file_names_another_site() -> None:
    """SPEC O2: the page works without a network."""
    for path in FILES:
        assert re.findall(r"https?://[^\s\"'`]+", path.read_text().replace(NAMESPACE, "")) == [], path.name


def test_every_imported_module_is_there() -> None:
    """Our choice: no compiler checks these files."""
    for path in FILES:
        for name in re.findall(r'from "(\./[^"]+|\.\./[^"]+)"', path.read_text()):
            assert (path.parent / name).resolve().is_file(), f"{path.name}: {name}"


def test_views_know_nothing_of_the_page() -> None:
    """ADR 40: modules in `view` import one another alone, and use no storage and no address."""
    for path in sorted((FOLDER / "view").glob("*.js")):
        text = path.read_text()
        assert not re.search(r'from "\.\./', text), path.name
        assert not re.search(r"\b(localStorage|sessionStorage|location\.|history\.)", text), path.name


def test_every_word_is_there_in_both_languages() -> None:
    """SPEC O2: no word of a Chinese page is missing; those of the view stand without the dashboard."""
    known = {name: _words(FOLDER / name) for name in ("view/words.js", "page_words.js")}
    assert known["page_words.js"]["en"] == known["page_words.js"]["zh"]
    assert known["view/words.js"]["en"] <= known["view/words.js"]["zh"], "a status is its own English word"
    for path in FILES:
        of_view = path.parent.name == "view"
        words = known["view/words.js"]["zh"] | (set() if of_view else known["page_words.js"]["zh"])
        assert set(re.findall(r'\bt\("(\w+)"', path.read_text())) <= words, path.name


def test_the_page_knows_the_end_of_an_open_window() -> None:
    """SPEC O2: a window without an end is kept with one, which the page has to know to say so."""
    (written,) = re.findall(r"OPEN_END_S = ([\d_]+);", (FOLDER / "view/format.js").read_text())
    assert int(written) == OPEN_END_S


def test_the_page_knows_what_is_assumed_of_a_file_without_times_at_stops() -> None:
    """SPEC T5: it gives such stops the time that is filled in, and the assumption of the import is no longer true."""
    assumed = "No ticket has a service time: stops take no time."
    words = (FOLDER / "page_words.js").read_text()
    for language in ("en", "zh"):
        assert f'noStay: "{translated(assumed, language)}"' in words, language


def test_the_page_has_a_word_for_every_field_that_a_column_may_be() -> None:
    """SPEC O2, T5: it offers what the reader of files knows; what is fetched is called by the field it is there."""
    names = {f"field_{name.removeprefix('pickup_')}" for fields in OFFERED.values() for name in fields}
    names |= {"field_pickup_ticket", "field_shipment_half"}
    names.discard("field_ticket")
    assert names <= _words(FOLDER / "page_words.js")["en"]


def test_every_limit_has_a_name() -> None:
    """Our choice: the page of the system names limits in words, of every deployment."""
    names = {f"limit_{name}" for name in (*LIMIT_NAMES, *AUTHENTICATED_LIMITS, "pools")}
    assert names <= _words(FOLDER / "page_words.js")["en"]


def _words(path: Path) -> dict[str, set[str]]:
    languages = re.findall(r"\n  (en|zh): \{\n(.*?)\n  \},", path.read_text(), re.DOTALL)
    return {language: set(re.findall(r'(\w+): "', body)) for language, body in languages}
