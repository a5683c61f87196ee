"""Wheels of this checkout, and environments that hold nothing of the project but a wheel."""

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).parents[3]


def build_wheel(folder: Path) -> Path:
    """Build the wheel for this machine into a folder and return its path."""
    command = ["pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), "."]
    built = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("*.whl")
    return path


def environment_with(wheel: Path, folder: Path) -> Path:
    """Install a wheel into a new environment and return its interpreter.

    What the wheel depends on is read from the environment of the tests; the editable install there is not, because a
    `.pth` file inside a folder that another `.pth` file names is not read.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    command = ["pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    installed = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True)
    assert installed.returncode == 0, installed.stderr
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return python
