"""The bundle for desktop hosts, packed by the tool of those who defined its format."""

import subprocess
from pathlib import Path

from tests.shared.node import node_packages

ROOT = Path(__file__).parents[3]


def pack(folder: Path) -> Path:
    """Validate and pack `deploy/mcpb` into a folder and return the path of the bundle."""
    node_packages.install()
    tool = node_packages.FOLDER / "node_modules" / "@anthropic-ai" / "mcpb" / "dist" / "cli" / "cli.js"
    packed = folder / "planner-mcp.mcpb"
    for arguments in (["validate", "deploy/mcpb/manifest.json"], ["pack", "deploy/mcpb", str(packed)]):
        subprocess.run(["node", str(tool), *arguments], cwd=ROOT, check=True, capture_output=True, timeout=60)
    return packed
