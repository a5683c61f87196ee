"""What tools cost a model (SPEC T9), in o200k tokens, counted on what really goes out."""

from base64 import b32encode, b64encode
from datetime import UTC, datetime
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import pytest

from planner_mcp.errors import Fault, JobFailure, input_error, listing_only
from planner_mcp.jobs.job_content import event_line
from planner_mcp.jobs.job_events import Event, EventData, EventKind
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Job, Progress, SolveRequest
from planner_mcp.jobs.plan_summary import PlanSummary, summary_of
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.scenario.shown_scenario import as_shown
from planner_mcp.server.tools.answers.error_results import error_result
from planner_mcp.server.tools.answers.job_output import JobOutput
from planner_mcp.server.tools.answers.job_text import job_lines, job_links
from planner_mcp.server.tools.answers.plan_pages import VIEWS, page_of
from planner_mcp.server.tools.answers.token_estimates import fitting
from planner_mcp.server.tools.jobs.job_result import CHANGES_BYTES, MORE
from planner_mcp.server.tools.plans import read_plan
from planner_mcp.server.tools.tool_definition import ToolResult
from planner_mcp.server.tools.tool_registry import INSTRUCTIONS, REGISTRY, shown_tools
from planner_mcp.settings import Settings
from planner_mcp.text import plain_fields
from tests.shared.scenarios.stored_plans import stored_plan
from tests.shared.tools.token_costs import JOB, PLAN, all_forms_tokens, dearer_form_tokens, tokens

SOLVING = Progress(
    percent=57, cost=123456.78, tickets_served=1234, tickets_total=1250, improvements=321, elapsed_s=123.45
)


def job(state: JobState, **more: Any) -> Job:
    """Return a job in a state, its solve well under way."""
    now = datetime(2026, 7, 15, 8, 30, 15, 123000, UTC)
    return Job(JOB, "local", SolveRequest("scn-0-x", 30), state, now, SOLVING, finished_at=now, **more)


def answer(found: Job) -> ToolResult:
    """Return the answer of `query_vrp_status`."""
    return ToolResult(JobOutput.of(found), job_lines(found), job_links(found))


def test_the_list_of_tools() -> None:
    """SPEC T9: tools/list ≤ 2400, with plan_day and a description for every property; one tool ≤ 800."""
    shown = [tool.as_json() for tool in shown_tools(Settings())]
    assert tokens({"tools": shown}) <= 2400
    assert max(tokens(tool.as_json()) for tool in REGISTRY) <= 800


@pytest.mark.parametrize("tool", REGISTRY, ids=lambda tool: tool.name)
def test_a_description(tool: Any) -> None:
    """SPEC T6, T9: long enough to choose by, short enough to pay for."""
    assert 25 <= tokens(tool.description) <= 70


def test_the_instructions() -> None:
    """SPEC T9: ≤ 120."""
    assert 50 <= tokens(INSTRUCTIONS) <= 120


def test_a_running_status() -> None:
    """SPEC T9: ≤ 90, and so is a progress message."""
    assert dearer_form_tokens(answer(job(JobState.SOLVING, plan_id=PLAN, summary=PlanSummary(cost_in="EUR")))) <= 90
    assert dearer_form_tokens(answer(job(JobState.QUEUED, queue_position=9999))) <= 90
    figures = plain_fields(SOLVING)
    event = Event("1-0", JOB, EventKind.PROGRESS, "", EventData("SOLVING", figures.pop("percent"), **figures))
    assert tokens(event_line(event)) <= 60


def test_a_finished_summary() -> None:
    """SPEC T9: ≤ 350, both forms and the links together, so whichever a host shows."""
    codes = ["TIME_WINDOW", "CAPACITY", "PENALTY_LOWER_THAN_COST", "NO_ROOM_FOUND", "MAX_X"]
    plan = stored_plan(routes=30, visits=40) | {"unassigned": [{"code": codes[n % 5]} for n in range(500)]}
    for route in plan["routes"]:
        route["overtime_s"] = 13_320.5
        route["visits"] = [visit | {"late_s": 10_860.5} for visit in route["visits"]]
    tickets = [{"id": f"t-{n}", "location": "A", "preferred_agent": "veh-x"} for n in range(1200)]
    summary = summary_of(
        plan, as_shown({"name": "day", "planning_date": "2026-07-15", "agents": [], "tickets": tickets})
    )
    found = answer(job(JobState.COMPLETED, plan_id=PLAN, summary=summary))
    assert "late_tickets 1200 · late_max_s 10860.5 · overtime_s 399615 · not_preferred 1200" in found.text
    assert found.structured["result"]["late_tickets"] == 1200
    assert dearer_form_tokens(found) <= 250
    assert dearer_form_tokens(answer(job(JobState.CANCELLED, plan_id=PLAN, summary=summary))) <= 350
    changes = fitting(["In all +12.3 km, cost -123.45.", "t-1021 is 35 min late, 0 before."] * 9, CHANGES_BYTES)
    assert dearer_form_tokens(found) + tokens("\n".join([*changes, MORE])) <= 350
    error = JobFailure(5014, "PlanRejected", "The solver returned a plan that breaks the scenario.")
    assert dearer_form_tokens(answer(job(JobState.FAILED, error=error))) <= 350


@pytest.mark.parametrize("view", sorted(VIEWS))
def test_a_page(view: str) -> None:
    """SPEC T9: ≤ 900 for the usual page of a real day."""
    plan = stored_plan(routes=40, visits=30, left_out=100)
    page = page_of(VIEWS[view], Plan.from_json(plan), columns=[], agents=[], page=1, size=None)
    result = read_plan.table(PLAN, view, page)
    assert len(page.rows) == 20
    assert dearer_form_tokens(result) <= 900


def _uuid(kind: str, number: int) -> str:
    return str(uuid5(NAMESPACE_OID, f"{kind}-{number}"))


def _base64(kind: str, number: int) -> str:
    return b64encode(uuid5(NAMESPACE_OID, f"{kind}-{number}").bytes).decode().rstrip("=")


def _base32(kind: str, number: int) -> str:
    return b32encode(uuid5(NAMESPACE_OID, f"{kind}-{number}").bytes).decode().rstrip("=")


IDS: Any = {
    "uuid": _uuid,
    "hex": lambda kind, number: _uuid(kind, number).replace("-", ""),
    "base64": _base64,
    "base32": _base32,
    "words": "customer-order-{}-{}".format,
    "chinese": "北京朝阳区{}-{}".format,
    "emoji": ("\N{DELIVERY TRUCK}" * 10 + "{}-{}").format,
}


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("columns", [0, 99])
@pytest.mark.parametrize("view", sorted(VIEWS))
def test_a_page_of_a_day_with_ids_of_its_own_kind(view: str, columns: int, ids: str) -> None:
    """SPEC T9: ≤ 900 wherever no size is asked for, with the usual columns and with all; pages of some rows."""
    plan = stored_plan(routes=40, visits=30, left_out=100, name=IDS[ids])
    plan["routes"][0]["visits"][0]["late_s"] = 7260.0
    page = page_of(
        VIEWS[view], Plan.from_json(plan), columns=list(VIEWS[view].columns)[:columns], agents=[], page=2, size=None
    )
    assert len(page.rows) >= 5
    assert dearer_form_tokens(read_plan.table(PLAN, view, page)) <= 900


@pytest.mark.parametrize("script", ["x", "北", "🚚"])
@pytest.mark.parametrize("view", sorted(VIEWS))
def test_the_largest_answer_there_can_be(view: str, script: str) -> None:
    """SPEC T9: any result ≤ 8000, with everything shown, whatever the ids."""
    plan = stored_plan(routes=60, visits=2, left_out=60, name=(script * 95 + "{}{}").format)
    page = page_of(VIEWS[view], Plan.from_json(plan), columns=list(VIEWS[view].columns), agents=[], page=1, size=50)
    assert all_forms_tokens(read_plan.table(PLAN, view, page)) <= 8000


@pytest.mark.parametrize("name", ["field", "字段名称", "\N{DELIVERY TRUCK}" * 5])
def test_an_error(name: str) -> None:
    """SPEC T9: ≤ 400 with any number of faults."""
    faults = [
        Fault(
            f"/tickets/{n}/time_windows/0/{name}",
            "The window closes before it opens.",
            "[open, close] with open ≤ close, as HH:MM",
            "Swap the two times, or leave the window out.",
            "logic",
        )
        for n in range(100)
    ]
    trace_id = "0123456789abcdef0123456789abcdef"
    result = error_result(input_error(faults), trace_id)
    assert tokens(result.text) <= 400
    (fault,) = result.structured["errors"]
    assert fault["count"] == 100
    text = answer(job(JobState.FAILED, error=JobFailure.of(input_error(faults).as_json(trace_id)))).text
    assert tokens(text) <= 350
    assert "100 problems; each is listed in errors." in text


@pytest.mark.parametrize("name", ["t{} (2)", "Auftrag-2026-{:05} (60)", "3f9c0a1b-2c4d-{:04} (5)", "订单{} (2)"])
def test_an_error_of_the_same_mistakes_in_many_entries(name: str) -> None:
    """SPEC T9: ≤ 400, whatever the ids are; of each mistake some entries are named."""
    mistakes = [
        ("demand", "The value is text, not a number.", "a number, or an object", "Write the number without quotes."),
        ("service_min", "The parameter service_min is not known.", "id, location, …", "Did you mean service_time_s?"),
    ]
    faults = [
        Fault(f"/tickets/{n}/{field}", *words, which=(name.format(n),))
        for field, *words in mistakes
        for n in range(200)
    ]
    result = error_result(input_error(faults), "0123456789abcdef0123456789abcdef")
    assert tokens(result.text) <= 400
    assert [(fault["count"], len(fault["which"]) > 3) for fault in result.structured["errors"]] == [(200, True)] * 2


@pytest.mark.parametrize("name", ["field", "字段名称", "\N{DELIVERY TRUCK}" * 5])
def test_an_error_of_many_different_mistakes(name: str) -> None:
    """SPEC T9: ≤ 400; what has no room is counted, in the text of a job as well."""
    faults = [
        Fault(f"/tickets/{n}/{name}{n}", f"The window closes {n} s before it opens.", "[open, close]", "", "logic")
        for n in range(100)
    ]
    trace_id = "0123456789abcdef0123456789abcdef"
    result = error_result(input_error(faults), trace_id)
    assert tokens(result.text) <= 400
    assert len(result.structured["errors"]) + result.structured["errors_omitted"] == 100
    text = answer(job(JobState.FAILED, error=JobFailure.of(input_error(faults).as_json(trace_id)))).text
    assert tokens(text) <= 350
    listed = sum(line.startswith("/tickets/") for line in text.splitlines())
    assert listing_only("100 problems; the first 50 are listed.", listed) in text


def test_ten_mistakes_at_once_are_all_listed() -> None:
    """SPEC T7, T9: the place and the problem of each, with its value; the hints of the last give way."""
    faults = [
        Fault(
            f"/tickets/{n}/demand",
            f"Problem number {n} of this scenario.",
            "an amount of 0 or more",
            "Write the amount as a number.",
            which=(f"order-{n} (-{n})",),
        )
        for n in range(10)
    ]
    result = error_result(input_error(faults), "0" * 32)
    assert tokens(result.text) <= 400
    assert [fault["which"] for fault in result.structured["errors"]] == [[f"order-{n} (-{n})"] for n in range(10)]
    assert "errors_omitted" not in result.structured
