"""What agents and desktop hosts install this server from: a plugin (skill and server) and a bundle (SPEC O7).

Owns the forms of Claude Code plugins and marketplaces, of Codex plugins, and of MCP bundles (`mcpb`, manifest 0.4 with
server type `uv`, whose host installs the package from its index). Who the server is says `manifest/server_identity.py`;
`manifest.manifest_builder` writes the files.
"""

from pathlib import Path
from typing import Any, Final

from manifest import server_identity as identity

ROOT: Final = Path(__file__).parents[1]
BUNDLE: Final = ROOT / "deploy" / "mcpb"
"""Folder of the bundle; its `src/planner_entry.py` is written by hand."""
BUNDLE_ENTRY: Final = "src/planner_entry.py"
SERVERS: Final = {"planner": {"command": "uvx", "args": [identity.PACKAGE]}}
"""As every plugin starts the planner: over stdio, from the package index."""


def documents(version: str) -> dict[Path, dict[str, Any]]:
    """Return each JSON file with its content."""
    return {
        ROOT / ".mcp.json": {"mcpServers": SERVERS},
        ROOT / ".claude-plugin" / "plugin.json": _claude_plugin(version),
        ROOT / ".claude-plugin" / "marketplace.json": _marketplace(),
        ROOT / ".codex-plugin" / "plugin.json": _codex_plugin(version),
        BUNDLE / "manifest.json": bundle_manifest(version),
    }


def bundle_project(version: str) -> str:
    """Return `pyproject.toml` of the bundle: the host's `uv` installs exactly this version."""
    return (
        "[project]\n"
        f'name = "{identity.PACKAGE}-bundle"\n'
        f'version = "{version}"\n'
        'requires-python = ">=3.11"\n'
        f'dependencies = ["{identity.PACKAGE}=={version}"]\n'
    )


def bundle_manifest(version: str) -> dict[str, Any]:
    """Return `manifest.json` of the bundle. What a user may set has a default, so that it starts without a question."""
    return {
        "manifest_version": "0.4",
        "name": identity.PACKAGE,
        "display_name": identity.PLANNER.title,
        "version": version,
        "description": identity.PLANNER.description,
        "author": {"name": identity.AUTHOR},
        "repository": {"type": "git", "url": identity.REPOSITORY},
        "server": {
            "type": "uv",
            "entry_point": BUNDLE_ENTRY,
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", BUNDLE_ENTRY],
                "env": {name: f"${{user_config.{key}}}" for key, (name, _asked) in _BUNDLE_SETTINGS.items()},
            },
        },
        "tools_generated": True,
        "prompts_generated": True,
        "keywords": list(identity.KEYWORDS),
        "license": identity.LICENSE,
        "compatibility": {"platforms": ["darwin", "linux"], "runtimes": {"python": ">=3.11"}},
        "user_config": {key: asked for key, (_name, asked) in _BUNDLE_SETTINGS.items()},
    }


_BUNDLE_SETTINGS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "data_dir": (
        "PLANNER_DATA_DIR",
        {
            "type": "directory",
            "title": "Data folder",
            "description": "Where jobs and plans are kept.",
            "default": "${HOME}/.local/share/planner-mcp",
        },
    ),
    "redis_url": (
        "PLANNER_REDIS_URL",
        {
            "type": "string",
            "title": "Redis URL",
            "description": "Redis or Valkey to use; empty: a bundled one.",
            "sensitive": True,
            "default": "",
        },
    ),
    "toolsets": (
        "PLANNER_TOOLSETS",
        {
            "type": "string",
            "title": "Tool sets",
            "description": "Tool sets shown: core, planning, data, admin.",
            "default": "core",
        },
    ),
}
"""By the name a host asks for: the environment variable, and the question."""


def _claude_plugin(version: str) -> dict[str, Any]:
    """Return the plugin's manifest. Its skills and servers are found by their places: `skills/` and `.mcp.json`."""
    return {
        "name": identity.PACKAGE,
        "version": version,
        "description": identity.PLANNER.description,
        "author": {"name": identity.AUTHOR},
        "homepage": identity.REPOSITORY,
        "repository": identity.REPOSITORY,
        "license": identity.LICENSE,
        "keywords": list(identity.KEYWORDS),
    }


def _marketplace() -> dict[str, Any]:
    """Return a marketplace that has this plugin alone, so that the repository can be added as one."""
    entry = {"name": identity.PACKAGE, "source": "./", "description": identity.PLANNER.description}
    return {
        "name": identity.PACKAGE,
        "owner": {"name": identity.AUTHOR},
        "metadata": {"description": identity.PLANNER.description},
        "plugins": [entry],
    }


def _codex_plugin(version: str) -> dict[str, Any]:
    return {**_claude_plugin(version), "skills": "./skills/", "mcpServers": "./.mcp.json"}
