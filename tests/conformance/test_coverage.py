"""Promises and tests are tied both ways."""

from tests.conformance.requirements import REQUIREMENTS, ids_in, proofs


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


def test_lists_and_ranges_of_promises_are_read() -> None:
    """Our choice: docstrings stay readable."""
    assert ids_in("SPEC J1-J3, T2 and T4; SPEC X1.") == {"J1", "J2", "J3", "T2", "T4", "X1"}
