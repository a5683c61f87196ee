"""`make demo`: a real day planned by a job that goes through every part of the program.

Starts server, store and two workers on free ports, then does what a client does: creates a scenario, submits a solve,
watches it, reads the plan page by page, draws it; then cancels a second solve and reads the best plan it had. Exit
status 0 means that all of it happened.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from mcp import Client

from examples import terminal_output
from examples.beijing import DAY_FILE
from examples.planner_client import FINAL, RefusedError, call, read_plan, watch
from examples.planner_server import ServerStartError, running_server
from planner_mcp.render.plan_report import report_page
from planner_mcp.routing.plan import Plan
from planner_mcp.text import clock

CANCEL_AT: Final = 5
"""Percent of the second solve after which it is cancelled."""


class DemoError(RuntimeError):
    """Something came out otherwise than promised."""


async def demo(solve_s: int, out: Path) -> None:
    """Run all acts.

    Args:
        solve_s: Time of the first solve.
        out: Existing folder for the page and the server's log.
    """
    scenario = json.loads(DAY_FILE.read_text(encoding="utf-8"))
    terminal_output.heading("The planner starts: one server, two workers, an embedded store")
    with tempfile.TemporaryDirectory(prefix="planner-demo-") as data:
        async with running_server(Path(data), log=out / "demo.log") as server, Client(server.mcp) as client:
            terminal_output.note(f"MCP at {server.mcp}, log in {out / 'demo.log'}")
            scenario_id = await create(client, scenario)
            plan, history = await solve(client, scenario_id, solve_s)
            show_plan(plan)
            target = out / "demo.html"
            target.write_text(report_page(scenario, Plan.from_json(plan), history), encoding="utf-8")
            terminal_output.note(f"Map and timeline: {target}")
            await cancel(client, scenario_id)


async def create(client: Client, scenario: dict[str, Any]) -> str:
    """Create the scenario and return its id."""
    terminal_output.heading(f"create_scenario: {scenario['name']}, {scenario['planning_date']}")
    created = await call(client, "create_scenario", scenario)
    terminal_output.note(f"{created['scenario_id']}: {created['agents']} agents, {created['tickets']} tickets")
    for sentence in (*created.get("assumptions", ()), *created.get("warnings", ())):
        terminal_output.note(sentence)
    return str(created["scenario_id"])


async def solve(client: Client, scenario_id: str, solve_s: int) -> tuple[dict[str, Any], list[tuple[float, float]]]:
    """Solve and return the plan, and the best cost by elapsed seconds while as many tickets were served."""
    terminal_output.heading(f"solve_vrp: {solve_s} s, watched with query_vrp_status")
    job = await call(client, "solve_vrp", {"scenario_id": scenario_id, "solve_time": f"PT{solve_s}S"})
    started = time.monotonic()
    history: list[tuple[float, float]] = []
    served = 0

    def on_status(status: dict[str, Any]) -> None:
        nonlocal served
        cost = status.get("cost")
        if status.get("tickets_served", 0) > served:
            served = status["tickets_served"]
            history.clear()
        if cost is not None and (not history or cost < history[-1][1]):
            history.append((time.monotonic() - started, cost))
        terminal_output.show(status)

    status = await watch(client, job["job_id"], on_status)
    terminal_output.settle(status)
    if status["status"] != "COMPLETED":
        raise DemoError(f"The job ended {status['status']}: {status.get('error')}")
    plan = await read_plan(client, status["plan_id"])
    return plan, [*history, (time.monotonic() - started, plan["cost"])]


def show_plan(plan: dict[str, Any]) -> None:
    """Print a line an agent and the figures of the day."""
    terminal_output.heading(f"read_plan: {plan['plan_id']}")
    routes = [
        (
            route["agent_id"],
            len(route["visits"]),
            clock(route["start_s"]),
            clock(route["end_s"]),
            round(route["distance_m"] / 1000, 1),
            round(route["cost"]),
            _in_short(route),
        )
        for route in plan["routes"]
    ]
    terminal_output.table(("agent", "stops", "leaves", "is back", "km", "cost", "route"), routes)
    served = f"{plan['tickets_served']} of {plan['tickets_total']} tickets"
    terminal_output.note(
        f"{served}, {plan['distance_m'] / 1000:,.0f} km, cost {plan['cost']:,.0f}, by {plan['engine']}"
    )
    for entry in plan["unassigned"]:
        terminal_output.note(f"left out: {entry['ticket_id']} ({entry['code']}) {entry['detail']}")


def _in_short(route: dict[str, Any]) -> str:
    """Return the neighbourhoods of a route in order, each once in a row."""
    areas: list[str] = []
    for visit in route["visits"]:
        area = (visit["location"] or visit["kind"]).rpartition("-")[0] or visit["kind"]
        if not areas or areas[-1] != area:
            areas.append(area)
    return " → ".join(areas if len(areas) <= 6 else [*areas[:3], "…", *areas[-2:]])


async def cancel(client: Client, scenario_id: str) -> None:
    """Cancel a solve in mid-flight and read the best plan it had."""
    terminal_output.heading("cancel_vrp_job: a second solve of 60 s, stopped on the way")
    asked = {"scenario_id": scenario_id, "solve_time": "PT60S", "seed": 7, "fresh": True}
    job = await call(client, "solve_vrp", asked)
    status = job
    while status.get("cost") is None or status["progress"] < CANCEL_AT:
        status = await call(client, "query_vrp_status", {"job_id": job["job_id"], "wait_s": 10})
        if status["status"] in FINAL:
            raise DemoError(f"The job ended {status['status']} before it could be cancelled.")
    terminal_output.settle(status)
    asked_at = time.monotonic()
    answer = await call(client, "cancel_vrp_job", {"job_id": job["job_id"]})
    spent_ms = (time.monotonic() - asked_at) * 1000
    if not answer["cancelled"]:
        raise DemoError(f"The job was not cancelled: {answer}")
    kept = await call(client, "read_plan", {"plan_id": answer["plan_id"]})
    terminal_output.note(f"stopped {spent_ms:.0f} ms after the call, at {answer['cancelled_at']}")
    terminal_output.note(f"kept: {kept['tickets_served']} of {kept['tickets_total']} tickets, cost {kept['cost']:,.0f}")


def first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first plain error of a group of groups."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def main() -> int:
    """Run the demo and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--solve-s", type=int, default=15, help="time of the first solve")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the page and the log")
    options = parser.parse_args()
    started = time.monotonic()
    status = 0
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        asyncio.run(demo(options.solve_s, options.out))
    except* (DemoError, RefusedError, ServerStartError, OSError) as failed:
        status = 1
        print(f"\nThe demo failed: {first_of(failed)}", file=sys.stderr)
    if status:
        return status
    terminal_output.heading(f"Done in {time.monotonic() - started:.0f} s.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
