"""The skills of this product as they are served: `skill://plan-routes/SKILL.md` (SPEC O6).

Owns reading the folder `skills`, once, and the form of a skill in lists: its frontmatter unchanged, every file with
digest and size. The same files are installed with the plugins. Source: MCP extension `io.modelcontextprotocol/skills`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from planner_mcp.errors import NotFoundError
from planner_mcp.server.resources.resource_definition import (
    LONG_MS,
    Contents,
    ReadContext,
    ResourceMetadata,
    Template,
)
from planner_mcp.text import Json

FOLDERS: Final = tuple(parent / "skills" for parent in Path(__file__).parents[2:4])
"""In a wheel beside the packages of `planner_mcp`, in a checkout at its root."""
MAIN_FILE: Final = "SKILL.md"
MIME_TYPE: Final = "text/markdown"


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill."""

    name: str
    frontmatter: Mapping[str, Any]
    files: Mapping[str, bytes]
    """By name; skills of ours have no folders."""

    @property
    def uri(self) -> str:
        """Of its main file."""
        return f"skill://{self.name}/{MAIN_FILE}"

    def as_json(self) -> Json:
        """Return the skill as `skills/list` shows it."""
        resources = [
            {
                "uri": f"skill://{self.name}/{name}",
                "digest": f"sha256:{hashlib.sha256(data).hexdigest()}",
                "size": len(data),
            }
            for name, data in self.files.items()
        ]
        return {"uri": self.uri, "frontmatter": dict(self.frontmatter), "resources": resources}


@cache
def skills() -> tuple[Skill, ...]:
    """Return every skill, in the order of their names."""
    folder = next((each for each in FOLDERS if each.is_dir()), None)
    return () if folder is None else tuple(_skill(each) for each in sorted(folder.iterdir()) if each.is_dir())


def _skill(folder: Path) -> Skill:
    import yaml  # with the first reader: few ask for skills

    files = {each.name: each.read_bytes() for each in sorted(folder.iterdir()) if each.is_file()}
    _before, frontmatter, _text = files[MAIN_FILE].decode().split("---\n", 2)
    return Skill(folder.name, yaml.safe_load(frontmatter), files)


async def _read(_reading: ReadContext, variables: Mapping[str, str]) -> Contents:
    for skill in skills():
        if skill.name == variables["skill"] and (data := skill.files.get(variables["skill_file"])) is not None:
            return Contents(MIME_TYPE, data.decode(), ttl_ms=LONG_MS, is_public=True)
    raise NotFoundError


SKILL_FILE: Final = Template(
    "skill://{skill}/{skill_file}",
    ResourceMetadata(
        "skill", "Skill", "How to plan with these tools, for agents that load skills.", MIME_TYPE, ("assistant",), 0.3
    ),
    _read,
)
