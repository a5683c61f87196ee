"""Examples of arguments whose form can be mistaken: in the documents, never in `tools/list`."""

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

import manifest
from manifest.argument_examples import EXAMPLES
from planner_mcp.server.tools.tool_registry import REGISTRY
from planner_mcp.text import Json

FORM = re.compile(r"_(url|date|until|window|windows|time|id)$|^(lat|lon|matrix|depot|patch|idempotency_key|uri|url)$")
"""Names of fields that a caller can write in a wrong form."""
OF_ITS_OWN = {"delivery_id"}
"""What only an answer tells: the words beside it say where it comes from."""


def fields_of(schema: Any) -> Iterator[tuple[str, Json]]:
    """Yield each property in a JSON Schema, by name."""
    if isinstance(schema, dict):
        for name, field in schema.get("properties", {}).items():
            yield name, field
            yield from fields_of(field)
        for key, each in schema.items():
            if key != "properties":
                yield from fields_of(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from fields_of(each)


@pytest.fixture(scope="module")
def written() -> list[tuple[str, Json]]:
    """What callers write: the fields of a scenario and the arguments of tools, as the manifest has them."""
    document = manifest.load()
    parts = ("Scenario", "Agent", "Ticket", "Location", "Travel", "Break", "Rush")
    schemas = [document["components"]["schemas"][name] for name in parts]
    return [*fields_of([*schemas, *(tool["inputSchema"] for tool in document["tools"])])]


def test_what_can_be_written_in_a_wrong_form_has_an_example(written: list[tuple[str, Json]]) -> None:
    """SPEC T6: dates, times, durations, positions, references, URLs and keys."""
    asked = {name for name, field in written if FORM.search(name) and name not in OF_ITS_OWN}
    assert {"planning_date", "solve_time", "callback_url", "lat", "matrix", "time_windows", "idempotency_key"} <= asked
    assert {
        name for name, field in written if name in asked and "examples" not in field and "$ref" not in field
    } == set()


def test_each_example_is_what_its_schema_takes(written: list[tuple[str, Json]]) -> None:
    """SPEC T6, T8: and each that is kept is shown somewhere."""
    shown = [(name, field, each) for name, field in written for each in field.get("examples", ())]
    wrong = [(name, each) for name, field, each in shown if not jsonschema.Draft202012Validator(field).is_valid(each)]
    assert wrong == []
    assert {name for name, _field, _each in shown} == EXAMPLES.keys()


def test_lists_of_tools_have_no_examples() -> None:
    """SPEC T9: a model pays for what is listed."""
    assert [tool.name for tool in REGISTRY if '"examples"' in json.dumps(tool.as_json()["inputSchema"])] == []
