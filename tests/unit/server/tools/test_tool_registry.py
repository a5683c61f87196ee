"""Which tools there are, who sees them, and the border around them."""

import io
import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

import manifest
from planner_mcp.jobs.principals import Principal
from planner_mcp.server.tools.tool_definition import Tool, ToolContext, ToolResult
from planner_mcp.server.tools.tool_output import whole_schema
from planner_mcp.server.tools.tool_registry import ADDRESS_REGISTRY, APP_REGISTRY, REGISTRY, dispatch, shown_tools
from planner_mcp.settings import Settings
from planner_mcp.telemetry import configure_logging
from tests.shared.tools.undescribed_fields import undescribed

NAMES = [
    "create_scenario",
    "solve_vrp",
    "query_vrp_status",
    "cancel_vrp_job",
    "read_plan",
    "plan_day",
    "enable_toolset",
]
HINTS = {
    "create_scenario": (False, False, False),
    "solve_vrp": (False, False, True),
    "query_vrp_status": (True, False, True),
    "cancel_vrp_job": (False, True, True),
    "read_plan": (True, False, True),
    "plan_day": (False, False, True),
    "enable_toolset": (False, False, True),
}
"""read-only, destructive, idempotent"""


def test_tools_have_one_order() -> None:
    """SPEC T6: the same list on every replica, so that caches and prompts stay equal."""
    assert [tool.name for tool in REGISTRY if tool.toolset == "core"] == NAMES
    assert [tool.name for tool in shown_tools(Settings())] == NAMES


@pytest.mark.parametrize("tool", REGISTRY, ids=lambda tool: tool.name)
def test_a_tool_is_described(tool: Tool) -> None:
    """SPEC T6: title, description, schemas, annotations, an example that its own schema accepts."""
    shown = tool.as_json()
    assert [key for key in shown if key != "execution"] == [
        "name",
        "title",
        "description",
        "inputSchema",
        "outputSchema",
        "annotations",
        "_meta",
    ]
    jsonschema.Draft202012Validator.check_schema(tool.input_schema)
    jsonschema.Draft202012Validator.check_schema(shown["outputSchema"])
    jsonschema.validate(tool.meta["example"], tool.input_schema)
    hints = shown["annotations"]
    assert hints["openWorldHint"] is False
    assert hints.get("callbackSupport", False) is (tool.name == "solve_vrp")


WHOLE = [tool for tool in REGISTRY if "…" not in json.dumps(tool.meta["example"], ensure_ascii=False)]
"""Tools whose example names nothing that has to be there before."""


def test_the_tools_that_begin_something_have_whole_examples() -> None:
    """SPEC T6: those whose examples are tried below."""
    assert {"create_scenario", "import_scenario", "list_jobs"} <= {tool.name for tool in WHOLE}


async def _enabled(_toolset: str) -> list[str]:
    return ["compare_plans"]


@pytest.mark.anyio
@pytest.mark.parametrize("tool", WHOLE, ids=lambda tool: tool.name)
async def test_an_example_can_be_called_as_it_stands(tool: Tool, ctx: ToolContext) -> None:
    """SPEC T6: the schema alone does not tell that a file lacks agents."""
    result = await dispatch(tool, replace(ctx, enable_toolset=_enabled), tool.meta["example"])
    assert not result.is_error, result.text


@pytest.mark.parametrize("name", NAMES)
def test_hints_are_those_of_the_design(name: str) -> None:
    """SPEC T1-T4: what a client may assume before it asks its user."""
    (tool,) = (tool for tool in REGISTRY if tool.name == name)
    assert (tool.hints.read_only, tool.hints.destructive, tool.hints.idempotent) == HINTS[name]


def test_the_callback_payload_is_declared() -> None:
    """SPEC W2: each tool's payload schema."""
    (solve,) = (tool for tool in manifest.load()["tools"] if tool["name"] == "solve_vrp")
    payload = {
        "jsonrpc": "2.0",
        "method": "notifications/complete",
        "params": {"job_id": "job-0-a", "status": "COMPLETED", "progress": 100, "result": {}},
    }
    jsonschema.validate(payload, solve["_meta"]["callbackPayloadSchema"])


async def _broken(_ctx: ToolContext, _args: dict[str, Any]) -> ToolResult:
    raise RuntimeError("the secret is hunter2 in /etc/passwd")


@pytest.mark.anyio
async def test_a_bug_stays_inside(ctx: ToolContext) -> None:
    """SPEC T8: the client learns a code and a trace id; the log learns the rest."""
    lines = io.StringIO()
    configure_logging(ctx.settings, lines)
    result = await dispatch(replace(REGISTRY[0], run=_broken), ctx, {})
    assert result.is_error
    assert result.structured == {
        "code": 5000,
        "type": "InternalError",
        "message": "Something failed inside the server; quote the trace id when you report it.",
        "traceId": ctx.trace_id,
        "errors": [],
        "retryable": False,
    }
    logged = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert any("hunter2" in line.get("stack", "") and line["trace"] == ctx.trace_id for line in logged)


@pytest.mark.anyio
async def test_a_call_without_its_scope_is_refused(ctx: ToolContext) -> None:
    """SPEC A1, A3: 4012, and which scope is needed."""
    reader = replace(ctx, principal=Principal("r", frozenset({"planner:read"})))
    result = await dispatch(REGISTRY[0], reader, {})
    assert result.structured["code"] == 4012
    assert "planner:write" in result.structured["message"]


@pytest.mark.parametrize("tool", [*REGISTRY, *APP_REGISTRY, *ADDRESS_REGISTRY], ids=lambda tool: tool.name)
def test_every_advertised_property_is_described_and_every_tool_shows_a_use(tool: Tool) -> None:
    """SPEC T6, T11: hosts show a model the description and the properties, and not `_meta`."""
    shown = tool.as_json()
    assert list(undescribed([shown["inputSchema"], shown["outputSchema"]])) == []
    assert list(undescribed([tool.input_schema, whole_schema(tool.output)])) == []
    assert "Example: " in shown["description"]
    assert shown["annotations"]["title"] == shown["title"] == tool.title


def test_a_callback_url_is_a_uri_and_the_manifest_has_every_bound() -> None:
    """SPEC T11: what refusals know is advertised: in the list where a caller meets it, in the manifest always."""
    (solve,) = (tool for tool in REGISTRY if tool.name == "solve_vrp")
    assert solve.as_json()["inputSchema"]["properties"]["callback_url"]["format"] == "uri"
    assert solve.input_schema["properties"]["callback_url"]["maxLength"] == 2048
    assert solve.input_schema["additionalProperties"] is False
    parts = manifest.load()["components"]["schemas"]
    assert parts["Scenario"]["properties"]["agents"]["minItems"] == 1
    assert parts["Location"]["properties"]["lat"]["anyOf"][0] == {"type": "number", "minimum": -90, "maximum": 90}
    assert parts["Ticket"]["properties"]["id"]["maxLength"] == 100
