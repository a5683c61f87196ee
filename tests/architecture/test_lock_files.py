"""The lock files pin what pyproject.toml asks for."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import hatch_build

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))


def asked(lock: str) -> list[Requirement]:
    """Return what a lock file is made from."""
    project, groups = PROJECT["project"], PROJECT["dependency-groups"]
    if lock in ("build", "clients", "ray", "roads"):
        return [Requirement(line) for line in groups[lock]]
    left_out = ("ray", "roads-valhalla")
    extras = (lines for name, lines in project["optional-dependencies"].items() if name not in left_out)
    lines = [*project["dependencies"], *(line for extra in extras for line in extra)]
    return [Requirement(line) for line in [*lines, *(groups["dev"] if lock == "dev" else [])]]


def pins(lock: str) -> dict[str, str]:
    """Return the version of each package in a lock file."""
    text = (ROOT / "requirements" / f"{lock}.lock").read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9-]+)(?:\[[a-z,-]+\])?==(\S+)", text, re.MULTILINE))


@pytest.mark.parametrize("lock", ["build", "clients", "dev", "image", "ray", "roads"])
def test_each_dependency_is_pinned_to_a_version_that_it_allows(lock: str) -> None:
    """SPEC O7: whoever changes a dependency runs `make lock`."""
    pinned = pins(lock)
    stale = [str(each) for each in asked(lock) if pinned.get(_name(each)) not in each.specifier]
    assert stale == []


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.stem)
def test_each_pin_has_a_hash_and_no_pin_names_an_index(path: Path) -> None:
    """SPEC O7: what is installed is what was locked, from whichever index."""
    entries = re.split(r"^(?=[a-z0-9])", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    assert [entry for entry in entries if "==" not in entry or "--hash=sha256:" not in entry] == []
    assert not re.search(r"https?://|--(?:extra-)?index-url|--find-links", "".join(entries))


@pytest.mark.parametrize("lock", ["build", "image", "ray", "roads"])
def test_what_runs_is_what_the_tests_ran_with(lock: str) -> None:
    """SPEC O7: one version of each package, in the image, in a build and on a developer's machine."""
    tested = pins("dev")
    assert {name: version for name, version in pins(lock).items() if tested.get(name, version) != version} == {}


def test_the_decisions_name_every_library_and_every_lock_file() -> None:
    """Our choice: ADR 6 lists what the project depends on, ADR 21 what pins it."""
    project, records = PROJECT["project"], ROOT / "docs/adr"
    libraries = (records / "0006-libraries.md").read_text(encoding="utf-8")
    assert [line for line in project["dependencies"] if f"`{Requirement(line).name}`" not in libraries] == []
    locks = (records / "0021-lock-files.md").read_text(encoding="utf-8")
    assert [path.name for path in LOCKS if f"| `{path.name}` |" not in locks] == []


def test_the_build_hook_asks_for_the_zig_of_the_build_group() -> None:
    """SPEC O7: wheels that are built from a source distribution have the same compiler."""
    assert hatch_build.ZIG in PROJECT["dependency-groups"]["build"]


def _name(requirement: Requirement) -> str:
    return re.sub(r"[-_.]+", "-", requirement.name).lower()
