"""The planner as a client program sees it: five tools called through the official MCP client.

Owns the few lines every program around the planner writes: a call whose refusal is an exception, a wait for the end of
a job, and a plan put together from its pages.
"""

from collections.abc import Callable
from typing import Any, Final

from mcp import Client

ROUTE_FIELDS: Final = (
    "agent_id",
    "start_location",
    "end_location",
    "start_s",
    "end_s",
    "distance_m",
    "travel_s",
    "waiting_s",
    "cost",
)
VISIT_FIELDS: Final = ("agent_id", "kind", "ticket_id", "location", "arrival_s", "start_s", "departure_s", "load")
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
    """Return the status a job ends with; tell every change on the way.

    Each call waits in the server until something changes; between two answers its progress notifications move the bar.
    """
    status: dict[str, Any] = {"job_id": job_id, "status": "QUEUED", "progress": 0}

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        word = (message or "SOLVING").partition(" ")[0]
        if word not in FINAL and status["status"] not in FINAL:  # the end is told by the answer, with all it says
            on_status({**status, "status": word, "progress": max(status["progress"], int(progress))})

    while status["status"] not in FINAL:
        asked = {"job_id": job_id, "wait_s": 10}
        status = await call(client, "query_vrp_status", asked, progress_callback=on_progress)
        on_status(status)
    return status


async def rows(client: Client, plan_id: str, view: str, fields: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return a whole table of a plan, read page by page."""
    found: list[dict[str, Any]] = []
    page: int | None = 1
    while page is not None:
        asked = {"plan_id": plan_id, "view": view, "fields": list(fields), "page": page, "size": 50}
        answer = await call(client, "read_plan", asked)
        found += [dict(zip(answer["columns"], row, strict=True)) for row in answer["rows"]]
        page = answer.get("next_page")
    return found


async def read_plan(client: Client, plan_id: str) -> dict[str, Any]:
    """Return a plan with its routes, visits and unassigned tickets, the way `planner_mcp.render` draws it."""
    figures = await call(client, "read_plan", {"plan_id": plan_id})
    routes = await rows(client, plan_id, "routes", ROUTE_FIELDS)
    visits = await rows(client, plan_id, "visits", VISIT_FIELDS)
    unassigned = await rows(client, plan_id, "unassigned", ("ticket_id", "code", "detail"))
    for route in routes:
        route["visits"] = [visit for visit in visits if visit["agent_id"] == route["agent_id"]]
    return {**figures, "routes": routes, "unassigned": unassigned}
