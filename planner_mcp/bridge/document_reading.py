"""Reads a JSON or YAML file of an operator: an OpenAPI document, or the configuration of a bridge.

Owns the bounds of such files. Of YAML it takes what JSON can say: texts, numbers, booleans and null, in lists and
maps; no dates, no tags, no aliases, which let a small file stand for a huge one.
"""

import json
import re
from pathlib import Path
from typing import Any, ClassVar, Final

import yaml

from planner_mcp.errors import Fault, InputError, input_error
from planner_mcp.text import plain

MAX_BYTES: Final = 4 * 1024 * 1024
MAX_DEPTH: Final = 100
"""Levels of lists and maps."""
_OPENING: Final = (yaml.SequenceStartEvent, yaml.MappingStartEvent)
_CLOSING: Final = (yaml.SequenceEndEvent, yaml.MappingEndEvent)


class _JsonLoader(yaml.CSafeLoader):  # type: ignore[misc] # the library has no types
    """Reads YAML 1.2's core schema: `on` is a text and `2025-07-15` no date."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}
    """Those of YAML 1.1 are not inherited."""


for _tag, _form, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+", list("-+0123456789")),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", list("-+.0123456789")),
):
    _JsonLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_form})\Z"), _first)


def read_mapping(path: Path) -> dict[str, Any]:
    """Return the object a file holds.

    Raises:
        InputError: The file cannot be read, is too large or too deep, or holds no JSON or YAML object.
    """
    text = _text(path)
    value = _json(path, text) if text.lstrip()[:1] in "{[" else None
    value = _yaml(path, text) if value is None else value
    if not isinstance(value, dict):
        raise _refusal(path, "holds no object", "a JSON or YAML object")
    return value


def _refusal(path: Path, problem: str, accepted: str = "", hint: str = "") -> InputError:
    """Return the error of a file."""
    return input_error([Fault(path.name, f"The file {problem}.", accepted, hint)])


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise _refusal(path, f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise _refusal(path, "has a name that no file has") from error
    if len(data) > MAX_BYTES:
        raise _refusal(path, "is too large", f"at most {MAX_BYTES // 1024**2} MiB", "Leave out what is not served.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refusal(path, "is not UTF-8") from error


def _json(path: Path, text: str) -> Any:
    """Return the value of a JSON text, None where it is none: YAML begins with a brace too."""
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise _too_deep(path) from error
    except ValueError:
        return None
    pending = [(value, 1)]
    while pending:
        here, depth = pending.pop()
        if depth > MAX_DEPTH:
            raise _too_deep(path)
        if isinstance(here, dict | list):
            pending.extend((each, depth + 1) for each in (here.values() if isinstance(here, dict) else here))
    return value


def _yaml(path: Path, text: str) -> Any:
    try:
        depth = 0
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.AliasEvent):
                line = event.start_mark.line + 1
                raise _refusal(
                    path, f"has an alias (*{plain(event.anchor, 40)}) in line {line}", "YAML without aliases"
                )
            depth += isinstance(event, _OPENING) - isinstance(event, _CLOSING)
            if depth > MAX_DEPTH:
                raise _too_deep(path)
        return _with_text_keys(yaml.load(text, Loader=_JsonLoader))  # noqa: S506 - a safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" in line {mark.line + 1}" if mark is not None else ""
        raise _refusal(path, f"is neither JSON nor YAML{place}") from error
    except ValueError as error:
        raise _refusal(path, "has a value that JSON does not have") from error


def _too_deep(path: Path) -> InputError:
    return _refusal(path, "is nested too deeply", f"{MAX_DEPTH} levels")


def _with_text_keys(value: Any) -> Any:
    """Return a value whose names are texts: `200:` is a number to YAML."""
    if isinstance(value, list):
        return [_with_text_keys(each) for each in value]
    if isinstance(value, dict):
        return {str(name): _with_text_keys(each) for name, each in value.items()}
    return value
