"""Puts the native engine into wheels and editable installs, and the skills into wheels.

Owns the choice between the compiler of the system and Zig, and the platform tag of the wheel. The compiling is
`workers/engines/native/build.py`, loaded by its path because nothing is installed yet. Where the system has no C++
compiler the build asks for the `ziglang` package (ADR 20). `PLANNER_WHEEL_PLATFORM` names another platform to build
for, as `make wheels` does.
"""

import importlib.util
import os
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ZIG = "ziglang>=0.17,<0.18"
"""The same range as the dependency group `build` in pyproject.toml."""


def _build_module(root: Path) -> ModuleType:
    path = root / "workers" / "engines" / "native" / "build.py"
    spec = importlib.util.spec_from_file_location("native_build", path)
    if spec is None or spec.loader is None:
        raise ImportError(str(path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class NativeBuildHook(BuildHookInterface[Any]):
    """Compiles the library before hatchling collects files."""

    def dependencies(self) -> list[str]:
        """Ask for Zig where another platform is wanted, or the system has no compiler and Zig knows the platform."""
        native = _build_module(Path(self.root))
        if "PLANNER_WHEEL_PLATFORM" in os.environ:
            return [ZIG]
        return [ZIG] if native.system_compiler() is None and native.platform_here() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the library and tag the wheel with its platform.

        Without a compiler the wheel is a pure one, with a warning; a wheel for a named platform fails instead.
        """
        if version != "editable":  # that one finds them at the root
            build_data["force_include"][str(Path(self.root, "skills"))] = "planner_mcp/skills"
        native = _build_module(Path(self.root))
        if wanted := os.environ.get("PLANNER_WHEEL_PLATFORM"):
            library = native.build(Path(self.root, "build", wanted, native.LIBRARY.name), wheel_platform=wanted)
            build_data["force_include"][str(library)] = str(native.LIBRARY.relative_to(self.root))
            _tag(build_data, wanted)
            return
        try:
            library = native.LIBRARY if native.is_fresh() else native.build()
        except native.BuildError as error:
            self.app.display_warning(str(error))
            return
        build_data["artifacts"].append(str(library.relative_to(self.root)))
        _tag(build_data, sysconfig.get_platform().replace("-", "_").replace(".", "_"))


def _tag(build_data: dict[str, Any], platform: str) -> None:
    build_data["pure_python"] = False
    build_data["tag"] = f"py3-none-{platform}"
