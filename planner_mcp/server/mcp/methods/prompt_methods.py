"""`prompts/list` and `prompts/get`: the prompts as MCP types (SPEC R4)."""

from typing import Any, Final

import mcp_types as types

from planner_mcp.errors import Fault, input_error
from planner_mcp.jobs.job_ports import ImportStore
from planner_mcp.jobs.principals import SENSITIVE
from planner_mcp.server.mcp.kernel import LIST_TTL_MS
from planner_mcp.server.mcp.methods.page_cursors import Cursors
from planner_mcp.server.mcp.request_context import Context, principal_in
from planner_mcp.server.prompts.mapping_examples import MAP_BUSINESS_TABLE, mapping_examples
from planner_mcp.server.prompts.prompt_registry import PROMPTS
from planner_mcp.translation import Language, translated

_BY_NAME: Final = {prompt.name: prompt for prompt in PROMPTS}


class Prompts:
    """Serves prompts; that for tables ends with the reader's own mappings as examples.

    Args:
        cursors: Makes and reads cursors.
        imports: Mappings of columns that principals keep.
        language: Of titles, descriptions and texts.
    """

    def __init__(self, cursors: Cursors, imports: ImportStore, language: Language) -> None:
        self._cursors = cursors
        self._imports = imports
        self._language: Language = language
        self._listed = tuple(types.Prompt.model_validate(prompt.as_json(language)) for prompt in PROMPTS)

    def install(self, server: Any) -> None:
        """Add the methods to the SDK's server."""
        server.add_request_handler("prompts/list", types.PaginatedRequestParams, self.list_prompts)
        server.add_request_handler("prompts/get", types.GetPromptRequestParams, self.get_prompt)

    async def list_prompts(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        """Answer `prompts/list`."""
        shown, following = self._cursors.page(ctx, params, self._listed)
        return types.ListPromptsResult(prompts=shown, next_cursor=following, ttl_ms=LIST_TTL_MS, cache_scope="public")

    async def get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Answer `prompts/get`.

        Raises:
            InputError: No such prompt, or its arguments are wrong.
        """
        if (prompt := _BY_NAME.get(params.name)) is None:
            raise input_error([Fault("/name", "No prompt has this name.", ", ".join(_BY_NAME))])
        text = prompt.text(params.arguments or {}, self._language)
        if prompt.name == MAP_BUSINESS_TABLE:
            reader = principal_in(ctx)
            shows_rows = reader.may(SENSITIVE)
            text += mapping_examples(await self._imports.mappings(reader.id), shows_rows=shows_rows)
        words = types.TextContent(type="text", text=text)
        return types.GetPromptResult(
            description=translated(prompt.description, self._language),
            messages=[types.PromptMessage(role="user", content=words)],
        )
