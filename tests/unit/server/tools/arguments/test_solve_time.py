"""Times of a solve as people write them are refused with the form that is accepted (SPEC T1, T7)."""

from functools import partial

import pytest
from pydantic import ValidationError

from planner_mcp.errors import InputError
from planner_mcp.server.tools.arguments.solve_time import SolveTime, seconds_of
from planner_mcp.server.tools.solves import plan_day
from planner_mcp.server.tools.solves.plan_day import PlanDayArguments
from planner_mcp.server.tools.solves.prove_plan import ProveArguments
from planner_mcp.server.tools.tool_definition import Arguments, parse
from planner_mcp.server.tools.tool_registry import REGISTRY
from planner_mcp.settings import Settings

SOLVING = [tool for tool in REGISTRY if "solve_time" in tool.input_schema["properties"]]


class Asked(Arguments):
    """Arguments with a time alone."""

    solve_time: SolveTime


@pytest.mark.parametrize(
    ("given", "written"),
    [
        *((30, "PT30S"), ("2 minutes", "PT120S"), ("PT2M", "PT120S"), ("pt30s", "PT30S"), ("1 hour", "PT3600S")),
        (0, "PT1S"),
    ],
)
def test_a_time_in_another_form_is_refused_with_the_form_to_write(given: str | int, written: str) -> None:
    """SPEC T7: the hint is the value to send."""
    with pytest.raises(ValidationError) as error:
        Asked.model_validate({"solve_time": given})
    assert error.value.errors()[0]["ctx"]["hint"] == f'Write "{written}".'


def test_a_time_in_the_form_of_a_duration_is_taken() -> None:
    """SPEC T1: ISO 8601, in seconds."""
    assert Asked.model_validate({"solve_time": "PT120S"}).solve_time == "PT120S"


def test_a_time_that_nobody_gave_is_as_long_as_the_deployment_allows() -> None:
    """SPEC T1, T11: the smallest call is taken where the default would be too long; a longer time is still refused."""
    short = Settings(max_solve_time_s=5)
    assert len(SOLVING) == 6
    for tool in SOLVING:
        read = partial(parse, PlanDayArguments) if tool is plan_day.TOOL else tool.parsed  # it reads them in `run`
        with pytest.raises(InputError) as refused:
            read({"solve_time": "PT60S", "unknown": 1}, short)
        assert ("/solve_time", "PT1S to PT5S") in [(fault.path, fault.accepted) for fault in refused.value.errors]
    assert seconds_of(ProveArguments(plan="job-0-a").solve_time, short) == 5
