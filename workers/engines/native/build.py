"""Compiles the native library into this folder.

Owns the command line and the choice of the compiler: that of the system, or the one inside the `ziglang` package,
which needs nothing else and also compiles for other platforms (ADR 20). The build hook (`hatch_build.py`) runs it for
wheels and editable installs; `python -m workers.engines.native.build` runs it after a change of the sources. It imports
the standard library only, because the hook loads it before anything is installed. Without the library the product
works, and `SisrEngine.is_available()` is false.
"""

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
LIBRARY: Final = FOLDER / "_sisr.so"
FLAGS: Final = ("-std=c++20", "-O3", "-fPIC", "-pthread", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra")
TARGETS: Final = {
    "manylinux_2_17_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux_2_17_aarch64": "aarch64-linux-gnu.2.17",
    "macosx_11_0_arm64": "aarch64-macos.11.0",
    "macosx_11_0_x86_64": "x86_64-macos.11.0",
}
"""Platform tag of a wheel and what the Zig compiler calls the same platform, with the oldest system that it runs on."""
ZIG_FLAGS: Final = ("-g0", "-s")
"""Zig adds debug information unless it is told not to."""
HOW_TO_BUILD: Final = "install a C++ compiler or the package ziglang, and run python -m workers.engines.native.build"


class BuildError(Exception):
    """No compiler, or it refused the sources. The message says which and why."""


def system_compiler() -> str | None:
    """Return the C++ compiler of the system: `CXX`, else the first of c++, g++ and clang++ that knows C++20."""
    names = [os.environ.get("CXX"), "c++", "g++", "clang++"]
    return next((found for name in names if name and (found := shutil.which(name)) and _knows_cpp20(found)), None)


def has_zig() -> bool:
    """Return whether this interpreter has the `ziglang` package."""
    return importlib.util.find_spec("ziglang") is not None


def platform_here() -> str | None:
    """Return the key of `TARGETS` for this machine; None where there is none."""
    families = {"linux": "manylinux_2_17", "darwin": "macosx_11_0"}
    tag = f"{families.get(sys.platform)}_{platform.machine()}"
    return tag if tag in TARGETS else None


def command_here() -> list[str]:
    """Return how the compiler for this machine is called: that of the system, else Zig.

    Raises:
        BuildError: There is neither.
    """
    if (command := system_compiler()) is not None:
        return [command]
    if (here := platform_here()) is None or not has_zig():
        raise BuildError(
            f"The native engine is left out, because no C++ compiler was found. To add it, {HOW_TO_BUILD}."
        )
    return _zig(here)


def build(target: Path = LIBRARY, extra: Sequence[str] = (), *, wheel_platform: str | None = None) -> Path:
    """Compile the sources of this folder into one shared library and return its path.

    Args:
        target: Where the library goes; replaced in one step, so a process that has loaded the old one keeps it.
        extra: More compiler arguments, for example sanitizers.
        wheel_platform: A key of `TARGETS` to compile for with Zig; without it the library is for this machine.

    Raises:
        BuildError: There is no compiler, or it failed.
    """
    command = _zig(wheel_platform) if wheel_platform else command_here()
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_suffix(f".{os.getpid()}.tmp")
    with tempfile.TemporaryDirectory() as folder:
        # one translation unit: a quarter of the time, since the headers of the standard library are read once
        unit = Path(folder) / "sisr.cpp"
        unit.write_text("".join(f'#include "{path.name}"\n' for path in sorted(FOLDER.glob("*.cpp"))), encoding="utf-8")
        done = subprocess.run(  # noqa: S603 — our own flags and sources
            [*command, *FLAGS, *extra, f"-I{FOLDER}", "-o", str(draft), str(unit)],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        draft.unlink(missing_ok=True)
        raise BuildError(f"The native engine is left out: {' '.join(command)} failed:\n{done.stderr}")
    return draft.replace(target)


def is_fresh() -> bool:
    """Return whether the library is there and younger than every source."""
    sources = [*FOLDER.glob("*.cpp"), *FOLDER.glob("*.hpp"), Path(__file__)]
    return LIBRARY.exists() and LIBRARY.stat().st_mtime > max(path.stat().st_mtime for path in sources)


def main() -> None:
    """Build the library if it is not fresh, and say what happened.

    A missing compiler is no failure, because the product works without the library. With `--has-compiler` nothing is
    built, and the exit status says whether the system has a C++ compiler.
    """
    if sys.argv[1:] == ["--has-compiler"]:
        sys.exit(system_compiler() is None)
    try:
        print(f"{LIBRARY.name}: {'up to date' if is_fresh() else 'built ' + str(build())}")  # noqa: T201
    except BuildError as error:
        print(f"warning: {error}", file=sys.stderr)  # noqa: T201


def _zig(wheel_platform: str) -> list[str]:
    if wheel_platform not in TARGETS:
        raise BuildError(
            f"{wheel_platform!r} is not a platform that wheels are built for; there are {', '.join(TARGETS)}."
        )
    if not has_zig():
        raise BuildError(f"Compiling for {wheel_platform} needs the Python package ziglang.")
    # a target that is named is compiled for every processor of its kind, not for the one that compiles
    return [sys.executable, "-m", "ziglang", "c++", "-target", TARGETS[wheel_platform], *ZIG_FLAGS]


def _knows_cpp20(compiler: str) -> bool:
    """Return whether a compiler takes our flags and finds its headers; on macOS it may be a stub without either."""
    check = [compiler, *FLAGS, "-fsyntax-only", "-x", "c++", "-"]
    return subprocess.run(check, input=b"#include <span>\n", capture_output=True, check=False).returncode == 0  # noqa: S603


if __name__ == "__main__":
    main()
