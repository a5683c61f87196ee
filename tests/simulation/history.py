"""What happened in one history: each step as the server ran it, and each answer that an actor was given."""

import json
from dataclasses import dataclass, field
from typing import Any, Final

LONG: Final = frozenset({"request", "policy", "deliveries", "summary", "missing", "poison", "extra"})
"""Arguments that are left out where a history is shown."""


@dataclass(slots=True)
class Step:
    """One Lua step, in the order in which the server ran them."""

    number: int
    at_ms: int
    """The server's clock."""
    actor: str
    name: str
    text: str
    """Its named arguments as JSON."""
    reply: list[Any]
    states: dict[str, tuple[str, int]] = field(default_factory=dict)
    """After a `reap`: state and crashes of every job."""

    @property
    def args(self) -> dict[str, Any]:
        """Its named arguments."""
        found: dict[str, Any] = json.loads(self.text)
        return found

    def __str__(self) -> str:
        """Return a line for a person."""
        shown = {name: value for name, value in self.args.items() if name not in LONG}
        reply = str(self.reply)[:160]
        return f"{self.number:4} {self.at_ms / 1000:.3f} {self.actor:16} {self.name} {shown} -> {reply}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What an actor was told, and so may rely on."""

    actor: str
    kind: str
    """submitted, cancelled, completed, seen."""
    job_id: str
    state: str
    after: int
    """Steps that had run by then."""


@dataclass
class History:
    """All of it."""

    steps: list[Step] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    received: dict[str, list[str]] = field(default_factory=dict)
    """Bodies that hooks received, by delivery id."""
    events_seen: dict[str, list[str]] = field(default_factory=dict)
    """The longest that a reader saw of each job's events: their ids."""
    hits: list[tuple[str, str]] = field(default_factory=list)
    """Crashes, stalls and the like: who and what."""
    problems: list[str] = field(default_factory=list)
    """What an actor could not make sense of."""

    def answer(self, actor: str, kind: str, job_id: str, state: str) -> None:
        """Note what an actor was told."""
        self.answers.append(Answer(actor, kind, job_id, state, len(self.steps)))
