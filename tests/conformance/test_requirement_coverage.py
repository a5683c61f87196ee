"""Promises and tests are tied both ways."""

from tests.conformance.requirements import REQUIREMENTS, Case, cases, ids_in, proofs


def test_every_promise_has_one_entry() -> None:
    """Our choice: an id means one thing."""
    ids = [requirement.id for requirement in REQUIREMENTS]
    assert len(ids) == len(set(ids))


def test_every_promise_is_proved_or_says_where_it_will_be() -> None:
    """Our choice: nothing is called kept without a test."""
    found = proofs()
    unproved = [r.id for r in REQUIREMENTS if r.open_in is None and not found.get(r.id)]
    assert unproved == []


def test_every_promise_that_a_test_names_is_listed() -> None:
    """Our choice: no test answers to a promise nobody gave."""
    assert sorted(proofs().keys() - {requirement.id for requirement in REQUIREMENTS}) == []


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
    said = ["SPEC S3: x", "Spec 2025-11-25, tasks: x", "Our choice: x", "Issue 3: x", "Engine contract."]
    assert [Case("x", each, module).proves for each in said] == [{"S3"}, {"J6"}, set(), set(), set()]
