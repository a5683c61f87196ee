"""Puts the test tools, resources and prompts beside those of the product, in the product's own handlers.

Owns no protocol: each method first looks among the fixtures and then asks the handler that was there.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import mcp_types as types

from planner_mcp.server.mcp.request_context import principal_in
from tests.conformance.fixture_server import sample_resources, suite_tools
from tests.conformance.fixture_server.content_tools import Context
from tests.conformance.fixture_server.sample_content import answer
from tests.conformance.fixture_server.suite_tasks import SuiteTasks

Handler = Callable[[Context, Any], Awaitable[Any]]
Announce = Callable[[str, str], Awaitable[None]]
LISTS: Final = {"test_trigger_tool_change": "tools", "test_trigger_prompt_change": "prompts"}


class Fixture:
    """A feature of the kernel: everything the conformance suite asks for by name.

    Args:
        redis: What the replicas share.
        announce: Tells every replica that a principal's list changed: `(principal, kind)`.
    """

    def __init__(self, redis: Any, announce: Announce) -> None:
        self._tasks = SuiteTasks(redis)
        self._announce = announce

    def install(self, server: Any) -> None:
        """Wrap the handlers of the product."""
        schema_of = server.get_tool_input_schema
        server.get_tool_input_schema = lambda name: _schema(name) or schema_of(name)
        for method, params_type, wrapper in (*WRAPPERS, ("tools/call", types.CallToolRequestParams, self._calling)):
            entry = server.get_request_handler(method)
            server.add_request_handler(method, params_type, wrapper(entry.handler if entry else None))
        server.middleware.insert(0, self._tasks.layer)

    def _calling(self, before: Handler | None) -> Handler:
        async def handle(ctx: Context, params: types.CallToolRequestParams) -> Any:
            if (kind := LISTS.get(params.name)) is not None:
                await self._announce(principal_in(ctx).id, kind)
                return answer("The list counts as changed.")
            tool = suite_tools.BY_NAME.get(params.name)
            if tool is not None and tool.run is not None:
                return await tool.run(ctx, params)
            return await _or_before(before, ctx, params)

        return handle


def _schema(name: str) -> Mapping[str, Any] | None:
    tool = suite_tools.BY_NAME.get(name)
    return tool.schema if tool is not None else None


def _listing(field: str, more: tuple[Any, ...]) -> Callable[[Handler | None], Handler]:
    """Return a wrapper that puts more entries on the first page of a list."""

    def wrap(before: Handler | None) -> Handler:
        async def handle(ctx: Context, params: Any) -> Any:
            result = await before(ctx, params) if before is not None else None
            if result is None:
                return {field: [_json(each) for each in more], "ttlMs": 0, "cacheScope": "private"}
            listed = result.model_dump(by_alias=True, mode="json", exclude_none=True)
            if params.cursor is None:
                listed[field] = [_json(each) for each in more] + listed[field]
            return listed

        return handle

    return wrap


def _json(entry: Any) -> dict[str, Any]:
    if isinstance(entry, suite_tools.SuiteTool):
        return entry.as_json()
    return dict(entry.model_dump(by_alias=True, mode="json", exclude_none=True))


def _reading(before: Handler | None) -> Handler:
    async def handle(ctx: Context, params: types.ReadResourceRequestParams) -> Any:
        return sample_resources.read(str(params.uri)) or await _or_before(before, ctx, params)

    return handle


def _saying(before: Handler | None) -> Handler:
    async def handle(ctx: Context, params: types.GetPromptRequestParams) -> Any:
        return sample_resources.say(params) or await _or_before(before, ctx, params)

    return handle


def _watching(before: Handler | None) -> Handler:
    async def handle(ctx: Context, params: Any) -> Any:
        return (
            types.EmptyResult()
            if str(params.uri) == sample_resources.WATCHED
            else await _or_before(before, ctx, params)
        )

    return handle


def _completing(before: Handler | None) -> Handler:
    async def handle(ctx: Context, params: types.CompleteRequestParams) -> Any:
        if isinstance(params.ref, types.PromptReference) and params.ref.name.startswith("test_"):
            return types.CompleteResult(completion=types.Completion(values=["paris", "park", "party"], total=3))
        return await _or_before(before, ctx, params)

    return handle


async def _or_before(before: Handler | None, ctx: Context, params: Any) -> Any:
    if before is None:
        return types.ErrorData(code=types.METHOD_NOT_FOUND, message="Method not found")
    return await before(ctx, params)


WRAPPERS: tuple[tuple[str, Any, Callable[[Handler | None], Handler]], ...] = (
    ("tools/list", types.PaginatedRequestParams, _listing("tools", suite_tools.TOOLS)),
    ("resources/list", types.PaginatedRequestParams, _listing("resources", sample_resources.RESOURCES)),
    (
        "resources/templates/list",
        types.PaginatedRequestParams,
        _listing("resourceTemplates", sample_resources.TEMPLATES),
    ),
    ("prompts/list", types.PaginatedRequestParams, _listing("prompts", sample_resources.PROMPTS)),
    ("resources/read", types.ReadResourceRequestParams, _reading),
    ("resources/subscribe", types.SubscribeRequestParams, _watching),
    ("resources/unsubscribe", types.UnsubscribeRequestParams, _watching),
    ("prompts/get", types.GetPromptRequestParams, _saying),
    ("completion/complete", types.CompleteRequestParams, _completing),
)
