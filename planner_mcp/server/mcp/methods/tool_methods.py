"""`tools/list` and `tools/call`: the tools as MCP types.

Owns the translation between `planner_mcp.server.tools` and the SDK's types. The tools check arguments themselves, so
that an input error is a tool result with all faults at once (SPEC T7) and never a message of the SDK.
"""

from base64 import b64encode
from collections.abc import Mapping
from difflib import get_close_matches
from functools import partial
from typing import Any, Final, Protocol

import mcp_types as types
from mcp.shared.exceptions import MCPError

from planner_mcp.errors import Fault, UnknownToolError
from planner_mcp.jobs.review_service import NO_REVIEWS
from planner_mcp.server.mcp.jsonrpc.jsonrpc_errors import rpc_data
from planner_mcp.server.mcp.methods.elicitation import asking_of
from planner_mcp.server.mcp.methods.extension_capability import declare_extension
from planner_mcp.server.mcp.methods.page_cursors import Cursors
from planner_mcp.server.mcp.methods.tool_listing import EXTENSION as APPS
from planner_mcp.server.mcp.methods.tool_listing import listed_tool, mark_callback_support
from planner_mcp.server.mcp.request_context import Context, declares, has_session, principal_in
from planner_mcp.server.tools.discovery import enable_toolset
from planner_mcp.server.tools.tool_caller import ToolCaller
from planner_mcp.server.tools.tool_definition import ErrorResult, NotifyProgress, Tool, ToolResult
from planner_mcp.server.tools.tool_registry import ADDRESS_REGISTRY, APP_REGISTRY, ServerOffer, shown_tools, toolsets_of
from planner_mcp.settings import TOOLSETS, Settings, names_in
from planner_mcp.text import Json

LEAST_STEP: Final = 1e-3
"""MCP wants progress to rise with every notification, so news without progress moves it by this much."""
TOOLSETS_PARAMETER: Final = "toolsets"
"""What a client's URL says of the tools it wants."""
NEAR: Final = 0.6
"""Likeness from which a name is taken for a slip (difflib's ratio)."""
LINKS_SINCE: Final = "2025-06-18"
"""First revision whose content may be a link; clients of older ones refuse the whole answer for it."""


class SessionToolsets(Protocol):
    """The tool sets that clients switched on in their sessions."""

    async def toolsets(self, ctx: Context) -> frozenset[str]:
        """Return those of the session of a request; none where it has no session."""
        ...

    async def add_toolset(self, ctx: Context, toolset: str) -> None:
        """Keep one for the session of a request, and announce the new list."""
        ...


class PlannerToolHandler:
    """Lists and calls the tools of a deployment.

    Args:
        caller: Calls the tools; its settings say which tool sets are shown.
        cursors: Those of the list.
        session_toolsets: Keeps what clients switch on.
        offer: The tools of this server.
    """

    def __init__(
        self, caller: ToolCaller, cursors: Cursors, session_toolsets: SessionToolsets, offer: ServerOffer
    ) -> None:
        self._caller = caller
        self._settings = settings = caller.settings
        self._cursors = cursors
        self._session_toolsets = session_toolsets
        self._offer = offer
        self._tools: dict[str, Tool] = {
            tool.name: tool for tool in shown_tools(settings, f"all,{settings.toolsets}", offer)
        }
        self._app_tools = {tool.name: tool for tool in APP_REGISTRY if offer.has_toolsets}

    def install(self, server: Any) -> None:
        """Add the methods to the SDK's server."""
        server.add_request_handler("tools/list", types.PaginatedRequestParams, self.list_tools)
        server.add_request_handler("tools/call", types.CallToolRequestParams, self.call_tool)
        server.get_tool_input_schema = self.input_schema
        server.middleware.append(mark_callback_support)
        if self._app_tools:
            declare_extension(server, APPS, {})

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        """Return a tool's input schema, None for an unknown tool."""
        tool = self._tools.get(name) or self._app_tools.get(name)
        return tool.input_schema if tool is not None else None

    def is_long(self, name: str) -> bool:
        """Return whether a tool may be run as a task."""
        tool = self._tools.get(name)
        return tool is not None and tool.may_be_task

    async def list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """Answer `tools/list`: what is on and the principal may call, in the same order on every replica."""
        principal = principal_in(ctx)
        has_pages = declares(ctx, APPS)
        tools = [*await self._shown(ctx), *(self._app_tools.values() if has_pages else ())]
        tools = [tool for tool in tools if principal.may(tool.scope)]
        if not has_session(ctx):
            tools = [tool for tool in tools if tool is not enable_toolset.TOOL]
        shown, following = self._cursors.page(ctx, params, tools)
        entries = [listed_tool(tool, self._settings.lang, has_pages=has_pages) for tool in shown]
        return types.ListToolsResult(tools=entries, next_cursor=following)

    async def call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> Json:
        """Answer `tools/call`.

        Raises:
            MCPError: No such tool.
        """
        if (app_tool := self._app_tools.get(params.name)) is not None:  # a gateway may forward a page's call
            return await self.run(ctx, app_tool, params.arguments or {})
        if not await self.is_on(ctx, params.name):
            unknown = self._unknown(ctx, params.name)
            raise MCPError(types.INVALID_PARAMS, unknown.message, rpc_data(unknown))
        return await self.run(ctx, self._tools[params.name], params.arguments or {})

    async def is_on(self, ctx: Context, name: str) -> bool:
        """Return whether the client of a request may call a tool by its tool sets."""
        return (tool := self._tools.get(name)) is not None and tool in await self._shown(ctx)

    async def _shown(self, ctx: Context) -> list[Tool]:
        """Return the tools that are on for a client: those of its URL, and of the sets that its session added."""
        by_url = shown_tools(self._settings, _asked(ctx), self._offer)
        if len(by_url) == len(self._tools):
            return [*by_url]
        added = await self._session_toolsets.toolsets(ctx)
        return [tool for tool in self._tools.values() if tool in by_url or tool.toolset in added]

    async def _enable(self, ctx: Context, toolset: str) -> list[str] | None:
        """Switch a tool set on for a session; return the tools the principal may call, None where it is not allowed."""
        tools = [tool for tool in self._tools.values() if tool.toolset == toolset]
        if not tools:
            return None
        await self._session_toolsets.add_toolset(ctx, toolset)
        principal = principal_in(ctx)
        return [tool.name for tool in tools if principal.may(tool.scope)]

    def _unknown(self, ctx: Context, name: str) -> UnknownToolError:
        """Return the refusal of a tool that cannot be called: there is none, or its set is off and how to have it."""
        tool = next((tool for tool in self._offer.tools if tool.name == name), None)
        if tool is None and name in _ADDRESS_TOOLS:
            problem = f"The tool {name} is one of the address server."
            return UnknownToolError(problem, errors=[Fault("/name", problem, "a tool of tools/list", _ADDRESS_HINT)])
        if tool is None:
            return _nearest(name, [tool.name for tool in self._offer.tools])
        if tool.is_review and self._settings.approval == "off":
            return UnknownToolError(NO_REVIEWS, errors=[Fault("/name", NO_REVIEWS, "a tool of tools/list")])
        if has_session(ctx) and any(each.toolset == tool.toolset for each in self._tools.values()):
            hint = f"Call enable_toolset with toolset {tool.toolset}."
        else:
            way = way_to(self._settings, tool.toolset, _asked(ctx), has_url=ctx.request is not None)
            hint = f"Switch it on by {way}."
        problem = f"The tool {name} is in the tool set {tool.toolset}, which is off."
        return UnknownToolError(f"{problem} {hint}", errors=[Fault("/name", problem, "a tool of tools/list", hint)])

    async def run(self, ctx: Context, tool: Tool, args: Json) -> Json:
        """Run a tool, whether or not its set is on; its scope is asked for all the same."""
        result = await self._caller.call(
            principal_in(ctx),
            tool,
            args,
            request_scope=ctx.request.scope if ctx.request is not None else None,
            notify_progress=_rising(ctx.session.report_progress),
            ask_user=asking_of(ctx, self._settings),
            enable_toolset=partial(self._enable, ctx) if has_session(ctx) else None,
        )
        return {"resultType": "complete", **call_result(result, has_links=ctx.protocol_version >= LINKS_SINCE)}


_ADDRESS_TOOLS: Final = frozenset(tool.name for tool in ADDRESS_REGISTRY)
_ADDRESS_HINT: Final = "Write the text as address of a ticket or location, or add that server: planner-mcp address."
_OTHER_NAMES: Final = {
    **dict.fromkeys(("plan", "create_plan", "make_plan", "optimize", "optimize_routes", "plan_routes"), "plan_day"),
    **dict.fromkeys(("solve", "start_job", "submit_job", "create_job"), "solve_vrp"),
    **dict.fromkeys(
        ("status", "get_status", "job_status", "check_status", "get_job", "wait_for_job"), "query_vrp_status"
    ),
    **dict.fromkeys(("get_plan", "show_plan", "get_routes", "get_result", "get_solution"), "read_plan"),
    **dict.fromkeys(("approve_plan", "accept_plan", "reject_plan"), "review_plan"),
}
"""Tools by the names that models give them, where another tool's name resembles these more."""


def _nearest(name: str, known: list[str]) -> UnknownToolError:
    """Return the refusal of a name that no tool has, with the tool that was meant, as far as names show."""
    meant = _OTHER_NAMES.get(name)
    near = [meant] if meant in known else get_close_matches(name[:100], known, n=1, cutoff=NEAR)
    if not near:
        return UnknownToolError(errors=[Fault("/name", UnknownToolError.summary, "a tool of tools/list")])
    problem = f"{UnknownToolError.summary} The nearest is {near[0]}."
    return UnknownToolError(problem, errors=[Fault("/name", problem, "a tool of tools/list", f"Call {near[0]}.")])


def _asked(ctx: Context) -> str:
    """Return which tool sets the client's URL asks for, empty for none in particular."""
    if ctx.request is None or not ctx.request.scope["query_string"]:
        return ""
    return str(ctx.request.query_params.get(TOOLSETS_PARAMETER, ""))


def way_to(settings: Settings, toolset: str, asked: str, *, has_url: bool) -> str:
    """Return how a tool set that is off is switched on.

    Args:
        settings: What the deployment shows, and what it allows beyond.
        toolset: The set.
        asked: What the client's URL asks for; where it names sets, it has to name this one whatever the server shows.
        has_url: Whether the client has one.
    """
    server = f"PLANNER_TOOLSETS={_between_commas({*toolsets_of(settings), toolset})} at the server"
    url = f"?{TOOLSETS_PARAMETER}={_between_commas({*toolsets_of(settings, asked), toolset})} on the URL"
    is_allowed, named = toolset in toolsets_of(settings, "all"), names_in(asked)
    if not named:
        return f"{url} or {server}" if has_url and is_allowed else server
    if is_allowed:
        return url
    return server if named & {"all", toolset} else f"{server} and {url}"


def _between_commas(sets: set[str]) -> str:
    return ",".join(each for each in TOOLSETS if each in sets)


def _rising(report: Any) -> NotifyProgress:
    """Return a reporter whose progress never repeats and never falls."""
    last = float("-inf")

    async def notify(progress: float, total: float | None, message: str) -> None:
        nonlocal last
        last = max(progress, last + LEAST_STEP)
        await report(round(last, 3), total, message)

    return notify


def call_result(result: ToolResult | ErrorResult, *, has_links: bool = True) -> Json:
    """Return a tool's answer as the JSON of an MCP result. The SDK validates it.

    Args:
        result: The answer.
        has_links: Whether its revision has links. The text names the ids they lead to.
    """
    links = (
        {"type": "resource_link", "uri": each.uri, "name": each.name, "mimeType": each.mime_type}
        for each in (result.links if has_links else ())
    )
    images = (
        {"type": "image", "data": b64encode(each.data).decode(), "mimeType": each.mime_type} for each in result.images
    )
    content = [{"type": "text", "text": result.text}, *links, *images]
    return {"content": content, "structuredContent": result.structured, "isError": result.is_error}
