"""Two reviewers decide at the same time, each at another server process of one deployment (SPEC A5)."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from examples.planner_server import running_server
from planner_mcp.jobs.principals import APPROVE, READ, WRITE
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.security.api_key_store import ApiKeyStore
from planner_mcp.server.auth.api_key_auth import new_key
from planner_mcp.settings import Settings
from tests.shared.http.http_clients import http_client
from tests.shared.scenarios.client_scenarios import ring
from tests.system.auth.conftest import configured

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
SCOPES = {"ann": (READ, WRITE), "bob": (READ, APPROVE), "eve": (READ, APPROVE)}
ROUNDS = 15


async def _keys(data_dir: Path) -> dict[str, str]:
    """Make an API key for each person, all of one tenant."""
    keys = {}
    async with connect(Settings(data_dir=data_dir)) as store:
        for name, scopes in SCOPES.items():
            keys[name], record = new_key(name, "acme", scopes, now=datetime.now(UTC))
            await ApiKeyStore(store.script_client).add(record)
    return keys


async def _call(url: str, key: str, tool: str, **arguments: Any) -> dict[str, Any]:
    async with http_client(base_url=url, headers={"authorization": f"Bearer {key}"}, timeout=60) as http:
        answer = await http.post("/ui/call", json={"tool": tool, "arguments": arguments})
    return dict(answer.json()["structured"])


async def test_two_reviewers_at_two_servers_never_both_decide(tmp_path: Path) -> None:
    """SPEC A5: of an approval and a rejection exactly one holds; both servers, and the one that lost, tell which."""
    given = configured(AUTH_API_KEYS="true", APPROVAL="four_eyes")
    async with (
        running_server(tmp_path, workers=1, settings=given) as here,
        running_server(tmp_path, workers=0, log=tmp_path / "second.log", settings=given) as there,
    ):
        keys = await _keys(tmp_path)
        scenario_id = (await _call(here.url, keys["ann"], "create_scenario", **ring(5)))["scenario_id"]
        for seed in range(ROUNDS):
            solve = {"scenario_id": scenario_id, "solve_time": "PT1S", "seed": seed}
            job_id = (await _call(here.url, keys["ann"], "solve_vrp", **solve))["job_id"]
            await _call(here.url, keys["ann"], "query_vrp_status", job_id=job_id, wait_s=45)
            proposed = await _call(there.url, keys["ann"], "propose_plan", job_id=job_id)
            assert proposed["review"]["state"] == "proposed", proposed
            answers = await asyncio.gather(
                _call(here.url, keys["bob"], "review_plan", job_id=job_id, decision="approve"),
                _call(there.url, keys["eve"], "review_plan", job_id=job_id, decision="reject", reason="too late"),
            )
            (held,) = [answer["review"]["state"] for answer in answers if "review" in answer]
            (refused,) = [answer for answer in answers if "review" not in answer]
            assert refused["type"] == "IllegalTransition"
            assert f"is {held}" in refused["message"]
            for url in (here.url, there.url):
                assert (await _call(url, keys["bob"], "query_vrp_status", job_id=job_id))["review"]["state"] == held
