"""The tree of errors as it is drawn and published, and errors of the planner inside groups of tasks."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from planner_mcp import errors
from planner_mcp.errors import (
    Fault,
    InvalidScenarioError,
    PlannerError,
    StoreError,
    UnauthenticatedError,
    error_classes,
    input_error,
    placed,
    ungrouped,
)
from planner_mcp.server.auth.oauth_sign_in import RefusedSignInError

ROOT = Path(__file__).parents[2]
TREE = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, PlannerError)]


def test_the_drawing_names_every_branch() -> None:
    """Our choice: the tree at the top of the module is what a reader goes by."""
    branches = [kind.__name__ for kind in TREE if kind.__base__ is PlannerError]
    assert [name for name in branches if f"─ {name} " not in str(errors.__doc__)] == []


def test_every_code_that_is_published_can_be_met() -> None:
    """SPEC T7: the manifest lists the codes a client may receive, none that nothing raises."""
    pages = [page for room in ("planner_mcp", "workers") for page in (ROOT / room).rglob("*.py")]
    named = {node.id for page in pages for node in ast.walk(ast.parse(page.read_bytes())) if isinstance(node, ast.Name)}
    assert [kind.__name__ for kind in TREE if kind.__name__ not in named] == []


def test_faults_worded_elsewhere_are_as_many_and_of_the_same_kind() -> None:
    """SPEC T7: who reads a file tells its faults by other places, and still says how many are not listed."""
    faults = [Fault(f"/tickets/{n}", f"Too late by {n}.", kind="logic") for n in range(60)]
    with pytest.raises(InvalidScenarioError) as caught, placed(lambda fault: replace(fault, path=f"/day{fault.path}")):
        raise input_error(faults)
    assert (caught.value.found, caught.value.message) == (60, "60 problems; the first 50 are listed.")
    assert [fault.path for fault in caught.value.errors[-2:]] == ["/day/tickets/49", "/day"]


def test_faults_that_are_one_elsewhere_are_counted_once() -> None:
    """SPEC T7: one cell may be two fields of a day."""
    faults = [Fault(f"/agents/{n}/{end}", "Unknown.", kind="logic") for n in range(2) for end in ("start", "end")]
    with pytest.raises(InvalidScenarioError) as caught, placed(lambda fault: replace(fault, path=fault.path[:9])):
        raise input_error(faults)
    assert (caught.value.message, len(caught.value.errors)) == ("2 problems; each is listed in errors.", 2)
    with pytest.raises(InvalidScenarioError) as caught, placed(lambda fault: replace(fault, path="/x")):
        raise input_error(faults)
    assert (caught.value.message, len(caught.value.errors)) == ("Unknown.", 1)


def test_a_refusal_inside_task_groups_is_raised_by_itself_with_its_cause() -> None:
    """SPEC O3, A3: else no command catches it by its name, and the log is a stack trace."""
    refusal, cause = StoreError(), OSError()
    refusal.__cause__ = cause
    with pytest.raises(StoreError) as caught, ungrouped():
        raise ExceptionGroup("outer", [ExceptionGroup("inner", [refusal]), StoreError()])
    assert (caught.value, caught.value.__cause__) == (refusal, cause)


def test_a_fault_of_ours_beside_a_refusal_stays_to_be_seen() -> None:
    """Our choice: what is wrong in the code must not pass for a store that is away."""
    with pytest.raises(ExceptionGroup), ungrouped():
        raise ExceptionGroup("both", [StoreError(), ZeroDivisionError()])


def test_a_code_stands_for_the_class_that_declares_it() -> None:
    """Our choice: a class loaded later, with the code of its parent and arguments of its own, changes nothing."""
    assert issubclass(RefusedSignInError, UnauthenticatedError)
    assert error_classes()[UnauthenticatedError.code] is UnauthenticatedError
    assert str(error_classes()[RefusedSignInError.code]("Log in.")) == "Log in."
