"""The tickets of an accepted scenario that provably nobody can serve, as an answer lists them (SPEC T7).

Owns their form: one entry for all tickets with the same reason and the same fix, with their ids and values.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Final

from pydantic import Field

from planner_mcp.errors import Fault, grouped
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.server.tools.answers.token_estimates import fitting
from planner_mcp.server.tools.tool_output import ToolOutput, Words
from planner_mcp.translation import phrase, translated_line

_MAX_GROUPS: Final = 6
_MAX_ENTRIES_BYTES: Final = 900
"""Room of the ids and values of an answer."""


class UnservableFinding(ToolOutput):
    """Tickets that provably nobody can serve, all for the same reason; a plan leaves them out."""

    code: str
    tickets: int
    which: list[str] = Field(description="ids, each with the value seen; as many as there is room for")
    path: str = Field(description="place of the first of them", json_schema_extra={"format": "json-pointer"})
    why: Words
    accepted: Words
    fix: Words


def unservable_findings(
    scenario: Scenario, place: Callable[[Fault], Fault] | None = None, known: Collection[str] = ()
) -> list[UnservableFinding]:
    """Return the findings of a scenario, those of most tickets first.

    Args:
        scenario: As it was checked.
        place: Replaces the place of a fault in the scenario by the one in what its caller wrote.
        known: Tickets that are passed over.
    """
    findings = [fault for fault in scenario.findings if scenario.tickets[int(fault.path.split("/")[2])].id not in known]
    groups = sorted(grouped(findings), key=lambda fault: -fault.count)[:_MAX_GROUPS]
    room = _MAX_ENTRIES_BYTES // max(1, len(groups))
    return [_finding(fault if place is None else place(fault), room) for fault in groups]


def _finding(fault: Fault, room_bytes: int) -> UnservableFinding:
    return UnservableFinding(
        code=str(fault.reason),
        tickets=fault.count,
        which=fitting(fault.which, room_bytes) or list(fault.which[:1]),
        path=fault.path,
        why=fault.problem,
        accepted=fault.accepted,
        fix=fault.hint,
    )


def unservable_lines(findings: Sequence[UnservableFinding]) -> list[str]:
    """Return the same as short lines of text."""
    if not findings:
        return []
    lines = []
    for each in findings:
        more = phrase(" and {} more", each.tickets - len(each.which)) if each.tickets > len(each.which) else ""
        why, accepted, fix = map(translated_line, (each.why, each.accepted, each.fix))
        expected = f" (accepted: {accepted})" if accepted else ""
        lines.append(f"{each.code}: {', '.join(each.which)}{more}: {why}{expected} {fix}".rstrip())
    count = sum(each.tickets for each in findings)
    return [phrase("Nobody can serve {} of the tickets; plans leave them out:", count), *lines]
