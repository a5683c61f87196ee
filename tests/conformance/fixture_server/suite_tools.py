"""Which test tools there are: name, what it takes, what it does.

Names and arguments are the suite's; each scenario of the suite calls one by name.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.conformance.fixture_server import content_tools, elicitation_tools
from tests.conformance.fixture_server.content_tools import Run

NOTHING: Final[dict[str, Any]] = {"type": "object", "properties": {}}
SCHEMA_2020_12: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def _object(*required: str, **properties: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": {name: {"type": of} for name, of in properties.items()}}
    return schema | ({"required": list(required)} if required else {})


@dataclass(frozen=True, slots=True)
class SuiteTool:
    """One tool of the suite."""

    name: str
    run: Run | None = None
    """None where calls are answered elsewhere: tasks, changes of lists."""
    schema: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    task: str | None = None
    """`optional` or `required`, where it may run as a task."""

    def as_json(self) -> dict[str, Any]:
        """Return the entry of `tools/list`."""
        entry = {"name": self.name, "description": f"Conformance: {self.name}.", "inputSchema": dict(self.schema)}
        return entry | ({"execution": {"taskSupport": self.task}} if self.task else {})


REGION: Final = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    "required": ["region"],
}
_ASKED: Final = "test_input_required_result_"

TOOLS: Final = (
    SuiteTool("test_simple_text", content_tools.simple_text),
    SuiteTool("test_image_content", content_tools.one_image),
    SuiteTool("test_audio_content", content_tools.one_sound),
    SuiteTool("test_embedded_resource", content_tools.one_resource),
    SuiteTool("test_multiple_content_types", content_tools.mixed),
    SuiteTool("test_error_handling", content_tools.failing),
    SuiteTool("test_tool_with_logging", content_tools.logging),
    SuiteTool("test_logging_tool", content_tools.logging),
    SuiteTool("test_tool_with_progress", content_tools.progress),
    SuiteTool("test_reconnection", content_tools.reconnection),
    SuiteTool("test_missing_capability", content_tools.needs_sampling),
    SuiteTool("test_x_mcp_header", content_tools.echo_region, REGION),
    SuiteTool("json_schema_2020_12_tool", content_tools.simple_text, SCHEMA_2020_12),
    SuiteTool("test_sampling", elicitation_tools.sampling, _object("prompt", prompt="string")),
    SuiteTool(
        "test_elicitation", elicitation_tools.eliciting(elicitation_tools.PERSON), _object("message", message="string")
    ),
    SuiteTool("test_elicitation_sep1034_defaults", elicitation_tools.eliciting(elicitation_tools.DEFAULTS)),
    SuiteTool("test_elicitation_sep1330_enums", elicitation_tools.eliciting(elicitation_tools.ENUMS)),
    SuiteTool("test_streaming_elicitation", elicitation_tools.requiring(elicitation_tools.NAME)),
    SuiteTool(f"{_ASKED}elicitation", elicitation_tools.requiring(elicitation_tools.NAME)),
    SuiteTool(f"{_ASKED}sampling", elicitation_tools.requiring(elicitation_tools.CAPITAL)),
    SuiteTool(f"{_ASKED}list_roots", elicitation_tools.requiring(elicitation_tools.ROOTS)),
    SuiteTool(f"{_ASKED}request_state", elicitation_tools.requiring(elicitation_tools.CONFIRM, state="remembered")),
    SuiteTool(f"{_ASKED}tampered_state", elicitation_tools.requiring(elicitation_tools.CONFIRM, state="remembered")),
    SuiteTool(
        f"{_ASKED}multiple_inputs", elicitation_tools.requiring(elicitation_tools.EVERYTHING, state="remembered")
    ),
    SuiteTool(f"{_ASKED}multi_round", elicitation_tools.rounds),
    SuiteTool(f"{_ASKED}capabilities", elicitation_tools.capable),
    SuiteTool("test_trigger_tool_change"),
    SuiteTool("test_trigger_prompt_change"),
    SuiteTool("greet", content_tools.greet, _object("name", name="string")),
    SuiteTool("slow_compute", None, _object("seconds", seconds="integer", label="string"), "optional"),
    SuiteTool("failing_job", None, NOTHING, "required"),
    SuiteTool("protocol_error_job", None, NOTHING, "optional"),
    SuiteTool("confirm_delete", None, _object("filename", filename="string"), "optional"),
    SuiteTool("multi_input", None, NOTHING, "optional"),
    SuiteTool("test_tool_with_task", None, NOTHING, "required"),
)
BY_NAME: Final = {tool.name: tool for tool in TOOLS}
