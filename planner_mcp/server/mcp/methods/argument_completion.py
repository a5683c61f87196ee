"""`completion/complete`: values of template variables and prompt arguments, from the principal's own objects (SPEC R2).

Owns where suggestions come from. A name matches by its beginning, or by the beginning of its random part, which is
the part people remember.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import mcp_types as types

from planner_mcp.errors import Fault, input_error
from planner_mcp.jobs.ids import plan_of
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import ADMIN, Principal
from planner_mcp.server.mcp.request_context import Context, require_reader
from planner_mcp.server.prompts.prompt_registry import PROMPTS
from planner_mcp.server.resources.json_resources import PAGE_SIZE, STATUSES
from planner_mcp.server.resources.resource_catalogue import FILE_TEMPLATE, TEMPLATES

MAX_VALUES: Final = 100
"""Values of one answer (spec, completion)."""
SEARCH_LIMIT: Final = 500
"""The newest jobs and scenarios that are looked through."""
DAYS: Final = 30
SIZES: Final = ("10", str(PAGE_SIZE), "50")


class Completion:
    """Suggests values.

    Args:
        job_service: Has the scenarios, jobs and plans that are suggested.
    """

    def __init__(self, job_service: JobService) -> None:
        self._job_service = job_service

    def install(self, server: Any) -> None:
        """Add the method to the SDK's server."""
        server.add_request_handler("completion/complete", types.CompleteRequestParams, self.complete)

    async def complete(self, ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Answer `completion/complete`.

        Raises:
            InputError: No such template, prompt or argument.
        """
        principal = require_reader(ctx)
        kind = _kind_of(params.ref, params.argument.name)
        values, is_whole = await self._values(kind, principal)
        found = [value for value in values if _begins(value, params.argument.value)]
        shown = types.Completion(
            values=found[:MAX_VALUES],
            total=len(found) if is_whole else None,
            has_more=len(found) > MAX_VALUES or not is_whole,
        )
        return types.CompleteResult(completion=shown)

    async def _values(self, kind: str, principal: Principal) -> tuple[Sequence[str], bool]:
        """Return the values of a kind, newest first, and whether these are all."""
        if kind == "scenario_id":
            cards, total = await self._job_service.scenarios(principal, count=SEARCH_LIMIT)
            return [card.id for card in cards], total <= SEARCH_LIMIT
        if kind in ("job_id", "plan_id"):
            jobs, total = await self._job_service.jobs(principal, count=SEARCH_LIMIT)
            names = [plan_of(job.id) for job in jobs if job.plan_id] if kind == "plan_id" else [job.id for job in jobs]
            return names, total <= SEARCH_LIMIT
        return _fixed(kind, principal), True


def _fixed(kind: str, principal: Principal) -> Sequence[str]:
    if kind == "status":
        return STATUSES
    if kind == "size":
        return SIZES
    today = datetime.now(UTC).date()
    if kind == "log_date" and principal.may(ADMIN):
        return [(today - timedelta(days=back)).isoformat() for back in range(DAYS)]
    if kind == "date":
        return [(today + timedelta(days=ahead)).isoformat() for ahead in range(DAYS)]
    return ()


def _kind_of(ref: types.ResourceTemplateReference | types.PromptReference, argument: str) -> str:
    """Return what the values of an argument are; empty for free text."""
    if isinstance(ref, types.PromptReference):
        prompts = {prompt.name: {each.name: each.kind for each in prompt.arguments} for prompt in PROMPTS}
        if (arguments := prompts.get(ref.name)) is None:
            raise input_error([Fault("/ref/name", "No prompt has this name.", ", ".join(prompts))])
        if argument not in arguments:
            raise input_error([Fault("/argument/name", "The prompt has no such argument.", ", ".join(arguments))])
        return arguments[argument]
    if ref.uri not in {FILE_TEMPLATE, *(template.uri_template for template in TEMPLATES)}:
        raise input_error([Fault("/ref/uri", "No template has this URI.", "a uriTemplate of resources/templates/list")])
    if f"{{{argument}}}" not in ref.uri and ref.uri != FILE_TEMPLATE:
        raise input_error([Fault("/argument/name", "The template has no such variable.", "a name between braces")])
    return "log_date" if argument == "date" else argument


def _begins(value: str, typed: str) -> bool:
    typed = typed.lower()
    return value.startswith(typed) or value.rpartition("-")[2].startswith(typed)
