"""Test tools that run as tasks of the extension `io.modelcontextprotocol/tasks`.

`slow_compute` is a real job: it becomes `solve_vrp` of the smallest scenario before the product's own layer sees it,
so creation, status, cancellation, headers and capability gate under test are those of the product. The others do what
no job of ours does (ask for input, end in a protocol error), and are kept by this room, in the store that all
replicas share.
"""

import dataclasses
import json
import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import mcp_types as types
from mcp.server.context import CallNext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from planner_mcp.server.mcp.methods.task_methods import COMPLETE, EXTENSION
from planner_mcp.server.mcp.request_context import as_json, check_name, declares, require
from tests.conformance.fixture_server.content_tools import Context
from tests.conformance.fixture_server.elicitation_tools import form

DAY: Final[dict[str, Any]] = {
    "name": "conformance",
    "planning_date": "2026-07-28",
    "agents": [{"id": "veh-1", "capacity": 100}],
    "tickets": [{"id": "t-1", "location": "LOC_A", "demand": 20}, {"id": "t-2", "location": "LOC_B", "demand": 20}],
}
RUN_S: Final = 0.2
"""How long a test task works."""
TTL_S: Final = 600
PREFIX: Final = "test-"
KEY: Final = "conformance:"
QUESTIONS: Final = {
    "confirm_delete": {"confirm": form("Delete the file?", "confirm", "boolean")},
    "multi_input": {"first": form("First?", "name"), "second": form("Second?", "name")},
}
REQUIRED: Final = frozenset({"failing_job", "test_tool_with_task"})


@dataclass(frozen=True, slots=True)
class SuiteTask:
    """A task without a job."""

    id: str
    tool: str
    begun_s: float
    """Unix time."""
    open: tuple[str, ...] = ()
    """Questions that have no answer yet."""
    reply: str = "done"
    is_cancelled: bool = False

    @property
    def status(self) -> str:
        """What a client is told."""
        if self.is_cancelled:
            return "cancelled"
        if self.open:
            return "input_required"
        if time.time() - self.begun_s < RUN_S:
            return "working"
        return "failed" if self.tool == "protocol_error_job" else "completed"

    def view(self) -> dict[str, Any]:
        """Return the task without its outcome."""
        begun = datetime.fromtimestamp(self.begun_s, UTC).isoformat()
        at = {"createdAt": begun, "lastUpdatedAt": begun}
        return {"taskId": self.id, "status": self.status, **at, "ttlMs": TTL_S * 1000, "pollIntervalMs": 100}

    def detailed(self) -> dict[str, Any]:
        """Return the task with its questions, result or error."""
        view = self.view()
        if view["status"] == "input_required":
            view["inputRequests"] = {key: as_json(QUESTIONS[self.tool][key]) for key in self.open}
        if view["status"] == "failed":
            view["error"] = {"code": types.INTERNAL_ERROR, "message": "This job fails on purpose."}
        if view["status"] == "completed":
            content = [{"type": "text", "text": self.reply}]
            view["result"] = {"resultType": "complete", "content": content, "isError": self.tool == "failing_job"}
        return view


class SuiteTasks:
    """Answers for the test tools that run as tasks, before the product's own handlers.

    Args:
        redis: Where the tasks are, for every replica.
    """

    def __init__(self, redis: Any) -> None:
        self._redis = redis

    async def layer(self, ctx: Context, call_next: CallNext) -> Any:
        """Take what is a test task's, pass on the rest."""
        params = dict(ctx.params or {})
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS and str(params.get("taskId")).startswith(PREFIX):
            return await self._answer(ctx, str(params["taskId"]), params)
        if ctx.method != "tools/call":
            return await call_next(ctx)
        name = params.get("name")
        if name == "slow_compute":
            return await self._solve(ctx, call_next, params)
        if name in QUESTIONS or name in REQUIRED or name == "protocol_error_job":
            return await self._create(ctx, str(name), params)
        return await call_next(ctx)

    async def _create(self, ctx: Context, tool: str, params: dict[str, Any]) -> dict[str, Any]:
        if tool in REQUIRED:
            require(ctx, EXTENSION)
        reply = "done"
        if tool == "test_tool_with_task":
            given = (params.get("inputResponses") or {}).get("user_name")
            if given is None:
                question = as_json(form("What is your name?", "name"))
                return {"resultType": "input_required", "inputRequests": {"user_name": question}}
            reply = f"Hello, {(given.get('content') or {}).get('name')}!"
        if not declares(ctx, EXTENSION):
            return {"resultType": "complete", "content": [{"type": "text", "text": reply}]}
        task = SuiteTask(PREFIX + secrets.token_hex(16), tool, time.time(), tuple(QUESTIONS.get(tool, ())), reply)
        await self._keep(task)
        return {"resultType": "task", **task.view()}

    async def _answer(self, ctx: Context, task_id: str, params: dict[str, Any]) -> dict[str, Any]:
        require(ctx, EXTENSION)
        check_name(ctx, task_id)
        if (kept := await self._redis.get(KEY + task_id)) is None:
            raise MCPError(types.INVALID_PARAMS, "Unknown task.", {"taskId": task_id})
        fields = json.loads(kept)
        task = SuiteTask(**{**fields, "open": tuple(fields["open"])})
        if ctx.method == "tasks/get":
            return {**COMPLETE, **task.detailed()}
        if ctx.method == "tasks/update":
            given = params.get("inputResponses") or {}
            task = dataclasses.replace(task, open=tuple(key for key in task.open if key not in given))
        elif task.status in ("working", "input_required"):
            task = dataclasses.replace(task, is_cancelled=True)
        await self._keep(task)
        return dict(COMPLETE)

    async def _keep(self, task: SuiteTask) -> None:
        await self._redis.set(KEY + task.id, json.dumps(dataclasses.asdict(task)), ex=TTL_S)

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
