"""`webhook_deliveries`: list, look at, replay and test the caller's webhooks (SPEC W3)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field

from planner_mcp.errors import Fault, input_error
from planner_mcp.jobs.webhooks.address_guard import check_callback_url
from planner_mcp.jobs.webhooks.delivery_records import Delivery, DeliveryState, WebhookEndpoint, WebhookStore
from planner_mcp.server.tools.answers.table_result import more_text, page_after
from planner_mcp.server.tools.arguments.lookup_errors import DELIVERY, naming_argument
from planner_mcp.server.tools.tool_definition import (
    WRITE,
    Arguments,
    PageNumber,
    Tool,
    ToolAnnotations,
    ToolContext,
    ToolResult,
)
from planner_mcp.server.tools.tool_output import Timestamp, ToolOutput
from planner_mcp.text import counted, plain, timestamp

SHOWN_ATTEMPTS: Final = 10
USUAL_DELIVERIES: Final = 10
"""Rows of a page of deliveries that is asked for without a size."""
USUAL_ENDPOINTS: Final = 5
"""Rows of a page of endpoints that is asked for without a size: a URL may cost as many tokens as the rest of a row."""
MAX_ENDPOINTS: Final = 20
"""Endpoints of any page, so that an answer stays below 8000 tokens."""
MAX_URL: Final = 100
"""Characters shown of a URL; more are cut."""


class DeliveriesArguments(Arguments):
    """Arguments of `webhook_deliveries`."""

    action: Annotated[
        Literal["list", "show", "replay", "test", "endpoints"], Field(description="test sends a signed example")
    ] = "list"
    delivery_id: Annotated[str | None, Field(max_length=120, description="to show or replay")] = None
    url: Annotated[
        str | None, Field(max_length=2048, description="endpoint to test", json_schema_extra={"format": "uri"})
    ] = None
    state: Annotated[Literal["pending", "delivered", "dead"] | None, Field(description="list only these")] = None
    page: PageNumber = 1
    size: Annotated[
        int | None,
        Field(ge=1, le=50, description=f"absent: {USUAL_DELIVERIES}, endpoints {USUAL_ENDPOINTS} (≤ {MAX_ENDPOINTS})"),
    ] = None


class DeliveryTry(ToolOutput):
    """One attempt of a delivery."""

    at: Timestamp
    status: int | None = Field(description="HTTP status; null: no answer")
    error: str
    took_ms: int


class DeliveryRow(ToolOutput):
    """One delivery."""

    delivery_id: str
    state: str
    event: str
    attempts: int
    created_at: Timestamp
    error: str | None = None
    next_attempt_at: Timestamp | None = None
    tries: list[DeliveryTry] | None = None


class EndpointRow(ToolOutput):
    """One receiver of webhooks."""

    url: str
    state: str
    pending: int
    failures: int
    last_status: int | None = None
    failing_since: Timestamp | None = None
    rests_until: Timestamp | None = None
    last_at: Timestamp | None = None


class WebhookDeliveriesResult(ToolOutput):
    """Result of `webhook_deliveries`."""

    deliveries: list[DeliveryRow] | None = None
    endpoints: list[EndpointRow] | None = None
    total: int | None = None
    next_page: int | None = None


async def run(ctx: ToolContext, asked: DeliveriesArguments) -> ToolResult:
    """Do what `action` says."""
    webhooks, principal = ctx.webhooks, ctx.principal.id
    if asked.url is not None:
        check_callback_url(asked.url, ctx.settings, path="/url")
    if asked.action == "list":
        return await _list(webhooks, principal, asked)
    if asked.action == "endpoints":
        return await _endpoints(webhooks, principal, asked)
    if asked.action == "test":
        url = _needed(asked.url, "/url", "the https URL of an endpoint")
        return _one(await webhooks.send_test(principal, url))
    name = _needed(asked.delivery_id, "/delivery_id", "an id from action=list")
    with naming_argument("/delivery_id", DELIVERY):
        return _one(await (webhooks.delivery if asked.action == "show" else webhooks.replay)(principal, name))


def _needed(value: str | None, path: str, accepted: str) -> str:
    if value is None:
        raise input_error([Fault(path, f"This action needs {path[1:]}.", accepted, kind="missing")])
    return value


async def _list(webhooks: WebhookStore, principal: str, asked: DeliveriesArguments) -> ToolResult:
    state = DeliveryState(asked.state) if asked.state else None
    size = asked.size or USUAL_DELIVERIES
    found, total = await webhooks.deliveries(principal, state, offset=(asked.page - 1) * size, count=size)
    return deliveries_page(found, total, page_after(asked.page, size, total))


def deliveries_page(found: Sequence[Delivery], total: int, next_page: int | None) -> ToolResult:
    """Return a page of deliveries as an answer."""
    lines = [_line(one) for one in found]
    output = WebhookDeliveriesResult(deliveries=[_row(one) for one in found], total=total, next_page=next_page)
    return ToolResult(output, "\n".join([f"{total} deliveries{more_text(next_page)}", *lines]))


def _one(delivery: Delivery) -> ToolResult:
    tries = [
        DeliveryTry(at=timestamp(one.at), status=one.status, error=one.error, took_ms=one.took_ms)
        for one in delivery.attempts[-SHOWN_ATTEMPTS:]
    ]
    lines = [f"{one.at} {one.status or '-'} {one.error or 'ok'}" for one in tries]
    output = WebhookDeliveriesResult(deliveries=[_row(delivery, tries)])
    return ToolResult(output, "\n".join([_line(delivery), *lines]))


async def _endpoints(webhooks: WebhookStore, principal: str, asked: DeliveriesArguments) -> ToolResult:
    size = min(asked.size or USUAL_ENDPOINTS, MAX_ENDPOINTS)
    found, total = await webhooks.endpoints(principal, offset=(asked.page - 1) * size, count=size)
    return endpoints_page(found, total, page_after(asked.page, size, total))


def endpoints_page(found: Sequence[WebhookEndpoint], total: int, next_page: int | None) -> ToolResult:
    """Return a page of endpoints as an answer."""
    rows = [_endpoint_row(one) for one in found]
    lines = [" ".join(f"{name}={value}" for name, value in row.as_json().items()) for row in rows]
    head = counted(total, "endpoint") if total else "No endpoint was given anything yet."
    output = WebhookDeliveriesResult(endpoints=rows, total=total, next_page=next_page)
    return ToolResult(output, "\n".join([head + more_text(next_page), *lines]))


def _endpoint_row(one: WebhookEndpoint) -> EndpointRow:
    return EndpointRow(
        url=plain(one.url, MAX_URL),
        state=one.state,
        pending=one.pending,
        failures=one.failures,
        last_status=one.status or None,
        failing_since=_time(one.failing_since),
        rests_until=_time(one.rests_until),
        last_at=_time(one.last_at),
    )


def _row(delivery: Delivery, tries: list[DeliveryTry] | None = None) -> DeliveryRow:
    return DeliveryRow(
        delivery_id=delivery.id,
        state=delivery.state,
        event=delivery.kind,
        attempts=delivery.attempt_count,
        created_at=timestamp(delivery.created_at),
        error=delivery.error or None,
        next_attempt_at=_time(delivery.due_at),
        tries=tries,
    )


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else timestamp(moment)


def _line(delivery: Delivery) -> str:
    words = [delivery.id, delivery.state, delivery.kind, f"attempts {delivery.attempt_count}", delivery.error]
    return " ".join(word for word in words if word)


TOOL: Final = Tool(
    name="webhook_deliveries",
    title="Webhook deliveries",
    description=(
        "List your webhook deliveries (state=dead: given up), show one with its attempts, replay one under the same "
        "id, test an endpoint, or list endpoints with their state. A replay or test enables a disabled endpoint."
    ),
    arguments=DeliveriesArguments,
    output=WebhookDeliveriesResult,
    hints=ToolAnnotations(),
    run=run,
    scope=WRITE,
    toolset="admin",
    meta={"example": {"action": "list", "state": "dead"}},
)
