"""`solve_time`, as every tool that starts a search reads it."""

import re
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from planner_mcp.routing.scenario.field_types import field_error
from planner_mcp.server.tools.tool_definition import refuse
from planner_mcp.settings import Settings

_SHORT: Final = re.compile(r"(\d{1,6}) ?(s|sec|m|min)?", re.ASCII)
_MINUTE_S: Final = 60


def _with_hint(value: Any) -> Any:
    """Pass on a time; one in another usual form is refused with the form that would be accepted."""
    found = _SHORT.fullmatch(str(value).strip().lower()) if isinstance(value, str | int) else None
    if found is None or isinstance(value, bool):
        return value
    seconds = int(found[1]) * (_MINUTE_S if (found[2] or "s").startswith("m") else 1)
    raise field_error("The time is not written as a duration.", "PT1S to PT3600S", f'Write "PT{seconds}S".')


SolveTime = Annotated[
    str, Field(pattern=r"^PT\d+S$", max_length=20, description="longest search"), BeforeValidator(_with_hint)
]
_SECONDS: Final = re.compile(r"PT(\d{1,6})S", re.ASCII)


def seconds_of(solve_time: str, settings: Settings) -> int:
    """Return a `solve_time` in seconds.

    Raises:
        InputError: It is longer than the deployment allows, or no time at all.
    """
    form = _SECONDS.fullmatch(solve_time)
    seconds = int(form[1]) if form else 0
    if not 1 <= seconds <= settings.max_solve_time_s:
        accepted = f"PT1S to PT{settings.max_solve_time_s}S"
        raise refuse("/solve_time", "The parameter solve_time is out of range.", accepted)
    return seconds
