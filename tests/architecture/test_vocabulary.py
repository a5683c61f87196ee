"""The code speaks the words of docs/glossary.md: no metaphors for parts of the program, and no name for two things."""

import ast
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("planner_mcp", "workers", "manifest")


def _inflected(words: str) -> frozenset[str]:
    """Return words with their regular forms: `judge` also forbids `judges`, `judged` and `judging`."""
    forms = set[str]()
    for word in words.split():
        stem = word.removesuffix("e")
        forms |= {word, f"{word}s", *(f"{stem}{end}" for end in ("ed", "er", "ers", "ing"))}
        if word.endswith("y"):
            forms |= {f"{word[:-1]}ies", f"{word[:-1]}ied"}
    return frozenset(forms)


METAPHORS = _inflected(
    """
    told said tell nursery story desk witness judge lend lent borrow house leash courier forest toll cautious mild
    refill lanes leniency shelf bell pump obstacle remedy seal presence odd news posting bringer survey gate door mend
    """
)
"""Words that name a part of the program, or what it does, only for those who know the joke (docs/glossary.md)."""
VERBS = _inflected("told tell")
"""Words that tests may not use as a name either: they report, show, send, say, name or refuse."""
REASONED = {
    "nothing_to_mend": "a field of the answers of suggest_fixes, which clients read",
    "sealed": "a field of stored webhook secrets",
    "test_a_position_is_named_by_the_nearest_house_number": "a house with a number in its street",
    "test_houses_of_helsinki_are_found_at_their_doors": "houses of a city",
    "test_a_number_of_the_register_stands_for_all_its_houses": "houses with one number",
}
"""Identifiers that keep a banned word, each with its reason: a wire name, a term of a standard, or the thing itself."""
PAGES = (
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs",
    "skills",
    "planner_mcp/server/prompts",
)
PAGE_METAPHORS = re.compile(
    r"\b(nursery|witness|lender|leash|couriers?|forest|tolls?|bringer|the house|a house|the desk|doors?|rooms|room of"
    r")\b",
    re.IGNORECASE,
)

SCRIPT_TEXT = re.compile(r"""(?://|--)[^\n]*|"[^"\n]*"|'[^'\n]*'|`[^`]*`""")
"""Comments and texts of JavaScript and Lua, which hold no identifiers."""
PYTHON_TEXT = re.compile(r"""("{3}|'{3})[\s\S]*?\1|"(?:[^\\"\n]|\\[\s\S])*"|'(?:[^\\'\n]|\\[\s\S])*'|#[^\n]*""")
"""Texts and comments of Python, which hold no identifiers but those of f-strings."""
NAMED_FILE = re.compile(r"`(?:\./)?([\w./]+\.(?:py|lua|cpp|h|js))`")
UNCHANGED = ("CHANGELOG.md", "docs/adr/")
"""Records of what was; the files that they name may have gone since."""


def test_no_identifier_is_a_metaphor() -> None:
    """Our choice: a stranger finds every part of the program by the word its field uses for it."""
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in _modules()
        for name in _identifiers(path)
        if METAPHORS & _words(name) and name not in REASONED
    }
    assert sorted(found) == []


def test_no_test_is_named_by_a_metaphor() -> None:
    """Our choice: the name of a test is a sentence in plain English, and so are the names in it."""
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in _tests()
        for name in _identifiers(path)
        if (METAPHORS if name.startswith("test_") else VERBS) & _words(name) and name not in REASONED
    }
    assert sorted(found) == []


def test_no_name_in_a_script_is_a_metaphor() -> None:
    """Our choice: the pages' modules and the Lua steps use the same words as the rest."""
    scripts = list(_scripts())
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in scripts
        for name in _script_identifiers(path)
        if METAPHORS & _words(name) and name not in REASONED
    }
    assert len(scripts) > 60
    assert sorted(found) == []


def test_reasons_are_given_only_for_names_that_exist() -> None:
    """Our choice: an exception goes when its name goes."""
    names = {name for path in (*_modules(), *_tests()) for name in _identifiers(path)}
    assert set(REASONED) <= names.union(*map(_script_identifiers, _scripts()))


def test_a_file_name_says_what_it_is_without_its_folder() -> None:
    """Our choice: no two modules share a name, so a search for one finds it alone."""
    folders = defaultdict(list)
    for path in _modules():
        if not path.stem.startswith("__"):
            folders[path.name].append(path.parent.relative_to(ROOT).as_posix())
    assert {name: places for name, places in folders.items() if len(places) > 1} == {}


def test_a_file_that_is_named_exists() -> None:
    """Our choice: docstrings and pages name files by their present paths."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    tails = {"/".join(path.split("/")[at:]) for path in listed for at in range(path.count("/") + 1)}
    found = {
        f"{path}: {name}"
        for path in listed
        if path.endswith((".py", ".lua", ".md", ".cpp", ".h")) and not path.startswith(UNCHANGED)
        for name in NAMED_FILE.findall((ROOT / path).read_text(encoding="utf-8"))
        if name not in tails and "NAME" not in name
    }
    assert sorted(found) == []


def test_a_documented_argument_exists() -> None:
    """Our choice: a docstring names the arguments of its function or class by their present names."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {name}"
        for path in _modules()
        for node in _defined(path)
        for name in _documented_arguments(node)
        if name not in _arguments(node)
    ]
    assert found == []


def test_a_class_name_means_one_thing() -> None:
    """Our choice: a public class name stands in one module, so that a reader of a message knows which is meant."""
    places = defaultdict(set)
    for path in _modules():
        for name in re.findall(r"^class ([^\W_]\w*)", path.read_text(encoding="utf-8"), re.MULTILINE):
            places[name].add(path.relative_to(ROOT).as_posix())
    assert {
        name: sorted(found) for name, found in places.items() if len(found) > 1 and name not in SHARED_CLASSES
    } == {}


SHARED_CLASSES: frozenset[str] = frozenset()
"""Public class names that may stand in two modules."""


def test_pages_use_the_words_of_the_glossary() -> None:
    """Our choice: what a newcomer reads first has no private language."""
    pages = [
        page for name in PAGES for page in ([ROOT / name] if (ROOT / name).is_file() else (ROOT / name).rglob("*.md"))
    ]
    found = [
        f"{page.relative_to(ROOT)}:{number}: {match[0]}"
        for page in pages
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
        for match in PAGE_METAPHORS.finditer(line)
    ]
    assert len(pages) > 30
    assert found == []


def _modules() -> Iterator[Path]:
    """Yield the Python modules of the product."""
    for package in PACKAGES:
        yield from sorted((ROOT / package).rglob("*.py"))


def _tests() -> Iterator[Path]:
    """Yield the Python modules of the tests, without those of packages that some of them install."""
    yield from sorted(path for path in (ROOT / "tests").rglob("*.py") if "node_modules" not in path.parts)


def _scripts() -> Iterator[Path]:
    """Yield the modules of the pages and the Lua steps."""
    for kind in ("*.js", "*.lua"):
        yield from (ROOT / "planner_mcp").rglob(kind)


def _defined(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Yield the functions and classes of a module whose docstrings name arguments, but none inside a function."""
    text = path.read_text(encoding="utf-8")
    waiting = list(ast.parse(text).body) if "Args:" in text else []
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node
        if isinstance(node, ast.ClassDef):
            waiting += node.body


def _documented_arguments(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[str]:
    """Return the names in the section `Args` of a docstring."""
    section = re.search(r"^Args:\n((?: {4}.*\n?|\n)+)", ast.get_docstring(node) or "", re.MULTILINE)
    return re.findall(r"^ {4}(\w+):", section[1], re.MULTILINE) if section else []


def _arguments(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> set[str]:
    """Return the arguments of a function, or those that make an instance of a class: of `__init__`, or its fields."""
    if not isinstance(node, ast.ClassDef):
        return {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
    fields = {
        each.target.id for each in node.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    }
    makers = (each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__")
    return fields.union(*map(_arguments, makers))


@cache
def _identifiers(path: Path) -> frozenset[str]:
    """Return every name of a module, its file name included: all words outside texts and comments."""
    code = PYTHON_TEXT.sub("", path.read_text(encoding="utf-8"))
    return frozenset({path.stem, *re.findall(r"[A-Za-z_]\w*", code)})


@cache
def _script_identifiers(path: Path) -> frozenset[str]:
    """Return every name of a script: all words outside texts and comments."""
    return frozenset(re.findall(r"[A-Za-z_]\w*", SCRIPT_TEXT.sub("", path.read_text(encoding="utf-8"))))


@cache
def _words(name: str) -> frozenset[str]:
    """Return the words of an identifier in lower case: `CourierPool` and `COURIER_POOL` are two words."""
    return frozenset(re.findall(r"[a-z]+", re.sub(r"(?<![A-Z])([A-Z])", r"_\1", name).lower()))
