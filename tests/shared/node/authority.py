"""An independent, certified authorization server in a process of its own, and ways to get tokens from it."""

import asyncio
import contextlib
import json
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass

from tests.shared.http.http_clients import http_client
from tests.shared.node import node_packages


@dataclass(frozen=True)
class Authority:
    """An authorization server that runs."""

    issuer: str
    process: asyncio.subprocess.Process

    async def token(self, robot: str, resource: str, scope: str) -> str:
        """Return an access token for a robot by the client credentials grant."""
        form = {"grant_type": "client_credentials", "scope": scope, "resource": resource}
        async with http_client() as http:
            answer = await http.post(f"{self.issuer}/token", data=form, auth=(robot, f"{robot}-secret"))
        assert answer.status_code == 200, answer.text
        return str(answer.json()["access_token"])


@contextlib.asynccontextmanager
async def authority(resources: dict[str, str], robots: dict[str, str]) -> AsyncIterator[Authority]:
    """Run one for the length of the block.

    Args:
        resources: Resource identifier → `jwt` or `opaque`.
        robots: Client id → scopes it may ask for.
    """
    node_packages.install()
    config = json.dumps({"resources": resources, "robots": robots})
    process = await asyncio.create_subprocess_exec(
        "node", "authority.mjs", config, cwd=node_packages.FOLDER, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), 100)
        yield Authority(json.loads(line)["issuer"], process)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
