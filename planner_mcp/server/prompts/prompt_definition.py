"""Defines a prompt: its name, its arguments and its text.

Owns the substitution of arguments: `<name>.md` beside this file holds the text, `<name>.zh.md` the Chinese one, with
`$argument` as placeholder. A value is inserted once and is never read as a template itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Final

from planner_mcp.errors import Fault, input_error
from planner_mcp.text import Json, plain
from planner_mcp.translation import Language, translated, translated_schema

MAX_ARGUMENT: Final = 20_000
"""Longest argument, in characters. A longer one is refused and not cut, because a cut table is a different table."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a prompt."""

    name: str
    description: str
    is_required: bool = False
    kind: str = ""
    """What its values are, for completion: `scenario_id`, `job_id`, `plan_id`, `date`; empty for free text."""
    label: str = ""
    """Text before its value; left out when there is no value."""
    truncation_hint: str = ""
    """What to do with a value that is too long."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt that a client can give to its model."""

    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]

    def text(self, given: Mapping[str, str], language: Language = "en") -> str:
        """Return the message for some arguments.

        Raises:
            InputError: A required argument is missing, one is unknown, or one is too long.
        """
        if faults := self._faults(given):
            raise input_error(faults)
        parts = {each.name: given.get(each.name, "") for each in self.arguments}
        labels = {each.name: translated(each.label, language) for each in self.arguments}
        led = {name: labels[name] + value if value else "" for name, value in parts.items()}
        file = Path(__file__).with_name(f"{self.name}.md" if language == "en" else f"{self.name}.{language}.md")
        words = file.read_text(encoding="utf-8")
        return Template(words).substitute(led).strip()

    def _faults(self, given: Mapping[str, str]) -> list[Fault]:
        known = {argument.name for argument in self.arguments}
        faults = [
            Fault(f"/arguments/{argument.name}", "This argument is missing.", argument.description, kind="missing")
            for argument in self.arguments
            if argument.is_required and not given.get(argument.name)
        ]
        accepted = ", ".join(sorted(known))
        faults += [
            Fault(f"/arguments/{plain(name, 40)}", "No argument has this name.", accepted, kind="unknown")
            for name in given
            if name not in known
        ]
        room = f"up to {MAX_ARGUMENT} characters"
        return faults + [
            Fault(f"/arguments/{each.name}", "This argument is too long.", room, each.truncation_hint)
            for each in self.arguments
            if len(given.get(each.name, "")) > MAX_ARGUMENT
        ]

    def as_json(self, language: Language = "en") -> Json:
        """Return the prompt as an entry of `prompts/list`."""
        entry = {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "arguments": [
                {"name": each.name, "description": each.description, "required": each.is_required}
                for each in self.arguments
            ],
        }
        return {**entry, **translated_schema(entry, language)}
