"""What agents, desktop hosts and registries install from: each file by a checker that we did not write."""

import json
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

import planner_mcp
from manifest import install_files, server_identity
from planner_mcp.settings import Settings
from tests.shared.node import desktop_bundle, node_packages

ROOT = Path(__file__).parents[3]


def _checked(folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "skillsaw", "lint", str(folder), "--format", "json", "--strict"]
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    report: dict[str, Any] = json.loads(found.stdout)
    return report


@pytest.mark.slow
def test_plugins_skills_and_registry_entries_pass_a_foreign_checker(tmp_path: Path) -> None:
    """SPEC O7, M2: `server.json` against its schema, Claude Code and Codex plugins, the marketplace, SKILL.md."""
    report = _checked(ROOT)
    assert report["violations"] == []
    assert {"mcp-registry", "marketplace", "codex-plugin", "agentskills"} <= set(report["stats"]["repo_types"])
    entry = json.loads(server_identity.REGISTRY_PATH.read_text("utf-8"))
    (tmp_path / "server.json").write_text(json.dumps(entry | {"version": "latest"}), encoding="utf-8")
    assert [fault["rule_id"] for fault in _checked(tmp_path)["violations"]] == ["mcp-registry-server-json-valid"]


def test_every_file_names_this_version_and_the_command_that_exists() -> None:
    """SPEC O7: what is installed is what this tree is."""
    for path in (".claude-plugin/plugin.json", ".codex-plugin/plugin.json", "deploy/mcpb/manifest.json"):
        assert json.loads((ROOT / path).read_text("utf-8"))["version"] == planner_mcp.__version__, path
    servers = json.loads((ROOT / ".mcp.json").read_text("utf-8"))["mcpServers"]
    assert servers == {"planner": {"command": "uvx", "args": ["planner-mcp"]}}
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    assert server_identity.PACKAGE in scripts
    image = next(
        package
        for package in json.loads(server_identity.REGISTRY_PATH.read_text("utf-8"))["packages"]
        if package["registryType"] == "oci"
    )
    assert image["identifier"].endswith(f":{planner_mcp.__version__}")


def test_the_bundle_asks_for_settings_that_exist() -> None:
    """SPEC O7: the names of variables are those of the settings, and the package is pinned to this version."""
    bundle = install_files.bundle_manifest(planner_mcp.__version__)
    names = set(bundle["server"]["mcp_config"]["env"])
    assert names <= {f"PLANNER_{name.upper()}" for name in Settings.model_fields}
    assert (install_files.BUNDLE / bundle["server"]["entry_point"]).is_file()
    project = tomllib.loads((install_files.BUNDLE / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["dependencies"] == [f"planner-mcp=={planner_mcp.__version__}"]


@pytest.mark.slow
@pytest.mark.node
@pytest.mark.skipif(not node_packages.IS_THERE, reason="needs node and npm")
def test_the_bundle_is_valid_and_packed_by_its_own_tool(tmp_path: Path) -> None:
    """SPEC O7: `mcpb validate` and `mcpb pack` of manifest 0.4 with server type `uv`."""
    with zipfile.ZipFile(desktop_bundle.pack(tmp_path)) as bundle:
        assert sorted(bundle.namelist()) == ["manifest.json", "pyproject.toml", install_files.BUNDLE_ENTRY]
