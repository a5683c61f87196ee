"""Files of JSON are read once (SPEC T5)."""

import json

import pytest

from planner_mcp.errors import InputError, TooLargeError
from planner_mcp.formats.import_formats import form_of, read_scenario_file
from planner_mcp.formats.json_content import Content
from planner_mcp.formats.tables.import_options import ImportOptions
from planner_mcp.formats.tables.sheets.text_tables import MAX_BYTES
from planner_mcp.text import LONG_NUMBER
from tests.shared.formats.vroom_problems import VROOM

WISHES = ImportOptions("day", "2025-07-15")


def test_a_file_of_json_is_read_once() -> None:
    """SPEC T5: what tells its form is what becomes the day; a file of 20 MB is not parsed again."""
    content = Content(json.dumps(VROOM).encode("utf-8-sig"))
    assert form_of("problem.json", content) == "vroom"
    content.parsed["jobs"].pop()
    read = read_scenario_file(content, "vroom", WISHES, max_tickets=9, max_agents=9)
    assert len(read.body["tickets"]) == len(VROOM["jobs"]) - 1 + 2 * len(VROOM["shipments"])


@pytest.mark.parametrize("data", [b"{", b"\xff", b"[" * 200_000, b"null", b""])
def test_what_is_no_json_is_no_problem(data: bytes) -> None:
    """SPEC T7: told, whatever stands there; a file too large is told before it is parsed."""
    content = Content(data)
    with pytest.raises(InputError) as caught:
        read_scenario_file(content, form_of("problem.json", content), WISHES, max_tickets=9, max_agents=9)
    assert [fault.problem for fault in caught.value.errors] == ["The file is not a problem of VROOM."]
    with pytest.raises(TooLargeError):
        form_of("problem.json", Content(bytes(MAX_BYTES + 1)))


def test_a_number_of_5000_digits_is_refused_by_name() -> None:
    """SPEC T7: such a file is JSON; what is wrong with it is one number."""
    with pytest.raises(InputError) as caught:
        form_of("problem.json", Content(b'{"vehicles": [], "jobs": [' + b"9" * 5000 + b"]}"))
    assert [fault.problem for fault in caught.value.errors] == [LONG_NUMBER]
