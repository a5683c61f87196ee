"""`solve_time`, as every tool that starts a search reads it."""

import re
from typing import Annotated, Final

from pydantic import Field

from planner_mcp.server.tools.tool_definition import refuse
from planner_mcp.settings import Settings

SolveTime = Annotated[str, Field(pattern=r"^PT\d+S$", max_length=20, description="longest search")]
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
