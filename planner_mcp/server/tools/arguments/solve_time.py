"""`solve_time` and `cores`, as every tool that starts a search reads them."""

import re
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from planner_mcp.routing.scenario.field_types import field_error
from planner_mcp.settings import Settings

_USUAL: Final = re.compile(r"(?:pt)?(\d{1,6}) ?(s|m|h|(?:sec|min)s?|(?:second|minute|hour)s?)?", re.ASCII)
"""Times as people and other programs write them: 30, 30s, 2 minutes, PT2M."""
_SECONDS: Final = re.compile(r"PT(\d{1,6})S", re.ASCII)
_MOST_S: Final[int] = Settings.model_fields["max_solve_time_s"].default
"""Longest search, where the settings of the deployment are not at hand."""
_UNITS_S: Final = {"s": 1, "m": 60, "h": 3600}


def _with_hint(value: Any, info: ValidationInfo) -> Any:
    """Pass on a time; one in another usual form is refused with the form that would be accepted."""
    found = _USUAL.fullmatch(str(value).strip().lower()) if isinstance(value, str | int) else None
    if found is None or isinstance(value, bool) or (isinstance(value, str) and _SECONDS.fullmatch(value)):
        return value
    most_s = info.context.max_solve_time_s if isinstance(info.context, Settings) else _MOST_S
    seconds = max(1, int(found[1]) * _UNITS_S[(found[2] or "s")[0]])
    hint = f'Write "PT{seconds}S".' if seconds <= most_s else f'Write "PT{most_s}S", which is the longest here.'
    raise field_error("The time is not written as a duration.", f"PT1S to PT{most_s}S", hint)


def _allowed(solve_time: str, info: ValidationInfo) -> str:
    """Pass on a time that the deployment allows, where its settings are at hand."""
    if isinstance(info.context, Settings) and not 1 <= _seconds(solve_time) <= info.context.max_solve_time_s:
        problem = "The parameter solve_time is out of range."
        raise field_error(problem, f"PT1S to PT{info.context.max_solve_time_s}S")
    return solve_time


SolveTime = Annotated[
    str,
    Field(pattern=r"^PT\d+S$", max_length=20, description="longest search"),
    BeforeValidator(_with_hint),
    AfterValidator(_allowed),
]

Cores = Annotated[int | None, Field(ge=1, le=64, description="CPU cores")]
"""More than one worker has make a team (ADR 54). None for those of one worker."""


def seconds_of(solve_time: str, settings: Settings) -> int:
    """Return the `solve_time` of a call in seconds; a default that the deployment does not allow is cut to its most."""
    return min(_seconds(solve_time), settings.max_solve_time_s)


def _seconds(solve_time: str) -> int:
    """Return a time in seconds; 0 where it has more digits than any that is allowed."""
    form = _SECONDS.fullmatch(solve_time)
    return int(form[1]) if form else 0
