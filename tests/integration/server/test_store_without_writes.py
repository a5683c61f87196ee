"""A store that is read but takes no writes, as on a full disk (SPEC J7)."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from planner_mcp.http_app import open_app
from planner_mcp.jobs.store import embedded_server
from planner_mcp.settings import Settings
from tests.shared.http.app_clients import app_client
from tests.shared.http.mcp_caller import Caller
from tests.shared.scenarios.client_scenarios import SMALLEST
from tests.shared.scenarios.stored_plans import finish

pytestmark = pytest.mark.anyio


async def test_reads_go_on_and_readiness_says_so_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC J7: every read is answered, every write is refused as retryable, and /readyz is 503 each time."""
    free = [10**12]
    monkeypatch.setattr(embedded_server.shutil, "disk_usage", lambda _path: SimpleNamespace(free=free[0]))
    settings = Settings(data_dir=tmp_path / "data", toolsets="all")
    async with open_app(settings, drain=anyio.Event()) as app, app_client(app) as http:
        caller, store = Caller(http), app.state.services.store

        async def until_ready_is(status: int) -> None:
            with anyio.fail_after(30):
                while (await http.get("/readyz")).status_code != status:  # noqa: ASYNC110 - the store is asked
                    await anyio.sleep(0.05)

        async def call(tool: str, **args: Any) -> dict[str, Any]:
            return dict((await caller.call(tool, **args)).json()["result"])

        scenario_id = (await call("create_scenario", **SMALLEST))["structuredContent"]["scenario_id"]
        job_id = (await call("solve_vrp", scenario_id=scenario_id))["structuredContent"]["job_id"]
        await finish(store, ["t-1"])
        free[0] = 10**6
        await until_ready_is(503)
        reads = {
            "query_vrp_status": {"job_id": job_id},
            "read_plan": {"job_id": job_id},
            "read_progress": {"job_id": job_id},
            "validate_scenario": {"scenario_id": scenario_id},
            "read_resource": {"uri": f"scenario://{scenario_id}/result"},
            "list_jobs": {},
            "list_scenarios": {},
        }
        for tool, args in reads.items():
            answer = await call(tool, **args)
            assert not answer.get("isError"), (tool, answer)
        written = await call("create_scenario", **SMALLEST)
        assert (written["isError"], written["structuredContent"]["retryable"]) == (True, True)
        assert {(await http.get("/readyz")).status_code for _ in range(5)} == {503}
        assert (await http.get(f"/jobs/{job_id}")).status_code == 200
        free[0] = 10**12
        await until_ready_is(200)
