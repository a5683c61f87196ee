"""MCP tasks: `tools/call` of a long tool answers with a task if the client asked for one; `tasks/*` manage it (SPEC
X2).

Owns which revision has which form, and the form of the extension `io.modelcontextprotocol/tasks` of 2026-07-28,
where the server decides and the client declares on each request that it accepts a task. `core_tasks.py` has the core
form of 2025-11-25. A task is a job: same id, same life. `tasks/cancel` is a call of `cancel_vrp_job`, with its audit
line.
"""

from functools import partial
from typing import Any, Final

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Field

from planner_mcp.errors import UnknownMethodError
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Job
from planner_mcp.jobs.job_service import JobService
from planner_mcp.server.mcp.jsonrpc.jsonrpc_errors import rpc_data
from planner_mcp.server.mcp.methods import core_tasks
from planner_mcp.server.mcp.methods.core_tasks import CoreTasks, OnCreated
from planner_mcp.server.mcp.methods.extension_capability import add_capabilities
from planner_mcp.server.mcp.methods.page_cursors import Cursors
from planner_mcp.server.mcp.methods.task_view import detailed_task, extension_task, queued_task
from planner_mcp.server.mcp.methods.tool_methods import PlannerToolHandler
from planner_mcp.server.mcp.request_context import (
    Context,
    as_json,
    check_name,
    declares,
    refusal_in,
    require,
    require_reader,
)
from planner_mcp.server.tools.jobs.cancel_vrp_job import TOOL as CANCEL
from planner_mcp.settings import Settings
from planner_mcp.text import Json

EXTENSION: Final = "io.modelcontextprotocol/tasks"
COMPLETE: Final = {"resultType": "complete"}


class UpdateParams(types.GetTaskRequestParams):
    """Parameters of `tasks/update`."""

    input_responses: Json = Field(default_factory=dict)


PARAMS: Final[dict[str, type[types.RequestParams]]] = {
    "tasks/get": types.GetTaskRequestParams,
    "tasks/result": types.GetTaskRequestParams,
    "tasks/list": types.PaginatedRequestParams,
    "tasks/cancel": types.GetTaskRequestParams,
    "tasks/update": UpdateParams,
}


class Tasks:
    """Serves tasks in the form of each revision; revisions without them have no such methods.

    Args:
        job_service: Has the jobs that the tasks are.
        tool_handler: Calls the tools.
        settings: How long jobs are kept.
        cursors: Those of `tasks/list`.
        on_created: Called with each task of a handshake session.
    """

    def __init__(
        self,
        job_service: JobService,
        tool_handler: PlannerToolHandler,
        settings: Settings,
        *,
        cursors: Cursors,
        on_created: OnCreated,
    ) -> None:
        self._tool_handler = tool_handler
        self._core = CoreTasks(job_service, settings, cursors=cursors, cancel=self._cancelled, on_created=on_created)
        self._extension = ExtensionTasks(job_service, settings, cancel=self._cancelled)
        self._job_service = job_service

    def install(self, server: Any) -> None:
        """Add methods, capabilities and the layer around `tools/call` to the SDK's server."""
        for method, params_type in PARAMS.items():
            server.add_request_handler(method, params_type, partial(self._answer, method))
        server.extensions[EXTENSION] = {}
        server.middleware.append(self._layer)
        add_capabilities(server, _in_core)

    async def _answer(self, method: str, ctx: Context, params: Any) -> Any:
        form = self._form(ctx.protocol_version)
        if form is None or method not in form.methods:
            error = UnknownMethodError(f"{method} is not a method of revision {ctx.protocol_version}.")
            raise MCPError(types.METHOD_NOT_FOUND, error.message, rpc_data(error))
        return await form.methods[method](ctx, params)

    async def _layer(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        form = self._form(ctx.protocol_version)
        name = (ctx.params or {}).get("name")
        if ctx.method != "tools/call" or form is None or not isinstance(name, str):
            return await call_next(ctx)
        created: HandlerResult = await form.create(ctx, call_next, is_long=self._tool_handler.is_long(name))
        return created

    def _form(self, version: str) -> Any:
        if version in MODERN_PROTOCOL_VERSIONS:
            return self._extension
        return self._core if version == core_tasks.VERSION else None

    async def _cancelled(self, ctx: Context, job_id: str) -> Job:
        """Cancel a job as the tool does, and return it once its solver has stopped."""
        called = await self._tool_handler.run(ctx, CANCEL, {"job_id": job_id})
        if (refused := refusal_in(as_json(called))) is not None:
            raise refused
        return await self._job_service.job(require_reader(ctx), job_id)


class ExtensionTasks:
    """Answers task requests of revision 2026-07-28.

    Args:
        job_service: Has the jobs that the tasks are.
        settings: How long jobs are kept.
        cancel: Cancels a job.
    """

    def __init__(self, job_service: JobService, settings: Settings, *, cancel: core_tasks.Cancel) -> None:
        self._job_service = job_service
        self._ttl_s = settings.job_ttl_s
        self._cancel = cancel
        self.methods = {"tasks/get": self.get, "tasks/update": self.update, "tasks/cancel": self.cancel}

    async def create(self, ctx: Context, call_next: CallNext, *, is_long: bool) -> HandlerResult:
        """Answer `tools/call`: with a task if the client can take one and the tool did not refuse."""
        called = as_json(await call_next(ctx))
        is_task = is_long and declares(ctx, EXTENSION)
        if not is_task or called.get("resultType") != "complete" or called.get("isError"):
            return called
        principal, answer = require_reader(ctx), called["structuredContent"]
        if answer["status"] == JobState.QUEUED.upper():
            task = queued_task(answer, self._ttl_s)
        else:  # the same call was made before
            task = extension_task(await self._job_service.job(principal, answer["job_id"]), self._ttl_s)
        return {"resultType": "task", **task, "_meta": called.get("_meta", {})}

    async def get(self, ctx: Context, params: types.GetTaskRequestParams) -> Json:
        """Answer `tasks/get`, with the result once there is one."""
        return COMPLETE | detailed_task(await self._task(ctx, params.task_id), self._ttl_s)

    async def update(self, ctx: Context, params: UpdateParams) -> Json:
        """Answer `tasks/update`: no job ever waits for input, so whatever comes answers nothing and is ignored."""
        await self._task(ctx, params.task_id)
        return dict(COMPLETE)

    async def cancel(self, ctx: Context, params: types.GetTaskRequestParams) -> Json:
        """Answer `tasks/cancel`; a task that has ended stays as it is."""
        job = await self._task(ctx, params.task_id, is_writing=True)
        if not job.is_terminal:
            await self._cancel(ctx, job.id)
        return dict(COMPLETE)

    async def _task(self, ctx: Context, task_id: str, *, is_writing: bool = False) -> Job:
        require(ctx, EXTENSION)
        check_name(ctx, task_id)
        principal = require_reader(ctx)
        return await self._job_service.job(principal.as_writer() if is_writing else principal, task_id)


def _in_core(_ctx: Context, answer: Json) -> Json:
    """Declare tasks at a handshake in the revision that has them in its core."""
    return {"tasks": core_tasks.CAPABILITY} if answer.get("protocolVersion") == core_tasks.VERSION else {}
