"""The Node of this machine, with the packages that a `package-lock.json` names: by default that of `tests/node`."""

import shutil
import subprocess
from pathlib import Path

from tests.shared.processes.machine_lock import machine_lock

FOLDER = Path(__file__).parents[2] / "node"
IS_THERE = bool(shutil.which("node") and shutil.which("npm"))


def install(folder: Path = FOLDER) -> None:
    """Install the packages of a folder if they are not there, once a checkout."""
    with machine_lock(folder.name):
        if not (folder / "node_modules" / ".package-lock.json").is_file():
            subprocess.run(["npm", "ci", "--loglevel=error"], cwd=folder, check=True, timeout=300)
