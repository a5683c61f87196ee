"""`make setup` on a machine whose `python3` is too old."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.docs.doc_pages import ROOT

OLD = "#!/bin/sh\nexit 1\n"
RECENT = '#!/bin/sh\necho "$@" >> "$(dirname "$0")/asked"\n'

BARE = '#!/bin/sh\necho "$@" >> "$(dirname "$0")/asked"\n[ "$1 $2" != "-m pip" ]\n'
"""What `python3 -m venv` leaves behind on a Debian without python3-venv: an interpreter, and no pip."""


NO_COMPILER = '#!/bin/sh\necho "$@" >> "$(dirname "$0")/asked"\ncase "$*" in *--has-compiler) exit 1;; esac\n'
"""An interpreter on a system where `build.py` finds no C++ compiler."""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the Makefile, what it looks at, and two interpreters that only say how recent they are."""
    for name in ("Makefile", "pyproject.toml", "requirements/dev.lock"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for name, text in (("old", OLD), ("recent", RECENT)):
        script(tmp_path / name, text)
    return tmp_path


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def setup(checkout: Path, python: str) -> subprocess.CompletedProcess[str]:
    command = ["make", "setup", f"PYTHON={checkout / python}"]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=60)


def test_an_interpreter_that_is_too_old_is_refused_before_anything_is_made(checkout: Path) -> None:
    """SPEC O1: and the refusal says how to name another."""
    done = setup(checkout, "old")
    assert done.returncode != 0
    assert "make setup PYTHON=python3.12" in done.stdout
    assert not (checkout / ".venv").exists()


@pytest.mark.parametrize("interpreter", [OLD, BARE], ids=["too old", "without pip"])
def test_an_environment_that_is_of_no_use_is_made_anew(checkout: Path, interpreter: str) -> None:
    """SPEC O1: naming another interpreter, or installing what Debian says, and `make setup` again is all it takes."""
    script(checkout / ".venv" / "bin" / "python", interpreter)
    setup(checkout, "recent")
    assert "-m venv --clear .venv" in (checkout / "asked").read_text(encoding="utf-8")


def test_an_environment_that_is_recent_enough_stays_whatever_python3_is(checkout: Path) -> None:
    """SPEC O1: a new shell with an old `python3` takes nothing away."""
    script(checkout / ".venv" / "bin" / "python", RECENT)
    done = setup(checkout, "old")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pip install" in (checkout / ".venv" / "bin" / "asked").read_text(encoding="utf-8")


def test_without_a_compiler_the_set_up_says_so_and_brings_zig(checkout: Path) -> None:
    """SPEC O7: the native engine is there on every machine, and nothing about it happens in silence."""
    script(checkout / ".venv" / "bin" / "python", NO_COMPILER)
    done = setup(checkout, "recent")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No C++ compiler was found" in done.stdout
    asked = (checkout / ".venv" / "bin" / "asked").read_text(encoding="utf-8").splitlines()
    assert "-m pip install --quiet --require-hashes --requirement requirements/build.lock" in asked
    assert asked[-1] == "-m workers.engines.native.build"
