"""REST as others read its document: requests made from it by schemathesis, and clients generated from it."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import anyio
import pytest

from examples.planner_server import PlannerServer, running_server
from tests.shared.node import node_packages
from tests.shared.processes.machine_lock import machine_lock
from tests.shared.scenarios.client_scenarios import SMALLEST

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
ROOT = Path(__file__).parents[2]
NODE = ROOT / "tests" / "node_openapi"
ENVIRONMENT = ROOT / ".venv" / "share" / "openapi-client"
CHECKS = """
[checks]
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 406, 409, 412, 413, 415, 422, 428, 429]
"""
DRIVE = """
import sys
from planner_client import Client
from planner_client.api.jobs import follow_job, query_vrp_status, solve_vrp
from planner_client.api.plans import get_plan
from planner_client.api.scenarios import create_scenario
from planner_client.models import Scenario, SolveVrpBody

day = {
    "name": "Day", "planning_date": "2026-11-23",
    "agents": [{"id": "van", "capacity": 5, "start_location": "d", "end_location": "d"}],
    "tickets": [{"id": "t1", "location": "p", "demand": 1}],
    "locations": [{"id": "d", "lat": 52.52, "lon": 13.41}, {"id": "p", "lat": 52.53, "lon": 13.42}],
}
client = Client(base_url=sys.argv[1], timeout=60)
made = create_scenario.sync(client=client, body=Scenario.from_dict(day))
job = solve_vrp.sync(client=client, body=SolveVrpBody(scenario_id=made.scenario_id, solve_time="PT2S"))
ended = query_vrp_status.sync(job_id=job.job_id, client=client, wait_s=45.0)
assert ended.status == "COMPLETED", ended
events = follow_job.sync_detailed(job_id=job.job_id, client=client).content.decode()
assert "notifications/complete" in events, events
plan = get_plan.sync(job_id=job.job_id, client=client)
print(plan.to_dict()["routes"][0]["visits"][0]["ticket_id"])
"""


@pytest.mark.timeout(500)
async def test_requests_made_from_the_document_are_answered_as_it_says(tmp_path: Path) -> None:
    """SPEC O5, T11: wrong data is refused, right data answered by the schema, and links lead from step to step.

    The server is its own: dozens of jobs stay in its queue.
    """
    (tmp_path / "schemathesis.toml").write_text(CHECKS, encoding="utf-8")
    command = [sys.executable, "-m", "schemathesis.cli", "run"]
    endless = [word for name in ("follow_job", "follow_jobs") for word in ("--exclude-operation-id", name)]
    beyond = ["--exclude-checks", "positive_data_acceptance"]  # rules across fields stand in descriptions
    waits = ["--request-timeout", "60"]  # a call may wait for the end of a job
    options = [*beyond, *waits, "--max-examples", "15", "--seed", "1", "--suppress-health-check", "all", "--no-color"]
    async with running_server(tmp_path / "data", workers=1) as server:
        document = [f"{server.url}/openapi.json", "--checks", "all"]
        done = await anyio.run_process([*command, *document, *endless, *options], cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout.decode()[-6000:]


@pytest.mark.timeout(300)
async def test_a_generated_python_client_goes_from_a_day_to_its_plan(server: PlannerServer, tmp_path: Path) -> None:
    """SPEC O5: by a generator that we did not write, with its types."""
    python = await anyio.to_thread.run_sync(_python_with_generator)
    document = [
        "--url",
        f"{server.url}/openapi.json",
        "--meta",
        "none",
        "--output-path",
        str(tmp_path / "planner_client"),
    ]
    await anyio.run_process([python, "-m", "openapi_python_client", "generate", *document], env=_plain_environment())
    (tmp_path / "drive.py").write_text(textwrap.dedent(DRIVE), encoding="utf-8")
    done = await anyio.run_process(
        [python, "drive.py", server.url], cwd=tmp_path, env=_plain_environment(), check=False
    )
    assert (done.returncode, done.stdout.decode().strip()) == (0, "t1"), done.stderr.decode()


@pytest.mark.node
@pytest.mark.timeout(300)
@pytest.mark.skipif(not node_packages.IS_THERE, reason="needs node and npm")
async def test_a_generated_typescript_client_goes_from_a_day_to_its_plan(server: PlannerServer, tmp_path: Path) -> None:
    """SPEC O5: types by openapi-typescript, requests by openapi-fetch; tsc accepts the flow and it runs."""
    await anyio.to_thread.run_sync(node_packages.install, NODE)
    (tmp_path / "node_modules").symlink_to(NODE / "node_modules")
    for name in ("package.json", "tsconfig.json", "drive.ts"):
        shutil.copy(NODE / name, tmp_path)
    document, types = f"{server.url}/openapi.json", str(tmp_path / "schema.d.ts")
    for command in (
        ["npx", "openapi-typescript", document, "--default-non-nullable=false", "--output", types],
        ["npx", "tsc", "--project", "tsconfig.json"],
        ["node", "out/drive.js", server.url, json.dumps(SMALLEST)],
    ):
        done = await anyio.run_process(command, cwd=tmp_path, check=False)
        assert done.returncode == 0, (done.stdout + done.stderr).decode()
    seen = json.loads(done.stdout)
    ticket = SMALLEST["tickets"][0]["id"]
    assert seen == {"status": "COMPLETED", "has_end": True, "ticket": ticket, "refused": [404, 4004]}


def _plain_environment() -> dict[str, str]:
    return os.environ | {"PATH": f"{ENVIRONMENT / 'bin'}{os.pathsep}{os.environ['PATH']}"}


def _python_with_generator() -> str:
    """Return the interpreter of an environment with the locked generator, made once a checkout."""
    python = ENVIRONMENT / "bin" / "python"
    with machine_lock("openapi-client"):
        if not (ENVIRONMENT / ".made").exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)], check=True)
            locked = ["--require-hashes", "--requirement", str(ROOT / "requirements" / "clients.lock")]
            subprocess.run([python, "-m", "pip", "install", "--quiet", *locked], check=True)
            (ENVIRONMENT / ".made").touch()
    return str(python)
