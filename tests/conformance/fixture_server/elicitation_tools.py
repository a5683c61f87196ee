"""Test tools that ask the client something before they answer, in both forms.

With a handshake the server sends a request and waits. Without one it answers `input_required` and the client calls
again; what the server wants to remember travels sealed in `requestState` (spec 2026-07-28).
"""

from collections.abc import Mapping
from typing import Any, Final

import mcp_types as types

from tests.conformance.fixture_server.content_tools import Context, Run
from tests.conformance.fixture_server.sample_content import answer, text

InputRequired = types.InputRequiredResult


def form(message: str, name: str, kind: str = "string") -> types.ElicitRequest:
    """Return a question with one required field."""
    schema = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def prompt(message: str, max_tokens: int = 100) -> types.CreateMessageRequest:
    """Return a question to the client's model."""
    reply = types.SamplingMessage(role="user", content=text(message))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[reply], max_tokens=max_tokens))


NAME: Final = {"user_name": form("What is your name?", "name")}
CAPITAL: Final = {"capital_question": prompt("What is the capital of France?")}
ROOTS: Final[dict[str, types.InputRequest]] = {"client_roots": types.ListRootsRequest()}
CONFIRM: Final = {"confirm": form("Please confirm", "ok", "boolean")}
EVERYTHING: Final = {**NAME, "greeting": prompt("Generate a greeting", 50), **ROOTS}

DEFAULTS: Final = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
}
_PAIRS: Final = [{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}]
ENUMS: Final = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": _PAIRS},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {"type": "array", "items": {"anyOf": _PAIRS}},
    },
}
PERSON: Final = {
    "type": "object",
    "properties": {"username": {"type": "string"}, "email": {"type": "string"}},
    "required": ["username", "email"],
}


# ---- with a handshake


async def sampling(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    """Have the client's model answer a prompt."""
    request = prompt(str((params.arguments or {}).get("prompt", "")))
    reply = await ctx.session.create_message(
        request.params.messages, max_tokens=request.params.max_tokens, related_request_id=ctx.request_id
    )
    return answer(f"LLM response: {getattr(reply.content, 'text', '')}")


def eliciting(schema: Mapping[str, Any]) -> Run:
    """Return a tool that shows the user a form."""

    async def run(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        message = str((params.arguments or {}).get("message", "Please fill in"))
        reply = await ctx.session.elicit_form(message, dict(schema), related_request_id=ctx.request_id)
        return answer(f"Elicitation completed: action={reply.action}, content={reply.content}")

    return run


# ---- without one


def requiring(questions: Mapping[str, types.InputRequest], *, state: str | None = None) -> Run:
    """Return a tool that wants all its questions answered, and its state back if it gave one."""

    async def run(_ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult | InputRequired:
        given = params.input_responses or {}
        missing = {key: request for key, request in questions.items() if not _fits(request, given.get(key))}
        if missing or params.request_state != state:
            return InputRequired(input_requests=missing or dict(questions), request_state=state)
        return answer(*(["state-ok"] if state else []), *(_reply_text(given[key]) for key in questions))

    return run


async def rounds(_ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult | InputRequired:
    """Ask for a name, then for a colour, then answer."""
    given = params.input_responses or {}
    if params.request_state == "2" and "step2" in given:
        return answer(_reply_text(given["step2"]))
    if params.request_state == "1" and "step1" in given:
        return InputRequired(
            input_requests={"step2": form("Step 2: What is your favorite color?", "color")}, request_state="2"
        )
    return InputRequired(input_requests={"step1": form("Step 1: What is your name?", "name")}, request_state="1")


async def capable(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult | InputRequired:
    """Ask only what the client declared it can answer."""
    declared = ctx.session.client_capabilities or types.ClientCapabilities()
    questions: dict[str, types.InputRequest] = {}
    if declared.elicitation is not None:
        questions |= NAME
    if declared.sampling is not None:
        questions |= CAPITAL
    if not questions:
        return answer("The client can be asked nothing.")
    return await requiring(questions)(ctx, params)  # type: ignore[no-any-return]


def _fits(request: types.InputRequest, given: Any) -> bool:
    """Return whether an answer is one to the question."""
    if isinstance(request, types.ElicitRequest):
        return isinstance(given, types.ElicitResult) and (given.action != "accept" or bool(given.content))
    if isinstance(request, types.ListRootsRequest):
        return isinstance(given, types.ListRootsResult)
    return isinstance(given, types.CreateMessageResult)


def _reply_text(given: Any) -> str:
    if isinstance(given, types.ElicitResult):
        return f"Hello, {next(iter((given.content or {'': given.action}).values()))}!"
    if isinstance(given, types.ListRootsResult):
        return f"Roots: {', '.join(str(root.uri) for root in given.roots)}"
    return f"The model said: {getattr(given.content, 'text', '')}"
