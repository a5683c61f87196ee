"""Whoever installs the wheel has the types of the packages."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared.cli.built_wheel import build_wheel, environment_with

CONSUMER = Path(__file__).with_name("typed_consumer.py")


WRONG_USE = """
from planner_mcp.settings import Settings
port: str = Settings().port
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel of this checkout."""
    folder = tmp_path_factory.mktemp("consumer")
    return environment_with(build_wheel(folder / "dist"), folder / "venv")


def mypy(python: Path, program: str, folder: Path) -> str:
    """Return what mypy says about a program, in strict mode and without our settings of it."""
    (folder / "mypy.ini").write_text("[mypy]\n", encoding="utf-8")
    (folder / "program.py").write_text(program, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(python), "program.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_program_of_somebody_else_is_type_checked_against_the_wheel(python: Path, tmp_path: Path) -> None:
    """SPEC O7: the wheel carries its types, and they say what the calls return."""
    assert mypy(python, CONSUMER.read_text(encoding="utf-8"), tmp_path) == "Success: no issues found in 1 source file\n"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_wrong_use_is_found_by_the_types_of_the_wheel(python: Path, tmp_path: Path) -> None:
    """Our choice: the check above would pass if the types were lost and everything were Any."""
    assert "Incompatible types in assignment" in mypy(python, WRONG_USE, tmp_path)
