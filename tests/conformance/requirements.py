"""Which tests prove which promise of `docs/spec.md`.

The page is the list of promises; this module reads it. Proofs are not listed by hand: a test proves what its
docstring names, as in `"SPEC J6"` or `"SPEC J2, J4"`, and `proofs()` collects them from the sources. A docstring that
names another text instead (`"Spec 2025-11-25, tasks: …"`, `"RFC 9110 …"`) proves the promises that the docstring of its
module names; one with a reason of the project's own (`"Our choice: …"`) proves none.
`python -m tests.conformance.requirements` prints a table of promises, and with numbers behind it the tests of each.
"""

import ast
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Final

TESTS: Final = Path(__file__).parents[1]
SPEC_PAGE: Final = TESTS.parent / "docs" / "spec.md"
SLOW_FOLDER: Final = "tests/chaos/"
"""Its `conftest.py` marks all of its tests."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One promise of the page.

    Args:
        id: As tests and commits name it.
        title: The rest of its heading.
        missing: The part that is not built yet, as the page says behind "Open:"; empty when the promise is kept.
    """

    id: str
    title: str
    missing: str


def requirements(page: str) -> list[Requirement]:
    """Return the promises of a page, in its order: each is a heading `### X1 Title` and the text below it."""
    parts = re.split(r"^### ([A-Z]\d+) (.+)$", page, flags=re.MULTILINE)[1:]
    return [Requirement(id_, title, _missing(text)) for id_, title, text in zip(*[iter(parts)] * 3, strict=True)]


def _missing(text: str) -> str:
    found = re.search(r"^\*\*Open:\*\* (.+?)$", text, re.MULTILINE)
    return found[1] if found else ""


_NAMED = re.compile(r"\bSPEC ((?:[A-Z]\d+(?:[-–][A-Z]?\d+)?(?:, | and )?)+)")
_ID = re.compile(r"([A-Z])(\d+)(?:[-–][A-Z]?(\d+))?")
_TEXT = re.compile(r"(?:Spec|MCP|JSON-RPC|RFC|Standard Webhooks|Tasks extension|Source)\b")
_SLOW = re.compile(r"pytest\.mark\.(?:slow|long|chaos|node)\b")
_OUR_REASON = re.compile(r"(?:Our choice|ADR|Engine contract)\b")


@dataclass(frozen=True, slots=True)
class Case:
    """One test, as far as its words go.

    Args:
        name: `path::test_name`.
        docstring: Its own.
        module: The docstring of its module.
        is_quick: Whether `make test` runs it.
    """

    name: str
    docstring: str
    module: str
    is_quick: bool = True

    @property
    def says_who_demands_it(self) -> bool:
        """Whether its own docstring names a promise, a text of others or a reason of ours."""
        return bool(ids_in(self.docstring) or _TEXT.match(self.docstring) or _OUR_REASON.match(self.docstring))

    @property
    def proves(self) -> set[str]:
        """The promises it names; one that names none, nor a reason of ours, proves those of its module."""
        is_ours = _OUR_REASON.match(self.docstring)
        return ids_in(self.docstring) or (set() if is_ours else ids_in(self.module))


def proofs(*, is_quick: bool = False) -> dict[str, list[str]]:
    """Return the tests that prove each id, as `path::test_name`, by id; on demand only those that `make test` runs."""
    found: dict[str, list[str]] = {}
    for test in cases():
        for id_ in test.proves if test.is_quick or not is_quick else ():
            found.setdefault(id_, []).append(test.name)
    return found


@cache
def cases() -> tuple[Case, ...]:
    """Return every test of the project."""
    return tuple(case for path in sorted(_sources()) for case in _cases_in(path))


def _cases_in(path: Path) -> Iterator[Case]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    module, where = ast.get_docstring(tree) or "", path.relative_to(TESTS.parent).as_posix()
    is_quick = not where.startswith(SLOW_FOLDER) and not any(map(_is_slow_mark, _module_marks(tree)))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            has_slow_mark = any(map(_is_slow_mark, node.decorator_list))
            yield Case(f"{where}::{node.name}", ast.get_docstring(node) or "", module, is_quick and not has_slow_mark)


def _module_marks(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield the marks of all tests of a module."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            yield from node.value.elts if isinstance(node.value, ast.List) else [node.value]


def _is_slow_mark(mark: ast.expr) -> bool:
    return _SLOW.match(ast.unparse(mark)) is not None


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
    for promise in requirements(SPEC_PAGE.read_text(encoding="utf-8")):
        missing = f" (open: {promise.missing})" if promise.missing else ""
        print(f"{promise.id:4} {len(found.get(promise.id, [])):4} tests  {promise.title}{missing}")  # noqa: T201


if __name__ == "__main__":
    main()
