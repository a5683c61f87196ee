"""Test resources and prompts."""

import json
import re
from typing import Any, Final

import mcp_types as types

from tests.conformance.fixture_server.elicitation_tools import form
from tests.conformance.fixture_server.sample_content import PNG, embedded, image, text

WATCHED: Final = "test://watched-resource"
_TEMPLATE: Final = re.compile(r"test://template/([^/]+)/data")

RESOURCES: Final = (
    types.Resource(name="static-text", uri="test://static-text", mime_type="text/plain"),
    types.Resource(name="static-binary", uri="test://static-binary", mime_type="image/png"),
    types.Resource(name="watched", uri=WATCHED, mime_type="text/plain"),
)
TEMPLATES: Final = (
    types.ResourceTemplate(name="template", uri_template="test://template/{id}/data", mime_type="application/json"),
)


def read(uri: str) -> types.ReadResourceResult | None:
    """Return the contents of a test resource, None for another."""
    if uri == "test://static-binary":
        return _contents(types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG))
    if uri == "test://static-text":
        return _contents(_text(uri, "This is the content of the static text resource."))
    if uri == WATCHED:
        return _contents(_text(uri, "Watched resource content"))
    if match := _TEMPLATE.fullmatch(uri):
        body = {"id": match[1], "templateTest": True, "data": f"Data for ID: {match[1]}"}
        return _contents(_text(uri, json.dumps(body), "application/json"))
    return None


def _contents(one: types.TextResourceContents | types.BlobResourceContents) -> types.ReadResourceResult:
    return types.ReadResourceResult(contents=[one], ttl_ms=0, cache_scope="private")


def _text(uri: str, value: str, mime_type: str = "text/plain") -> types.TextResourceContents:
    return types.TextResourceContents(uri=uri, mime_type=mime_type, text=value)


def _prompt(name: str, *arguments: str) -> types.Prompt:
    listed = [types.PromptArgument(name=each, required=True) for each in arguments]
    return types.Prompt(name=name, description=f"Conformance: {name}.", arguments=listed)


ASKING: Final = "test_input_required_result_prompt"
PROMPTS: Final = (
    _prompt("test_simple_prompt"),
    _prompt("test_prompt_with_arguments", "arg1", "arg2"),
    _prompt("test_prompt_with_embedded_resource", "resourceUri"),
    _prompt("test_prompt_with_image"),
    _prompt(ASKING),
)


def say(params: types.GetPromptRequestParams) -> types.GetPromptResult | types.InputRequiredResult | None:
    """Return a test prompt, None for another."""
    given = params.arguments or {}
    if params.name == "test_simple_prompt":
        return _messages(text("This is a simple prompt for testing."))
    if params.name == "test_prompt_with_arguments":
        return _messages(text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"))
    if params.name == "test_prompt_with_embedded_resource":
        inside = embedded(given["resourceUri"], "Embedded resource content for testing.")
        return _messages(inside, text("Please process the embedded resource above."))
    if params.name == "test_prompt_with_image":
        return _messages(image(), text("Please analyze the image above."))
    return _asking(params) if params.name == ASKING else None


def _asking(params: types.GetPromptRequestParams) -> types.GetPromptResult | types.InputRequiredResult:
    reply = (params.input_responses or {}).get("user_context")
    if isinstance(reply, types.ElicitResult) and reply.content:
        return _messages(text(f"Context: {reply.content.get('context', '')}"))
    question = form("What context should the prompt use?", "context")
    return types.InputRequiredResult(input_requests={"user_context": question})


def _messages(*blocks: Any) -> types.GetPromptResult:
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=block) for block in blocks])
