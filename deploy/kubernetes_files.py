"""Renders the chart with its own values into `deploy/k8s/planner.yaml`, and writes the schema of its values.

The chart under `deploy/helm/planner-mcp` is the source. Its templates use two forms of Helm's language,
`{{ .Values.a.b }}` and `{{- toYaml .Values.a | nindent 4 }}`, which this module replaces. Other forms are refused, so
that what is checked here is what Helm would make. `--check` fails when a file is stale.
"""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from manifest.generated_files import write_or_check
from planner_mcp.settings import Settings

HERE: Final = Path(__file__).parent
CHART: Final = HERE / "helm" / "planner-mcp"
RENDERED: Final = HERE / "k8s" / "planner.yaml"
SCHEMA: Final = CHART / "values.schema.json"
RELEASE: Final = "planner-mcp"
_BLOCK: Final = re.compile(r"[ \t]*\{\{- toYaml \.Values\.([\w.]+) \| nindent (\d+) \}\}")
_VALUE: Final = re.compile(r"\{\{ \.(Values|Release)\.([\w.]+) \}\}")


def rendered(values: Mapping[str, Any], release: str = RELEASE) -> str:
    """Return all objects of the chart as one YAML text.

    Raises:
        ValueError: A template uses a form that is not replaced here.
    """
    known = {"Values": values, "Release": {"Name": release}}
    texts = [_replaced(path.read_text("utf-8"), known) for path in sorted((CHART / "templates").glob("*.yaml"))]
    return "# Written by `make docs` from deploy/helm/planner-mcp.\n---\n" + "---\n".join(texts)


def _replaced(template: str, known: Mapping[str, Any]) -> str:
    def block(found: re.Match[str]) -> str:
        lines = yaml.safe_dump(_at(known["Values"], found[1]), sort_keys=True, width=1000).splitlines()
        return "\n".join(f"{' ' * int(found[2])}{line}" for line in lines)

    text = _BLOCK.sub(block, template)
    text = _VALUE.sub(lambda found: str(_at(known[found[1]], found[2])), text)
    if "{{" in text:
        raise ValueError(f"a form that is not known: {text[text.index('{{') :][:60]}")
    return text


def _at(values: Any, path: str) -> Any:
    for name in path.split("."):
        values = values[name]
    return values


def values() -> dict[str, Any]:
    """Return the chart's own values."""
    loaded: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    return loaded


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the values: no setting may be misspelt."""
    settings = {
        f"PLANNER_{name.upper()}": {"type": "string", "description": field.description or ""}
        for name, field in Settings.model_fields.items()
        if name != "allowed_hosts"  # the server's own variable would hide it: it is `server.allowedHosts`
    }
    count, resources = {"type": "integer", "minimum": 0}, {"type": "object"}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "global": {"type": "object"},
            "image": {"type": "string", "minLength": 1},
            "secret": {"type": "string", "minLength": 1},
            "settings": {"type": "object", "additionalProperties": False, "properties": settings},
            "server": _part(replicas=count, allowedHosts={"type": "string"}, resources=resources),
            "worker": _part(
                replicas=count,
                processes={"type": "integer", "minimum": 1},
                resources=resources,
                graceSeconds={"type": "integer", "minimum": 1},
            ),
        },
    }


def _part(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": properties}


def texts() -> dict[Path, str]:
    """Return each generated file with what it should hold."""
    return {
        RENDERED: rendered(values()),
        SCHEMA: json.dumps(schema(), ensure_ascii=False, indent=2) + "\n",
    }


def main(arguments: Sequence[str]) -> int:
    """Write the files, or with `--check` say which are stale."""
    return write_or_check(texts(), arguments, command="make docs")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
