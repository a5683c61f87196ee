"""Compiles the native library into this folder with the C++ compiler of the system.

Owns the one command line. Run by the build hook (`hatch_build.py`) for wheels and editable installs, and by
`python -m workers.engines.native.build` after a change of the sources. Stands alone, so that the hook can load it
before anything is installed. Without a compiler the product works; `SisrEngine.is_available()` is then false.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
LIBRARY: Final = FOLDER / "_sisr.so"
FLAGS: Final = ("-std=c++20", "-O3", "-fPIC", "-pthread", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra")


class BuildError(Exception):
    """No compiler, or it refused the sources. The message says which and why."""


def compiler() -> str | None:
    """Return the C++ compiler: `CXX`, else the first of c++, g++ and clang++ on the path."""
    wanted = [os.environ.get("CXX"), "c++", "g++", "clang++"]
    return next((found for name in wanted if name and (found := shutil.which(name))), None)


def build(target: Path = LIBRARY, extra: Sequence[str] = ()) -> Path:
    """Compile every source of this folder into one shared library and return its path.

    Args:
        target: Where the library goes; replaced in one step, so a process that has it loaded keeps its own.
        extra: More compiler arguments, for example sanitizers.

    Raises:
        BuildError: There is no compiler, or it failed.
    """
    if (command := compiler()) is None:
        raise BuildError("No C++ compiler found (CXX, c++, g++, clang++); the native engine is left out.")
    draft = target.with_suffix(f".{os.getpid()}.tmp")
    sources = sorted(str(path) for path in FOLDER.glob("*.cpp"))
    done = subprocess.run(  # noqa: S603 — our own flags and sources
        [command, *FLAGS, *extra, "-o", str(draft), *sources], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        draft.unlink(missing_ok=True)
        raise BuildError(f"{command} failed:\n{done.stderr}")
    return draft.replace(target)


def is_fresh() -> bool:
    """Return whether the library is there and younger than every source."""
    sources = [*FOLDER.glob("*.cpp"), *FOLDER.glob("*.hpp"), Path(__file__)]
    return LIBRARY.exists() and LIBRARY.stat().st_mtime > max(path.stat().st_mtime for path in sources)


def main() -> None:
    """Build where needed and say what happened; never fail for want of a compiler."""
    try:
        print(f"{LIBRARY.name}: {'up to date' if is_fresh() else 'built ' + str(build())}")  # noqa: T201
    except BuildError as error:
        print(error, file=sys.stderr)  # noqa: T201


if __name__ == "__main__":
    main()
