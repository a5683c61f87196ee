"""What the tools of the set `data` cost a model (SPEC T9), in o200k tokens."""

import json
import string
from dataclasses import replace
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

from planner_mcp.jobs.webhooks.delivery_records import Delivery, DeliveryState, EndpointState, WebhookEndpoint
from planner_mcp.server.resources.downloads import Download
from planner_mcp.server.resources.resource_definition import Contents
from planner_mcp.server.tools.answers.table_result import table_result
from planner_mcp.server.tools.discovery.read_resource import ResourceArguments, _content_part
from planner_mcp.server.tools.jobs import list_jobs
from planner_mcp.server.tools.scenarios import list_scenarios
from planner_mcp.server.tools.tool_definition import ToolResult
from planner_mcp.server.tools.tool_registry import REGISTRY
from planner_mcp.server.tools.webhooks import webhook_deliveries
from tests.shared.scenarios.stored_plans import stored_plan
from tests.shared.tools.token_costs import JOB, PLAN, all_forms_tokens, dearer_form_tokens, tokens

SCENARIO = JOB.replace("job-", "scn-", 1)
AT = "2026-07-15T08:30:15.123Z"


@pytest.mark.parametrize("name", ["data", "admin"])
def test_the_list_of_a_set(name: str) -> None:
    """SPEC T9: switching a small set on costs less than half of the core."""
    assert tokens({"tools": [tool.as_json() for tool in REGISTRY if tool.toolset == name]}) <= 1180


def jobs(count: int) -> ToolResult:
    """Return a page of `list_jobs`."""
    rows = [[JOB, "COMPLETED", 100, 123456.78, "EUR", AT] for _ in range(count)]
    return table_result("jobs", list_jobs.COLUMNS, rows, page=1, size=count, total=9999)


def scenarios(count: int, name: str) -> ToolResult:
    """Return a page of `list_scenarios`."""
    rows = [[SCENARIO, name, 3, JOB, AT, "2026-07-15"] for _ in range(count)]
    return table_result("scenarios", list_scenarios.COLUMNS, rows, page=1, size=count, total=9999)


def test_a_page_of_a_list() -> None:
    """SPEC T9: the usual page ≤ 900, the largest ≤ 8000 with both forms."""
    assert dearer_form_tokens(jobs(10)) <= 900
    assert dearer_form_tokens(scenarios(10, "北京城配 周二")) <= 900
    assert all_forms_tokens(jobs(50)) <= 8000
    assert all_forms_tokens(scenarios(20, "\N{DELIVERY TRUCK}" * list_scenarios.MAX_NAME)) <= 8000


TOKEN = "".join(Random(7).choices(string.ascii_letters + string.digits + "_-", k=200))
LINK = Download(f"https://planner.example.com/downloads/{TOKEN}/stops.csv", datetime(2026, 7, 15, 12, 30, tzinfo=UTC))


def piece(text: str) -> ToolResult:
    """Return what `read_resource` answers for a long text."""
    found = Contents("text/csv", text)
    return _content_part(ResourceArguments(uri=f"plan://{PLAN}/stops.csv"), found, text, LINK)


def test_a_content_part_of_a_resource() -> None:
    """SPEC T9: ≤ 900 for a plan and an export with its URL, ≤ 8000 whatever it holds."""
    plan: Any = stored_plan(routes=40, visits=30, left_out=100)
    assert dearer_form_tokens(piece(json.dumps(plan, separators=(",", ":")))) <= 900
    assert dearer_form_tokens(piece("<td>今天的配送报告</td>" * 500)) <= 900
    for script in ("x", '"', "\\", "北", "\N{DELIVERY TRUCK}", "\x01"):
        assert all_forms_tokens(piece(script * 9000)) <= 8000


NOON = datetime(2026, 7, 15, 12, 30, 15, 123000, UTC)
DEAREST = "https://hooks.example.com/" + "".join(Random(7).choices(string.ascii_letters + string.digits + "_-", k=2000))


def deliveries(count: int) -> ToolResult:
    """Return a page of deliveries that failed and wait for their next attempt."""
    name, state = f"{JOB}:completed", DeliveryState.PENDING
    one = Delivery(name, "ann", DEAREST, JOB, "completed", "{}", state, NOON, NOON, 10, "answer 500")
    return webhook_deliveries.deliveries_page([one] * count, 9999, 2)


def endpoints(count: int) -> ToolResult:
    """Return a page of endpoints that fail, of long URLs."""
    one = WebhookEndpoint("", EndpointState.RESTING, 1234, 10, 500, NOON, NOON, NOON)
    found = [replace(one, url=f"{DEAREST[: 90 + n]}{DEAREST[n:]}") for n in range(count)]
    return webhook_deliveries.endpoints_page(found, 9999, 2)


def test_a_page_of_webhooks() -> None:
    """SPEC T9: ≤ 900 where no size is asked for, ≤ 8000 with both forms, whatever the URLs."""
    assert dearer_form_tokens(deliveries(webhook_deliveries.USUAL_DELIVERIES)) <= 900
    assert dearer_form_tokens(endpoints(webhook_deliveries.USUAL_ENDPOINTS)) <= 900
    assert all_forms_tokens(deliveries(50)) <= 8000
    assert all_forms_tokens(endpoints(webhook_deliveries.MAX_ENDPOINTS)) <= 8000
    assert all("more with page=2" in page(1).text for page in (deliveries, endpoints)), "SPEC T6: in the text too"
