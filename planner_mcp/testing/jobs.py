"""Test tools that run as tasks of the extension `io.modelcontextprotocol/tasks`.

`slow_compute` is a real job: it becomes `solve_vrp` of the smallest scenario before the product's own layer sees it,
so creation, status, cancellation, headers and capability gate under test are those of the product. The others do what
no job of ours does (ask for input, end in a protocol error), and are kept here.
"""

import dataclasses
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import mcp_types as types
from mcp.server.context import CallNext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from planner_mcp.protocol.callers import as_json, check_name, declares, require
from planner_mcp.protocol.tasks import COMPLETE, EXTENSION
from planner_mcp.testing.asking import form
from planner_mcp.testing.speaking import Context

DAY: Final[dict[str, Any]] = {
    "name": "conformance",
    "planning_date": "2026-07-28",
    "agents": [{"id": "veh-1", "capacity": 100}],
    "tickets": [{"id": "t-1", "location": "LOC_A", "demand": 20}, {"id": "t-2", "location": "LOC_B", "demand": 20}],
}
RUN_S: Final = 0.2
"""How long a test task works."""
QUESTIONS: Final = {
    "confirm_delete": {"confirm": form("Delete the file?", "confirm", "boolean")},
    "multi_input": {"first": form("First?", "name"), "second": form("Second?", "name")},
}
REQUIRED: Final = frozenset({"failing_job", "test_tool_with_task"})


@dataclass(slots=True)
class SuiteTask:
    """A task that lives in this process."""

    id: str
    tool: str
    begun: datetime
    questions: dict[str, types.ElicitRequest] = field(default_factory=dict)
    said: str = "done"
    is_cancelled: bool = False

    def view(self, now: datetime) -> dict[str, Any]:
        """Return the task without its outcome."""
        status = "working"
        if self.is_cancelled:
            status = "cancelled"
        elif self.questions:
            status = "input_required"
        elif now - self.begun >= timedelta(seconds=RUN_S):
            status = "failed" if self.tool == "protocol_error_job" else "completed"
        at = {"createdAt": self.begun.isoformat(), "lastUpdatedAt": now.isoformat()}
        return {"taskId": self.id, "status": status, **at, "ttlMs": 600_000, "pollIntervalMs": 100}

    def detailed(self, now: datetime) -> dict[str, Any]:
        """Return the task with its questions, result or error."""
        view = self.view(now)
        if view["status"] == "input_required":
            view["inputRequests"] = {key: as_json(asked) for key, asked in self.questions.items()}
        if view["status"] == "failed":
            view["error"] = {"code": types.INTERNAL_ERROR, "message": "This job fails on purpose."}
        if view["status"] == "completed":
            content = [{"type": "text", "text": self.said}]
            view["result"] = {"resultType": "complete", "content": content, "isError": self.tool == "failing_job"}
        return view


class SuiteTasks:
    """Answers for the test tools that run as tasks, before the product's own handlers."""

    def __init__(self) -> None:
        self._tasks: dict[str, SuiteTask] = {}

    async def layer(self, ctx: Context, call_next: CallNext) -> Any:
        """Take what is a test task's, pass on the rest."""
        params = dict(ctx.params or {})
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS and params.get("taskId") in self._tasks:
            return self._answer(ctx, self._tasks[params["taskId"]], params)
        if ctx.method != "tools/call":
            return await call_next(ctx)
        name = params.get("name")
        if name == "slow_compute":
            return await self._solve(ctx, call_next, params)
        if name in QUESTIONS or name in REQUIRED or name == "protocol_error_job":
            return self._create(ctx, str(name), params)
        return await call_next(ctx)

    def _create(self, ctx: Context, tool: str, params: dict[str, Any]) -> dict[str, Any]:
        if tool in REQUIRED:
            require(ctx, EXTENSION)
        said = "done"
        if tool == "test_tool_with_task":
            given = (params.get("inputResponses") or {}).get("user_name")
            if given is None:
                asked = as_json(form("What is your name?", "name"))
                return {"resultType": "input_required", "inputRequests": {"user_name": asked}}
            said = f"Hello, {(given.get('content') or {}).get('name')}!"
        if not declares(ctx, EXTENSION):
            return {"resultType": "complete", "content": [{"type": "text", "text": said}]}
        task = SuiteTask(f"test-{secrets.token_hex(16)}", tool, datetime.now(UTC), dict(QUESTIONS.get(tool, {})), said)
        self._tasks[task.id] = task
        return {"resultType": "task", **task.view(task.begun)}

    def _answer(self, ctx: Context, task: SuiteTask, params: dict[str, Any]) -> dict[str, Any]:
        require(ctx, EXTENSION)
        check_name(ctx, task.id)
        now = datetime.now(UTC)
        if ctx.method == "tasks/get":
            return {**COMPLETE, **task.detailed(now)}
        if ctx.method == "tasks/update":
            for key in params.get("inputResponses") or {}:
                task.questions.pop(key, None)
        elif task.view(now)["status"] in ("working", "input_required"):
            task.is_cancelled = True
        return dict(COMPLETE)

    async def _solve(self, ctx: Context, call_next: CallNext, params: dict[str, Any]) -> Any:
        """Let the product solve something for as many seconds."""
        made = as_json(await call_next(_calling(ctx, params, "create_scenario", DAY)))
        seconds = max(1, int((params.get("arguments") or {}).get("seconds", 1)))
        wanted = {
            "scenario_id": made["structuredContent"]["scenario_id"],
            "solve_time": f"PT{seconds}S",
            "fresh": True,
        }
        return await call_next(_calling(ctx, params, "solve_vrp", wanted))


def _calling(ctx: Context, params: dict[str, Any], name: str, arguments: dict[str, Any]) -> Context:
    return dataclasses.replace(ctx, params={**params, "name": name, "arguments": arguments})
