"""Files of operators: what is read of JSON and YAML, and what is refused."""

from pathlib import Path

import pytest

from planner_mcp.bridge import document_reading
from planner_mcp.bridge.document_reading import read_mapping
from planner_mcp.errors import InputError


def _written(folder: Path, text: str | bytes, name: str = "file.yaml") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize("name", ["a.json", "a.yaml", "a"])
def test_json_is_read_whatever_the_file_is_called(tmp_path: Path, name: str) -> None:
    """Our choice: the content says what it is."""
    assert read_mapping(_written(tmp_path, '{"a": [1, 2.5, true, null]}', name)) == {"a": [1, 2.5, True, None]}


def test_yaml_says_what_json_can_say_and_no_more(tmp_path: Path) -> None:
    """SPEC O5: YAML 1.2, 10.3; `on` and a date are texts, keys of answers are names."""
    text = "200: {on: yes, day: 2025-07-15, n: -3, x: 1.5e3, t: true, none: ~, empty: }\n"
    expected = {"on": "yes", "day": "2025-07-15", "n": -3, "x": 1500.0, "t": True, "none": None, "empty": None}
    assert read_mapping(_written(tmp_path, text)) == {"200": expected}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"\xff\xfe", "not UTF-8"),
        ("a: [1", "neither JSON nor YAML in line"),
        ("- 1", "holds no object"),
        ('"text"', "holds no object"),
        ("", "holds no object"),
        ("a: &x [1]\nb: *x", "has an alias"),
        ("a: !!python/object:os.system {}", "neither JSON nor YAML"),
        ("[" * 200, "nested too deeply"),
        ("{" * 200, "nested too deeply"),
        ('{"a":' + "[" * 100_000, "nested too deeply"),
        ('{"a":' + "[" * 150 + "]" * 150 + "}", "nested too deeply"),
        ("a: " + "[" * 50_000, "nested too deeply"),
    ],
)
def test_what_is_no_document_is_refused(tmp_path: Path, text: str | bytes, problem: str) -> None:
    """SPEC O5, T7: broken, deep or hostile files are told, each with the reason."""
    with pytest.raises(InputError, match=problem):
        read_mapping(_written(tmp_path, text))


def test_huge_and_absent_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC O5: a file is read up to its bound."""
    monkeypatch.setattr(document_reading, "MAX_BYTES", 1000)
    with pytest.raises(InputError, match="too large"):
        read_mapping(_written(tmp_path, "a: " + "x" * 1000))
    with pytest.raises(InputError, match="cannot be read"):
        read_mapping(tmp_path / "absent.yaml")
    with pytest.raises(InputError, match="no file has"):
        read_mapping(tmp_path / "a\0.yaml")
    with pytest.raises(InputError, match="cannot be read"):
        read_mapping(tmp_path)
