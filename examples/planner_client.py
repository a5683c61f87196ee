"""The planner as a client program sees it: its tools, called through the official MCP client.

Owns the few lines every program around the planner writes: a call whose refusal is an exception, a wait for the end of
a job, and reading a plan.
"""

import json
from collections.abc import Callable
from typing import Any, Final

from mcp import Client
from mcp.types import TextResourceContents

FINAL: Final = frozenset({"COMPLETED", "FAILED", "CANCELLED"})


class RefusedError(RuntimeError):
    """A tool answered with an error; the message is what it said."""


async def call(client: Client, tool: str, arguments: dict[str, Any], **options: Any) -> dict[str, Any]:
    """Return the structured answer of a tool.

    Raises:
        RefusedError: The tool refused.
    """
    result = await client.call_tool(tool, arguments, **options)
    answer = result.structured_content or {}
    if result.is_error:
        faults = "".join(f"\n  {fault['path']}: {fault['problem']}" for fault in answer.get("errors", ()))
        raise RefusedError(f"{tool}: {answer.get('code')} {answer.get('message')}{faults}")
    return answer


async def watch(client: Client, job_id: str, on_status: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Return the status a job ends with; report every change on the way.

    Each call waits in the server for the end of the job; between two answers its progress notifications move the bar.
    """
    status: dict[str, Any] = {"job_id": job_id, "status": "QUEUED", "progress": 0}

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        word = (message or "SOLVING").partition(" ")[0]
        if word not in FINAL and status["status"] not in FINAL:  # the answer reports the end
            on_status({**status, "status": word, "progress": max(status["progress"], int(progress))})

    while status["status"] not in FINAL:
        asked = {"job_id": job_id, "wait_s": 10}
        status = await call(client, "query_vrp_status", asked, progress_callback=on_progress)
        on_status(status)
    return status


async def read_plan(client: Client, plan_id: str) -> dict[str, Any]:
    """Return a whole plan, as the resource `plan://` has it and `planner_mcp.render` draws it."""
    contents = (await client.read_resource(f"plan://{plan_id}")).contents
    (text,) = [part.text for part in contents if isinstance(part, TextResourceContents)]
    plan: dict[str, Any] = json.loads(text)
    return plan
