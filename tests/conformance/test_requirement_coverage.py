"""The promises of `docs/spec.md` and the tests are tied in both directions."""

import subprocess

from tests.conformance.requirements import SPEC_PAGE, Case, cases, ids_in, proofs, requirements

PROMISES = requirements(SPEC_PAGE.read_text(encoding="utf-8"))
ROOT = SPEC_PAGE.parents[1]


def test_the_page_has_each_promise_once() -> None:
    """Our choice: a number means one promise, and the page is read as it is written."""
    ids = [promise.id for promise in PROMISES]
    assert len(ids) > 40
    assert len(ids) == len(set(ids))


def test_every_promise_is_proved_or_says_what_is_open() -> None:
    """Our choice: no promise is called kept without a test."""
    found = proofs()
    assert [promise.id for promise in PROMISES if not promise.missing and not found.get(promise.id)] == []


def test_every_promise_that_a_test_names_is_on_the_page() -> None:
    """Our choice: a reader of a test can look up what it proves."""
    assert sorted(proofs().keys() - {promise.id for promise in PROMISES}) == []


def test_every_promise_that_code_or_pages_name_is_on_the_page() -> None:
    """Our choice: the same holds for comments, docstrings and documentation."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    paths = [path for path in listed if path.endswith((".py", ".md", ".lua", ".cpp", ".hpp")) and "tests/" not in path]
    named = {path: ids_in((ROOT / path).read_text(encoding="utf-8")) for path in paths if (ROOT / path).is_file()}
    known = {promise.id for promise in PROMISES}
    assert {path: sorted(ids - known) for path, ids in named.items() if ids - known} == {}


def test_promises_and_what_is_open_are_read_from_a_page() -> None:
    """Our choice: a heading is a promise, and a line behind "Open:" says what is not built yet."""
    page = "# Title\n\n### A1 First\n\nText.\n\n**Open:** the rest.\n\n## Part\n\n### B12 Second one\n\nText.\n"
    assert [(each.id, each.title, each.missing) for each in requirements(page)] == [
        ("A1", "First", "the rest."),
        ("B12", "Second one", ""),
    ]


def test_every_promise_has_a_test_in_the_quick_suite() -> None:
    """Our choice: `make test` takes at least one path of every promise, whatever is left to `make test-all`."""
    found = proofs(is_quick=True)
    assert [promise.id for promise in PROMISES if not promise.missing and not found.get(promise.id)] == []


def test_every_test_says_who_demands_it() -> None:
    """Our choice: who breaks a test learns what would be lost, and a misspelt promise is not read as none."""
    assert [test.name for test in cases() if not test.says_who_demands_it] == []


def test_lists_and_ranges_of_promises_are_read() -> None:
    """Our choice: docstrings stay readable."""
    assert ids_in("SPEC J1-J3, T2 and T4; SPEC X1.") == {"J1", "J2", "J3", "T2", "T4", "X1"}


def test_a_promise_under_a_letter_that_has_none_is_read() -> None:
    """Our choice: it is found to be missing, not passed over with those behind it."""
    assert ids_in("SPEC Q1, T7: x") == {"Q1", "T7"}


def test_a_test_proves_what_it_names_itself() -> None:
    """Our choice: the promises of a module are proved by its tests but those that stand there for a reason of ours."""
    module = "What a worker does (SPEC J6)."
    said = ["SPEC S3: x", "Spec 2025-11-25, tasks: x", "Our choice: x", "ADR 27: x", "Engine contract."]
    assert [Case("x", each, module).proves for each in said] == [{"S3"}, {"J6"}, set(), set(), set()]
