"""The committed manifest is the one the code makes, and keeps its form."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import manifest
import planner_mcp
from manifest import manifest_builder, server_identity
from planner_mcp.errors import error_catalogue
from planner_mcp.server.prompts.prompt_registry import PROMPTS
from planner_mcp.server.resources.resource_catalogue import FILE_TEMPLATE, FIXED, TEMPLATES, UNLISTED
from planner_mcp.server.tools.tool_registry import APP_REGISTRY, OFFERS, REGISTRY


def test_the_committed_file_is_fresh() -> None:
    """SPEC M2: built from the objects that answer tools/list."""
    assert manifest_builder.main(["--check"]) == 0


def test_a_stale_file_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """SPEC M2: a check fails, and writing mends it."""
    monkeypatch.setattr(manifest, "PATH", tmp_path / "manifest.json")
    monkeypatch.setattr(server_identity, "REGISTRY_PATH", tmp_path / "server.json")
    assert manifest_builder.main(["--check"]) == 1
    assert "stale" in capsys.readouterr().err
    assert manifest_builder.main([]) == 0
    assert manifest_builder.main(["--check"]) == 0
    assert manifest.load() == manifest_builder.build("2026-01-01T00:00:00Z")


def test_its_date_moves_with_what_it_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """SPEC M1, M2: building again keeps the date, so builds repeat; a change is stale, and takes the day's."""
    early, late = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"
    monkeypatch.setattr(manifest, "PATH", tmp_path / "manifest.json")

    def write(today: str) -> str:
        manifest.PATH.write_text(manifest_builder.texts(today)[manifest.PATH], encoding="utf-8")
        return str(manifest.load()["last_updated"])

    assert [write(early), write(late)] == [early, early]
    assert manifest_builder.main(["--check"]) == 0
    monkeypatch.setitem(OFFERS, "planner", replace(OFFERS["planner"], title="Another"))
    assert manifest_builder.main(["--check"]) == 1
    assert [write(late), write(early)] == [late, late]
    manifest.PATH.write_text("<<<<<<< ours", encoding="utf-8")
    assert manifest_builder.main(["--check"]) == 1
    assert write(early) == early


def test_it_follows_its_schema() -> None:
    """SPEC M1: every field of the design."""
    jsonschema.Draft202012Validator.check_schema(manifest.read(manifest.SCHEMA_PATH))
    jsonschema.validate(manifest.load(), manifest.read(manifest.SCHEMA_PATH))


def test_every_tool_and_error_is_in_it() -> None:
    """SPEC M1: the contract is whole."""
    document = manifest.load()
    assert [tool["name"] for tool in document["tools"]] == [tool.name for tool in (*REGISTRY, *APP_REGISTRY)]
    assert [entry["code"] for entry in document["errors"]] == list(error_catalogue())
    assert {"code": 4002, "type": "MissingParameter"}.items() <= next(
        entry for entry in document["errors"] if entry["code"] == 4002
    ).items()
    assert document["version"] == planner_mcp.__version__


def test_every_resource_and_prompt_is_in_it() -> None:
    """SPEC M1, R1, R4: from the objects that answer the lists."""
    document = manifest.load()
    templates = [entry["uriTemplate"] for entry in document["resources"]]
    assert templates == [*(template.uri_template for template in (*TEMPLATES, *FIXED, *UNLISTED)), FILE_TEMPLATE]
    assert [entry["name"] for entry in document["prompts"]] == [prompt.name for prompt in PROMPTS]


def test_the_registry_entry_keeps_the_limits_of_registries() -> None:
    """SPEC M2: `server.json`, for this version."""
    entry = json.loads(server_identity.REGISTRY_PATH.read_text(encoding="utf-8"))
    assert len(entry["description"]) <= 100
    assert entry["version"] == entry["packages"][0]["version"] == planner_mcp.__version__
    assert re.fullmatch(r"[a-z0-9.-]+/[a-z0-9-]+", entry["name"])


def test_returns_are_those_of_the_design() -> None:
    """SPEC M1, T1-T4: what a caller may rely on."""
    required = {tool["name"]: tool["returns"]["required"] for tool in manifest.load()["tools"]}
    assert required["create_scenario"] == ["scenario_id", "agents", "tickets", "assumptions", "warnings"]
    assert required["solve_vrp"] == ["job_id", "submitted_at", "status"]
    assert required["query_vrp_status"] == ["job_id", "status", "progress"]
    assert required["cancel_vrp_job"] == ["cancelled", "cancelled_at", "job_id", "status"]


def test_the_scenario_is_shared_by_reference() -> None:
    """SPEC M1: `components.schemas` with `$ref`, and the example fits it."""
    document = manifest.load()
    create = document["tools"][0]
    assert create["inputSchema"] == {"$ref": "#/components/schemas/Scenario"}
    assert {"Scenario", "Agent", "Ticket"} <= document["components"]["schemas"].keys()
    jsonschema.validate(create["_meta"]["example"], {**create["inputSchema"], "components": document["components"]})


def test_every_reference_resolves() -> None:
    """SPEC M1: no `$ref` into nothing."""
    document = manifest.load()
    schemas = document["components"]["schemas"]
    for reference in _references(document):
        assert reference.removeprefix("#/components/schemas/") in schemas


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        value = list(value.values())
    if isinstance(value, list):
        for entry in value:
            yield from _references(entry)
