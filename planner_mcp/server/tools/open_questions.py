"""What a call should ask a person before it runs, whatever it came by (SPEC T7).

Owns which tools may ask, and that files and large days are looked at in a process of their own. What is worth asking
is said by `elicitation_questions.py` and by the tools. MCP puts the question to a client
(`server/mcp/methods/elicitation.py`), the dashboard shows it as a form (`server/http/dashboard_routes.py`).
"""

import json
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import anyio.to_thread

from planner_mcp.errors import PlannerError
from planner_mcp.jobs.fair_limiter import FairLimiter
from planner_mcp.jobs.import_records import ImportStore
from planner_mcp.jobs.reading_limits import read_bounded
from planner_mcp.server.tools import import_scenario
from planner_mcp.server.tools.arguments.elicitation_questions import (
    FindQuestion,
    Question,
    question_of,
    question_of_text,
)
from planner_mcp.server.tools.arguments.resolved_inputs import PlainBounds
from planner_mcp.server.tools.large_arguments import MOST_VALUES, large_arguments_in
from planner_mcp.settings import Settings

QUESTIONS: Final[Mapping[str, FindQuestion]] = {
    "create_scenario": question_of,
    "import_scenario": import_scenario.question_of,
}
"""What may be asked before a call, by tool."""
FILES: Final = frozenset({"import_scenario"})
"""Tools that read files."""

_limiter: Final = FairLimiter()
"""Large days looked at at the same time."""


class OpenQuestions:
    """Finds the question of a call.

    Args:
        settings: Limits.
        imports: Mappings of columns that principals keep; what they settle is not asked.
    """

    def __init__(self, settings: Settings, imports: ImportStore) -> None:
        self._settings = settings
        self._imports = imports

    async def find(self, principal_id: str, tool: str, args: Any) -> Question | None:
        """Return what is to be asked; None for nothing, and where arguments are too large to take an answer."""
        if tool not in QUESTIONS:
            return None
        large, find = large_arguments_in(args), QUESTIONS[tool]
        if large is None and tool not in FILES:
            return await anyio.to_thread.run_sync(find, args, self._settings)
        if large is not None and large.values > MOST_VALUES:
            return None
        text, bounds = str(large or json.dumps(args)), PlainBounds.of(self._settings)
        if tool == import_scenario.TOOL.name:
            find = partial(import_scenario.question_of, known=await self._imports.mappings(principal_id))
        try:
            async with _limiter.turn(principal_id):
                return await read_bounded(principal_id, self._settings, question_of_text, find, text, bounds)
        except PlannerError:  # the tool meets it too, and tells it in its own form
            return None


def with_answer_in(question: Question, args: Any, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call with the answer to its question put in."""
    large = large_arguments_in(args)
    return question.fill(args or {} if large is None else large.decoded(), answer)
