"""What no argument may be."""

import pytest

from planner_mcp.errors import InvalidParameterError
from planner_mcp.server.tools.arguments.json_checks import MAX_FAULTS, check_json
from tests.shared.processes.stopwatch import Stopwatch


def test_a_large_input_is_walked_quickly() -> None:
    """Our choice: a call of some megabytes does not stop the event loop."""
    day = {"tickets": [{"id": f"t-{n}", "location": f"L{n}", "demand": n, "x": 1.5} for n in range(5000)]}
    watch = Stopwatch()
    assert check_json(day, max_nesting=32) is day
    assert watch.spent_s < 0.5


def test_all_strange_values_are_found() -> None:
    """SPEC T7: all faults at once, whatever they lie in."""
    with pytest.raises(InvalidParameterError) as refused:
        check_json({"a": [1, float("nan")], "b": {"c": "\udfff", "ok": "北京"}}, max_nesting=32)
    assert sorted(fault.path for fault in refused.value.errors) == ["/a/1", "/b/c"]


def test_the_list_of_faults_is_bounded() -> None:
    """Our choice, SPEC T7: a thousand equal mistakes are told by some, and counted all."""
    with pytest.raises(InvalidParameterError) as refused:
        check_json({"a": [float("inf")] * 1000}, max_nesting=32)
    assert refused.value.message == f"1000 problems; the first {MAX_FAULTS} are listed."
    *listed, rest = refused.value.errors
    assert (len(listed), rest.problem) == (MAX_FAULTS, f"{1000 - MAX_FAULTS} more problems are not listed.")


def test_many_faults_are_counted_quickly() -> None:
    """Our choice: a body may hold a million, and counting them does not stop the event loop for long."""
    watch = Stopwatch()
    with pytest.raises(InvalidParameterError):
        check_json({"a": [float("nan")] * 200_000}, max_nesting=32)
    assert watch.spent_s < 1


def test_nesting_up_to_the_limit_passes() -> None:
    """SPEC X3: the limit counts levels."""
    args = {"a": {"b": {"c": 1}}}
    assert check_json(args, max_nesting=3) is args
    with pytest.raises(InvalidParameterError):
        check_json(args, max_nesting=2)
