"""The Node of this machine, with the packages that `tests/node/package-lock.json` names."""

import shutil
import subprocess
from pathlib import Path

from tests.shared.processes.machine_lock import machine_lock

FOLDER = Path(__file__).parents[2] / "node"
IS_THERE = bool(shutil.which("node") and shutil.which("npm"))


def install() -> None:
    """Install the packages if they are not there, once a checkout."""
    with machine_lock("node"):
        if not (FOLDER / "node_modules" / ".package-lock.json").is_file():
            subprocess.run(["npm", "ci", "--loglevel=error"], cwd=FOLDER, check=True, timeout=100)
