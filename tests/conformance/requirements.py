"""Every promise of the product, and which tests prove it.

Owns the list of promises. Proofs are not listed by hand: a test proves what its docstring names, as in `"SPEC J6"` or
`"SPEC J2, J4"`, and `proofs()` collects them from the sources. One that names a text of others instead (`"Spec
2025-11-25, tasks: …"`, `"RFC 9110 …"`) proves the promises of its module; one with a reason of ours (`"Our choice: …"`,
`"Issue 3: …"`) proves none. A promise that is not fully kept yet says when it will be kept; remove that with the last
test it lacks. `python -m tests.conformance.requirements` prints the table, with ids behind it the tests of each. `SPEC`
is the numbered list of promises below.
"""

import ast
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

TESTS: Final = Path(__file__).parents[1]
LATER: Final = "later"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One promise.

    Args:
        id: As tests and commits name it.
        promise: In one sentence.
        open_in: What will keep the rest of it; None when it is kept.
    """

    id: str
    promise: str
    open_in: str | None = None


REQUIREMENTS: Final = (
    Requirement("T1", "create_scenario takes a day of work; the smallest call is complete and solves to COMPLETED."),
    Requirement("T2", "solve_vrp answers with a job id before any solving; equal calls give the same job."),
    Requirement("T3", "query_vrp_status tells the state and true progress, and waits up to 45 s for a change."),
    Requirement("T4", "cancel_vrp_job works queued and mid-solve within a second; the best plan stays readable."),
    Requirement(
        "T5",
        "Plans are read trimmed; revise, compare, explain, finish, import and export stand in tool sets; addresses are "
        "resolved (not yet).",
        LATER,
    ),
    Requirement("T6", "Each tool has title, described parameters, output schema, annotations and an example."),
    Requirement("T7", "A wrong input is answered with all its faults at once, each with path, accepted and hint."),
    Requirement("T8", "An internal error reaches a client as a code and a trace id, nothing else."),
    Requirement("T9", "Answers keep to stated token budgets, counted in a test; what they cost is measured."),
    Requirement("J1", "A job moves by one table of changes; terminal states are final; each change is one event."),
    Requirement("J2", "Every door tells the same events in the same order; none needs another."),
    Requirement("J3", "Events travel as the stated JSON-RPC notifications, in the form each revision allows."),
    Requirement("J4", "A client that reconnects anywhere with Last-Event-ID misses nothing and sees nothing twice."),
    Requirement("J5", "Progress is true, rises only, and is 100 at the end alone."),
    Requirement(
        "J6", "A killed worker's job runs again in seconds; a late worker cannot write; poison jobs end failed."
    ),
    Requirement("J7", "SIGTERM drains; with Redis away callers are told to come back and nothing is lost."),
    Requirement("J8", "Quotas, fair sharing, priorities and a bounded queue that says when to come back."),
    Requirement("J9", "Every stored key has a life; jobs belong to the principal, never to a connection."),
    Requirement("W1", "Webhooks are signed in the Standard Webhooks form, with several secrets while one rotates."),
    Requirement("W2", "A webhook's body is the notification of the event; its schema stands in the manifest."),
    Requirement("W3", "Deliveries go at least once through an outbox, with retries over hours and dead letters."),
    Requirement("W4", "A webhook never reaches an address that is not public, save where a deployment allows it."),
    Requirement("W5", "A client learns its webhook secret once; networks, ports and schedules are settings."),
    Requirement("R1", "Scenarios, jobs, plans, logs and reports are resources with stated URIs."),
    Requirement("R2", "Resources can be listed, completed, subscribed to and followed."),
    Requirement("R3", "Sensitive fields are declared and masked for principals without the scope."),
    Requirement("R4", "Prompts for the usual work of a planner, and a skill for the loop of solving."),
    Requirement("M1", "GET /manifest and its well-known twin describe everything, with ETag and CORS."),
    Requirement("M2", "The manifest is built from the objects that answer; a stale file fails the check."),
    Requirement("X1", "Streamable HTTP, stdio and HTTP+SSE serve five revisions, each as its text says."),
    Requirement("X2", "MCP tasks in both forms, cancellation, logging, completion, pagination, elicitation."),
    Requirement("X3", "Origin and Host are checked, bodies are limited, session ids authenticate nobody."),
    Requirement("A1", "An OAuth 2.1 resource server: challenges, metadata, audience, expiry, scopes."),
    Requirement("A2", "Everything belongs to a principal; another's is answered like the unknown."),
    Requirement("A3", "Scopes, an audit log, caps on streams; without auth one user on loopback."),
    Requirement("S1", "The planning model: capacities, windows, fleets, depots, shifts, skills, shipments, groups."),
    Requirement("S2", "Every plan passes an independent verifier before anyone sees it; statuses are honest."),
    Requirement("S3", "The best plan so far can be read while solving; more time never gives a worse plan."),
    Requirement("O1", "One command runs everything on one machine; a Redis URL and workers scale it out."),
    Requirement("O2", "A dashboard shows jobs, convergence, map and timeline, offline.", LATER),
    Requirement("O3", "JSON logs with trace ids, health and readiness, metrics, traces, doctor."),
    Requirement("O4", "The flow over several servers, address resolution included, runs as an example.", LATER),
    Requirement(
        "O5", "A REST face with OpenAPI, and an adapter that serves chosen foreign operations as tools.", LATER
    ),
)

_NAMED = re.compile(r"\bSPEC ((?:[A-Z]\d+(?:[-–][A-Z]?\d+)?(?:, | and )?)+)")
_ID = re.compile(r"([A-Z])(\d+)(?:[-–][A-Z]?(\d+))?")
_TEXT = re.compile(r"(?:Spec|MCP|JSON-RPC|RFC|Standard Webhooks|Tasks extension|Source)\b")
_OUR_REASON = re.compile(r"(?:Our choice|Issues? \d|ADR|Engine contract|STYLE)\b")


@dataclass(frozen=True, slots=True)
class Case:
    """One test, as far as its words go.

    Args:
        name: `path::test_name`.
        docstring: Its own.
        module: The docstring of its module.
    """

    name: str
    docstring: str
    module: str

    @property
    def says_who_demands_it(self) -> bool:
        """Whether its own docstring names a promise, a text of others or a reason of ours."""
        return bool(ids_in(self.docstring) or _TEXT.match(self.docstring) or _OUR_REASON.match(self.docstring))

    @property
    def proves(self) -> set[str]:
        """The promises it names; one that names none, nor a reason of ours, proves those of its module."""
        is_ours = _OUR_REASON.match(self.docstring)
        return ids_in(self.docstring) or (set() if is_ours else ids_in(self.module))


def proofs() -> dict[str, list[str]]:
    """Return the tests that prove each id, as `path::test_name`, by id."""
    found: dict[str, list[str]] = {}
    for test in cases():
        for id_ in test.proves:
            found.setdefault(id_, []).append(test.name)
    return found


def cases() -> Iterator[Case]:
    """Yield every test of the house."""
    for path in sorted(_sources()):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        module, where = ast.get_docstring(tree) or "", path.relative_to(TESTS.parent).as_posix()
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                yield Case(f"{where}::{node.name}", ast.get_docstring(node) or "", module)


def _sources() -> Iterator[Path]:
    for folder, folders, files in os.walk(TESTS):
        folders[:] = [each for each in folders if each != "node_modules"]  # thousands of files of others
        yield from (Path(folder, name) for name in files if fnmatch(name, "test_*.py"))


def ids_in(docstring: str) -> set[str]:
    """Return the promises a docstring names; `J1-J3` names three."""
    ids = set()
    for match in _NAMED.finditer(docstring):
        for letter, first, last in _ID.findall(match[1]):
            ids |= {f"{letter}{number}" for number in range(int(first), int(last or first) + 1)}
    return ids


def main() -> None:
    """Print the proofs of the promises that are named, else each promise with its state and how many it has."""
    found, named = proofs(), sys.argv[1:]
    for id_ in named:
        print(id_, *found.get(id_, []), sep="\n")  # noqa: T201
    if named:
        return
    for requirement in REQUIREMENTS:
        state = requirement.open_in or "kept"
        print(f"{requirement.id:4} {state:12} {len(found.get(requirement.id, [])):3} tests  {requirement.promise}")  # noqa: T201


if __name__ == "__main__":
    main()
