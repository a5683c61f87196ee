"""Lets wheels and editable installs carry the native engine, where a C++ compiler is present.

Owns the wish and the wheel's tag; the compiling is `workers/engines/native/build.py`, loaded by its path since nothing
is installed yet. Without a compiler the wheel is a pure one and the product lacks that engine only.
"""

import importlib.util
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


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

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build, and tag the wheel for this platform; leave it pure when that cannot be."""
        native = _build_module(Path(self.root))
        try:
            library = native.LIBRARY if native.is_fresh() else native.build()
        except native.BuildError as error:
            self.app.display_warning(str(error))
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        build_data["artifacts"].append(str(library.relative_to(self.root)))
