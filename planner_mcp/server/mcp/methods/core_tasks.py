"""Tasks in the core form of revision 2025-11-25: the client requests a task (`params.task`) and fetches the result
later.

Owns the answers to `tools/call` with `params.task`, `tasks/get`, `tasks/result`, `tasks/list` and `tasks/cancel`.
`notifications/resource_subscriptions.py` sends the notifications of a task.

Intended departure: an equal call finds the job of the earlier call, so a new task may begin in the present status of
that job instead of `working`.
"""

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from functools import partial
from typing import Final

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError

from planner_mcp.errors import InputError, UnknownMethodError
from planner_mcp.jobs.job_model import Job
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.keyset_paging import mark_of_job, next_page
from planner_mcp.server.mcp.jsonrpc.jsonrpc_errors import rpc_data
from planner_mcp.server.mcp.methods.page_cursors import PAGE, Cursors
from planner_mcp.server.mcp.methods.task_view import core_task, result_json
from planner_mcp.server.mcp.request_context import Context, as_json, refusal_in, require_reader
from planner_mcp.settings import Settings
from planner_mcp.text import Json

VERSION: Final = "2025-11-25"
CAPABILITY: Final[Json] = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
RELATED: Final = "io.modelcontextprotocol/related-task"
IMMEDIATE: Final = "io.modelcontextprotocol/model-immediate-response"

Cancel = Callable[[Context, str], Awaitable[Job]]
OnCreated = Callable[[Context, Job], Awaitable[None]]


class CoreTasks:
    """Answers task requests of revision 2025-11-25.

    Args:
        job_service: Has the jobs that the tasks are.
        settings: How long jobs are kept.
        cursors: Those of `tasks/list`.
        cancel: Cancels a job and returns it once its solver has stopped.
        on_created: Called with each new task, so that its session is notified of its changes.
    """

    def __init__(
        self,
        job_service: JobService,
        settings: Settings,
        *,
        cursors: Cursors,
        cancel: Cancel,
        on_created: OnCreated,
    ) -> None:
        self._job_service = job_service
        self._cursors = cursors
        self._ttl_s = settings.job_ttl_s
        self._cancel = cancel
        self._on_created = on_created
        self.methods = {
            "tasks/get": self.get,
            "tasks/result": self.result,
            "tasks/list": self.list,
            "tasks/cancel": self.cancel,
        }

    async def create(self, ctx: Context, call_next: CallNext, *, is_long: bool) -> HandlerResult:
        """Answer `tools/call`: with a task if the client asks for one.

        Raises:
            MCPError: The tool cannot be run as a task, or refuses the call, which a task cannot express.
        """
        if (ctx.params or {}).get("task") is None:  # null is how some serializers write what was left out
            return await call_next(ctx)
        if not is_long:
            error = UnknownMethodError("This tool cannot be called as a task.")
            raise MCPError(types.METHOD_NOT_FOUND, error.message, rpc_data(error))
        called = as_json(await call_next(ctx))
        if (refused := refusal_in(called)) is not None:
            raise refused
        job = await self._job_service.job(require_reader(ctx), called["structuredContent"]["job_id"])
        await self._on_created(ctx, job)
        first_text = called["content"][0]["text"]
        return {"task": core_task(job, self._ttl_s), "_meta": {IMMEDIATE: first_text}}

    async def get(self, ctx: Context, params: types.GetTaskRequestParams) -> Json:
        """Answer `tasks/get`."""
        return core_task(await self._job_service.job(require_reader(ctx), params.task_id), self._ttl_s)

    async def result(self, ctx: Context, params: types.GetTaskRequestParams) -> Json:
        """Answer `tasks/result`: wait for the end, then give exactly the tool's result."""
        principal = require_reader(ctx)
        job = await self._job_service.job(principal, params.task_id)
        if not job.is_terminal:
            async with aclosing(self._job_service.follow(principal, job.id, job.event_id)) as events:
                async for _event in events:
                    pass
            job = await self._job_service.job(principal, job.id)
        return result_json(job) | {"_meta": {RELATED: {"taskId": job.id}}}

    async def list(self, ctx: Context, params: types.PaginatedRequestParams) -> Json:
        """Answer `tasks/list`: every job of the principal, newest first."""
        principal = require_reader(ctx)
        # new jobs move the ones behind them, so a cursor knows the mark of the last task listed beside its offset
        start, _, last = (self._cursors.read(ctx, params) or "0").partition(" ")
        read = partial(self._job_service.jobs, principal)
        listed, last, total = await next_page(read, mark_of_job, offset=int(start), count=PAGE, last=last)
        page: Json = {"tasks": [core_task(job, self._ttl_s) for job in listed]}
        following = int(start) + PAGE
        if following >= total:
            return page
        return page | {"nextCursor": self._cursors.make(ctx, f"{following} {last}")}

    async def cancel(self, ctx: Context, params: types.GetTaskRequestParams) -> Json:
        """Answer `tasks/cancel`, after the solver has stopped."""
        job = await self._job_service.job(require_reader(ctx).as_writer(), params.task_id)
        if job.is_terminal:
            raise InputError(f"The task has already ended: {job.state.lower()}.")
        return core_task(await self._cancel(ctx, job.id), self._ttl_s)
