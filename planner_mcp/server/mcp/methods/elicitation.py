"""Elicitation: asking the client's user for a missing choice, in the form of each revision (SPEC T7, X2).

Owns who is asked and how the answer is used. With a handshake the server sends `elicitation/create` on the stream of
the call and waits; in 2026-07-28 the call is answered `input_required` with an encrypted state, and the client
repeats it, once for each question: the state holds the answers before. A client that did not declare form elicitation
is never asked. Decline, cancel, no answer and errors have one meaning: the planner assumes a value and says so.
"""

import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import anyio
from mcp.server.context import CallNext, HandlerResult
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from planner_mcp.errors import Fault, input_error
from planner_mcp.jobs.job_ports import ImportStore
from planner_mcp.server.mcp import client_requests
from planner_mcp.server.mcp.jsonrpc.jsonrpc_errors import rpc_data
from planner_mcp.server.mcp.request_context import Context, principal_in
from planner_mcp.server.tools.open_questions import ASKING, OpenQuestions, with_answer_in
from planner_mcp.server.tools.tool_definition import AskUser, QuestionPendingError
from planner_mcp.settings import Settings
from planner_mcp.text import Json
from planner_mcp.translation import current_language, translated, translated_schema

KEY: Final = "choices"
"""Name of the question in `inputRequests`; one at a time, since the next depends on the answer."""
STATE: Final = "answers "
"""How the state of our questions begins; behind it stand the answers before. Another is that of the tool's own."""
MAX_QUESTIONS: Final = 5
"""Questions before one call runs: sheet, columns and amounts of a file. An answer may be of no help."""
MAX_ANSWER: Final = 2000
"""Characters of one answer that are kept for the next round."""
STATE_TTL_S: Final = 600.0
REFUSED: Final = "invalid_request_state"
"""What the SDK gives as the reason when a state is forged, too old or another call's."""

Answer = Mapping[str, Any]
"""What a person filled in, empty for nothing."""

log = logging.getLogger(__name__)


class Elicitation:
    """A layer around `tools/call`.

    Args:
        settings: Whether anybody is asked at all.
        keys: Seal the state of a call that comes again: the same on every replica.
        imports: Mappings of columns that principals keep; what they settle is not asked.
        is_on: Whether the client of a request may call a tool by its tool sets; of one that is off nothing is asked.
    """

    def __init__(
        self,
        settings: Settings,
        keys: Sequence[bytes],
        imports: ImportStore,
        is_on: Callable[[Context, str], Awaitable[bool]],
    ) -> None:
        self._settings = settings
        self._is_on = is_on
        self._questions = OpenQuestions(settings, imports)
        self._security = RequestStateSecurity(
            keys=keys, ttl=STATE_TTL_S, bind_principal=lambda ctx: principal_in(ctx).id
        )

    def install(self, server: Any) -> None:
        """Add the layers to the SDK's server: the seal outside, the question inside."""
        server.middleware.append(_with_state_error_data)
        server.middleware.append(RequestStateBoundary(self._security, default_audience=server.name))
        server.middleware.append(self._layer)

    async def _layer(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.method != "tools/call" or not may_ask(ctx, self._settings):
            return await call_next(ctx)
        if not isinstance((ctx.params or {}).get("inputResponses") or {}, Mapping):
            return await call_next(ctx)  # where params are judged
        answers = _answers_given(ctx)
        call = ctx if answers is None else _with_answers(ctx, answers)
        try:
            return await self._answered(call, call_next)
        except QuestionPendingError as pending:
            return _input_required(pending.message, pending.schema, answers or [])

    async def _answered(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        params = ctx.params or {}
        name, args = str(params.get("name")), params.get("arguments")
        if name not in ASKING or not await self._is_on(ctx, name):
            return await call_next(ctx)
        left = iter(_answers_left(ctx))
        for _ in range(MAX_QUESTIONS):
            question = await self._questions.find(principal_in(ctx), name, args)
            if question is None:
                break
            answer = await _ask(ctx, left, question.message, question.schema)
            args = with_answer_in(question, args, answer)
            if question.is_last or not answer:
                break
        if args is params.get("arguments"):
            return await call_next(ctx)
        return await call_next(_with_answers(replace(ctx, params={**params, "arguments": args}), list(left)))


def may_ask(ctx: Context, settings: Settings) -> bool:
    """Return whether the person behind a request may be asked: the client declared forms, the deployment allows it."""
    capabilities = ctx.session.client_capabilities
    declared = capabilities.elicitation if capabilities is not None else None
    return settings.ask_missing and declared is not None and (declared.form is not None or declared.url is None)


def asking_of(ctx: Context, settings: Settings) -> AskUser | None:
    """Return how a tool asks the person behind its call; None where nobody may be asked."""
    return partial(_ask, ctx, iter(_answers_left(ctx))) if may_ask(ctx, settings) else None


async def _ask(ctx: Context, answers: Iterator[Answer], message: str, schema: Json) -> Answer:
    """Ask, or take the next answer that a call came again with.

    Raises:
        QuestionPendingError: The call has to come again with the answer.
    """
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return await _asked(ctx, message, schema)
    if (answer := next(answers, None)) is None:
        raise QuestionPendingError(message, schema)
    return answer


def _answers_given(ctx: Context) -> list[Answer] | None:
    """Return the answers that a call came again with, in the order of the questions; None where we asked nothing."""
    params = ctx.params or {}
    responses = params.get("inputResponses") or {}
    is_ours = (params.get("requestState") or "").startswith(STATE)
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS or not is_ours:
        return None
    return [*_answers_left(ctx), _accepted(responses.get(KEY))]


def _answers_left(ctx: Context) -> list[Answer]:
    state = (ctx.params or {}).get("requestState") or ""
    found: list[Answer] = json.loads(state.removeprefix(STATE)) if state.startswith(STATE) else []  # unsealed here
    return found


def _with_answers(ctx: Context, answers: Sequence[Answer]) -> Context:
    """Return a call whose state is the answers to its next questions."""
    params = {
        name: value for name, value in (ctx.params or {}).items() if name not in ("inputResponses", "requestState")
    }
    return replace(ctx, params={**params, **({"requestState": _state(answers)} if answers else {})})


def _state(answers: Sequence[Answer]) -> str:
    return f"{STATE}{json.dumps(answers)}"


async def _with_state_error_data(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Give the refusal of a state the data of every fault, and say what to do (SPEC T7)."""
    try:
        return await call_next(ctx)
    except MCPError as error:
        if not isinstance(error.data, dict) or error.data.get("reason") != REFUSED:
            raise
        accepted = f"that of the question, unchanged, for the same call, within {STATE_TTL_S:.0f} s"
        hint = "Call again without requestState; the question is asked anew."
        fault = Fault("/requestState", error.message, accepted, hint)
        raise MCPError(error.code, error.message, rpc_data(input_error([fault])) | error.data) from error


async def _asked(ctx: Context, message: str, schema: Json) -> Mapping[str, Any]:
    """Ask now and wait, as long as a person may take; return the answer, empty for none."""
    reason, message, schema = "Silence", translated(message), translated_schema(schema, current_language())
    with anyio.move_on_after(client_requests.ANSWER_TIMEOUT_S):  # over stdio nothing else ends the wait
        try:
            result = await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)
            return _accepted(result.model_dump(by_alias=True, mode="json"))
        except (MCPError, NoBackChannelError, ValidationError) as error:
            reason = type(error).__name__
    log.info("question not answered", extra={"reason": reason})
    return {}


def _accepted(response: Any) -> Mapping[str, Any]:
    if not isinstance(response, Mapping) or response.get("action") != "accept":
        return {}
    content = response.get("content")
    given = content if isinstance(content, Mapping) else {}
    return {name: value for name, value in given.items() if len(str(value)) <= MAX_ANSWER}


def _input_required(message: str, schema: Json, answers: Sequence[Answer]) -> Json:
    asked = {"mode": "form", "message": message, "requestedSchema": schema}
    return {
        "resultType": "input_required",
        "inputRequests": {KEY: {"method": "elicitation/create", "params": asked}},
        "requestState": _state(answers),
    }
