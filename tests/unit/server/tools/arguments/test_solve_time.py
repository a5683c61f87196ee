"""Times of a solve as people write them are refused with the form that is accepted (SPEC T1, T7)."""

import pytest
from pydantic import TypeAdapter, ValidationError

from planner_mcp.server.tools.arguments.solve_time import SolveTime


@pytest.mark.parametrize(
    ("given", "written"),
    [(30, "PT30S"), ("2 minutes", "PT120S"), ("PT2M", "PT120S"), ("pt30s", "PT30S"), ("1 hour", "PT3600S")],
)
def test_a_time_in_another_form_is_refused_with_the_form_to_write(given: str | int, written: str) -> None:
    """SPEC T7: the hint is the value to send."""
    with pytest.raises(ValidationError) as error:
        TypeAdapter(SolveTime).validate_python(given)
    assert error.value.errors()[0]["ctx"]["hint"] == f'Write "{written}".'


def test_a_time_in_the_form_of_a_duration_is_taken() -> None:
    """SPEC T1: ISO 8601, in seconds."""
    assert TypeAdapter(SolveTime).validate_python("PT120S") == "PT120S"
