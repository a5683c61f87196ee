"""What a call should ask a person before it runs, whatever it came by (SPEC T7).

Owns which tools may ask, and that files and large days are looked at in a process of their own. What is worth asking
is said by `elicitation_questions.py` and by the tools. MCP puts the question to a client
(`server/mcp/methods/elicitation.py`), the dashboard shows it as a form (`server/http/routes/dashboard_routes.py`).
"""

import json
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import anyio.to_thread

from planner_mcp.errors import PlannerError
from planner_mcp.jobs.job_ports import ImportStore
from planner_mcp.jobs.limits.fair_limiter import FairLimiter
from planner_mcp.jobs.limits.reading_limits import read_bounded
from planner_mcp.jobs.principals import WRITE, Principal
from planner_mcp.server.tools.arguments.elicitation_questions import (
    FindQuestion,
    Question,
    question_of,
    question_of_text,
)
from planner_mcp.server.tools.arguments.kept_files import Kept, KeptQuestion, find_kept
from planner_mcp.server.tools.arguments.resolved_inputs import ScenarioBounds
from planner_mcp.server.tools.large_arguments import MOST_VALUES, large_arguments_in
from planner_mcp.server.tools.scenarios import import_scenario
from planner_mcp.server.tools.solves import plan_day
from planner_mcp.settings import Settings
from planner_mcp.text import Json

_FINDERS: Final[Mapping[str, FindQuestion]] = {
    "create_scenario": question_of,
    "import_scenario": import_scenario.question_of,
    "plan_day": plan_day.question_of,
}
ASKING: Final = frozenset(_FINDERS)
"""Tools whose calls may be asked about before they run; they store a day, so whoever may not is not asked."""
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

    async def find(self, principal: Principal, tool: str, args: Any) -> Question | None:
        """Return what is to be asked; None for nothing, and where arguments are too large to take an answer."""
        if tool not in ASKING or not principal.may(WRITE):
            return None
        large = large_arguments_in(args)
        if large is not None and large.values > MOST_VALUES:
            return None
        try:
            find, bounds = _FINDERS[tool], ScenarioBounds.of(self._settings)
            if large is None and not _has_file(tool, args):
                return await anyio.to_thread.run_sync(find, args, bounds)
            text = str(large or json.dumps(args))
            async with _limiter.turn(principal.id):
                kept = partial(self._kept, principal)
                return await read_bounded(
                    principal.id, self._settings, question_of_text, find, text, bounds, answer=kept
                )
        except PlannerError:  # the tool meets it too, and reports it in its own form
            return None

    async def _kept(self, principal: Principal, question: KeptQuestion) -> Kept:
        return await find_kept(self._imports, principal, self._settings.files_dir, question.file)


def _has_file(tool: str, args: Any) -> bool:
    return tool == "import_scenario" or (tool == "plan_day" and plan_day.part_of(args) == "file")


def with_answer_in(question: Question, args: Any, answer: Mapping[str, Any]) -> Json:
    """Return the arguments of a call with the answer to its question put in."""
    large = large_arguments_in(args)
    return question.fill(args or {} if large is None else large.decoded(), answer)
