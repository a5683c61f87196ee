"""Which test tools there are: name, what it takes, what it does.

Names and arguments are the suite's; each scenario of the suite calls one by name.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from planner_mcp.testing import asking, speaking
from planner_mcp.testing.speaking import Run

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
    SuiteTool("test_simple_text", speaking.simple_text),
    SuiteTool("test_image_content", speaking.one_image),
    SuiteTool("test_audio_content", speaking.one_sound),
    SuiteTool("test_embedded_resource", speaking.one_resource),
    SuiteTool("test_multiple_content_types", speaking.mixed),
    SuiteTool("test_error_handling", speaking.failing),
    SuiteTool("test_tool_with_logging", speaking.logging),
    SuiteTool("test_logging_tool", speaking.logging),
    SuiteTool("test_tool_with_progress", speaking.progress),
    SuiteTool("test_reconnection", speaking.reconnection),
    SuiteTool("test_missing_capability", speaking.needs_sampling),
    SuiteTool("test_x_mcp_header", speaking.echo_region, REGION),
    SuiteTool("json_schema_2020_12_tool", speaking.simple_text, SCHEMA_2020_12),
    SuiteTool("test_sampling", asking.sampling, _object("prompt", prompt="string")),
    SuiteTool("test_elicitation", asking.eliciting(asking.PERSON), _object("message", message="string")),
    SuiteTool("test_elicitation_sep1034_defaults", asking.eliciting(asking.DEFAULTS)),
    SuiteTool("test_elicitation_sep1330_enums", asking.eliciting(asking.ENUMS)),
    SuiteTool("test_streaming_elicitation", asking.requiring(asking.NAME)),
    SuiteTool(f"{_ASKED}elicitation", asking.requiring(asking.NAME)),
    SuiteTool(f"{_ASKED}sampling", asking.requiring(asking.CAPITAL)),
    SuiteTool(f"{_ASKED}list_roots", asking.requiring(asking.ROOTS)),
    SuiteTool(f"{_ASKED}request_state", asking.requiring(asking.CONFIRM, state="remembered")),
    SuiteTool(f"{_ASKED}tampered_state", asking.requiring(asking.CONFIRM, state="remembered")),
    SuiteTool(f"{_ASKED}multiple_inputs", asking.requiring(asking.EVERYTHING, state="remembered")),
    SuiteTool(f"{_ASKED}multi_round", asking.rounds),
    SuiteTool(f"{_ASKED}capabilities", asking.capable),
    SuiteTool("test_trigger_tool_change"),
    SuiteTool("test_trigger_prompt_change"),
    SuiteTool("greet", speaking.greet, _object("name", name="string")),
    SuiteTool("slow_compute", None, _object("seconds", seconds="integer", label="string"), "optional"),
    SuiteTool("failing_job", None, NOTHING, "required"),
    SuiteTool("protocol_error_job", None, NOTHING, "optional"),
    SuiteTool("confirm_delete", None, _object("filename", filename="string"), "optional"),
    SuiteTool("multi_input", None, NOTHING, "optional"),
    SuiteTool("test_tool_with_task", None, NOTHING, "required"),
)
BY_NAME: Final = {tool.name: tool for tool in TOOLS}
