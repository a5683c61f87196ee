"""What is distributed: the wheel and the tracked files."""

import re
import subprocess
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from tests.shared.cli.built_wheel import build_wheel

ROOT = Path(__file__).parents[2]
PACKAGES = ("planner_mcp", "workers", "manifest")


def tracked() -> list[str]:
    """Return the paths of all tracked files."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if (ROOT / line).is_file()]


@pytest.fixture(scope="module", params=["listed", pytest.param("built", marks=pytest.mark.slow)])
def wheel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Names in a wheel of this checkout: as the builder lists them, or of one that is built."""
    if request.param == "listed":
        return [file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()]
    return zipfile.ZipFile(build_wheel(tmp_path_factory.mktemp("wheel"))).namelist()


def test_wheel_holds_the_three_packages_and_nothing_else(wheel: list[str]) -> None:
    """Our choice: the folder you open is the name you import."""
    tops = {name.split("/")[0] for name in wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)


def test_wheel_holds_what_the_packages_read(wheel: list[str]) -> None:
    """Our choice: types, Lua steps, styles, prompts, native sources and the manifest travel with the code."""
    read = [path for path in tracked() if path.startswith(tuple(f"{package}/" for package in PACKAGES))]
    assert {Path(path).suffix for path in read} >= {".py", ".lua", ".css", ".md", ".json", ".typed"}
    assert [path for path in read if path not in wheel] == []


def test_tracked_files_name_no_place_of_one_machine() -> None:
    """Our choice: what is shared works anywhere."""
    private = re.compile(r"/(?:home|root|Users)/\w+/|/work/|https?://[^\s\"')]*(?:artifactory|nexus|pypi\.internal)")
    texts = {path: (ROOT / path).read_text(encoding="utf-8", errors="ignore") for path in tracked()}
    own = Path(__file__).relative_to(ROOT).as_posix()
    assert [path for path, text in texts.items() if path != own and private.search(text)] == []


def test_every_make_target_is_described() -> None:
    """Our choice: bare `make` lists the commands a person or CI runs."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", text, re.MULTILINE))
    documented = set(re.findall(r"^([a-z][a-z-]*):.*##", text, re.MULTILINE))
    assert targets == documented
