"""Examples run as a reader runs them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx2
import pytest
from mcp import Client
from mcp.types import CallToolResult

from examples import beijing, job_events, quickstart
from examples.planner_client import RefusedError, call, read_plan, watch
from examples.planner_server import PlannerServer, running_server
from planner_mcp.render.plan_report import report_page
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from tests.docs.doc_pages import ROOT

pytestmark = pytest.mark.anyio


@pytest.mark.slow
def test_demo_goes_through_every_part(tmp_path: Path) -> None:
    """SPEC O1: one command creates, solves, watches, reads, draws and cancels, and leaves no process behind."""
    command = [sys.executable, "-m", "examples.demo", "--solve-s", "2", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "120 of 120 tickets" in done.stdout
    assert "kept: " in done.stdout
    drawn = (tmp_path / "demo.html").read_text(encoding="utf-8")
    assert all(word in drawn for word in ("北京城配", "van-01", "<polyline", "Timeline"))


async def test_a_failure_to_start_is_reported_with_the_log(tmp_path: Path) -> None:
    """Our choice: an example that fails says why."""
    with pytest.raises(RuntimeError, match="did not start"):
        async with running_server(tmp_path, module="planner_mcp.absent"):
            pass


def test_city_day_is_what_its_script_writes() -> None:
    """Our choice: shipped data can be made anew."""
    assert beijing.DAY_FILE.read_text(encoding="utf-8") == beijing.text(beijing.day())


def test_city_day_has_no_fault() -> None:
    """SPEC T7: the shipped day passes every check."""
    scenario = parse_scenario(beijing.day())
    assert (len(scenario.tickets), len(scenario.agents)) == (120, 10)


async def test_quickstart_solves_the_smallest_day(server: PlannerServer, capsys: pytest.CaptureFixture[str]) -> None:
    """SPEC T1: the smallest call runs to COMPLETED."""
    await quickstart.main(server.mcp)
    reported = capsys.readouterr().out
    assert "COMPLETED 100" in reported
    assert "'veh-1', 't-1', 'LOC_A'" in reported


class _ScriptedClient:
    """Stands in for a client whose server tells progress before it answers."""

    def __init__(self, *reported: tuple[float, str]) -> None:
        self._progress = reported

    async def call_tool(self, tool: str, arguments: Any, *, progress_callback: Any) -> Any:
        for progress, message in self._progress:
            await progress_callback(progress, 100.0, message)
        answer = {"job_id": "job-1", "status": "COMPLETED", "progress": 100}
        return CallToolResult(content=[], structured_content=answer)


async def test_progress_is_sent_under_its_own_status() -> None:
    """SPEC T3, O1: 100 % once, and never of a job that waits."""
    client: Any = _ScriptedClient((0, "QUEUED 0%"), (40, "SOLVING 40% · cost 7"), (100, "COMPLETED 100%"))
    seen: list[tuple[str, int]] = []
    await watch(client, "job-1", lambda status: seen.append((status["status"], status["progress"])))
    assert seen == [("QUEUED", 0), ("SOLVING", 40), ("COMPLETED", 100)]


async def test_the_channel_sends_a_job_from_first_to_last_event(server: PlannerServer) -> None:
    """SPEC J2, J3: the channel of a job carries its notifications, and a reader may stop and go on."""
    async with Client(server.mcp) as client:
        scenario = await call(client, "create_scenario", quickstart.SMALLEST)
        asked = {"scenario_id": scenario["scenario_id"], "solve_time": "PT1S", "fresh": True}
        job_id = (await call(client, "solve_vrp", asked))["job_id"]
    async with httpx2.AsyncClient(timeout=20, trust_env=False) as http:
        seen = [event async for event in job_events.follow(http, server.url, job_id)]
        rest = [event async for event in job_events.follow(http, server.url, job_id, last=seen[0][0])]
    assert rest == seen[1:]
    assert {message["jsonrpc"] for _, message in seen} == {"2.0"}
    assert all("id" not in message and message["params"]["job_id"] == job_id for _, message in seen)
    assert seen[-1][1]["method"] == "notifications/complete"
    assert seen[-1][1]["params"]["progress"] == 100


@pytest.mark.parametrize(
    ("status", "asked", "pause_s"), [(503, "7", 7.0), (429, "60", 60.0), (502, "soon", 0.5), (504, "", 0.5)]
)
async def test_the_channel_reconnects_when_it_is_asked_to(
    monkeypatch: pytest.MonkeyPatch, status: int, asked: str, pause_s: float
) -> None:
    """SPEC J7: a store, a replica or a proxy that is away for a moment ends no reader."""
    ended = b'id: 1-0\ndata: {"method": "notifications/complete", "params": {"job_id": "job-1"}}\n\n'
    answers = iter([httpx2.Response(status, headers={"retry-after": asked}), httpx2.Response(200, content=ended)])
    pauses: list[float] = []

    async def pause(delay_s: float) -> None:
        pauses.append(delay_s)

    monkeypatch.setattr("examples.job_events.asyncio.sleep", pause)
    async with httpx2.AsyncClient(transport=httpx2.MockTransport(lambda _request: next(answers))) as http:
        seen = [event async for event in job_events.follow(http, "http://planner.example", "job-1", last="0-1")]
    assert [(event_id, message["method"]) for event_id, message in seen] == [("1-0", "notifications/complete")]
    assert pauses == [0.0, pause_s]


async def test_channel_that_is_refused_for_good_says_so() -> None:
    """Our choice: a job that is not there is not asked for again."""
    transport = httpx2.MockTransport(lambda _request: httpx2.Response(404))
    async with httpx2.AsyncClient(transport=transport) as http:
        with pytest.raises(httpx2.HTTPStatusError):
            await anext(job_events.follow(http, "http://planner.example", "job-1"))


async def test_refusal_names_every_fault(server: PlannerServer) -> None:
    """SPEC T7: an example shows where the mistakes are."""
    async with Client(server.mcp) as client:
        with pytest.raises(RefusedError, match=r"(?s)create_scenario: 4\d\d\d .*/agents"):
            await call(client, "create_scenario", {"name": "x", "planning_date": "2025-07-15", "tickets": []})


async def test_page_is_self_contained(server: PlannerServer) -> None:
    """Our choice: a picture of a plan needs no network and no script, and its drawings are well-formed."""
    scenario = json.loads(beijing.DAY_FILE.read_text(encoding="utf-8"))
    async with Client(server.mcp) as client:
        created = await call(client, "create_scenario", {**scenario, "name": '<b>&"'})
        asked = {"scenario_id": created["scenario_id"], "solve_time": "PT1S"}
        job = await call(client, "solve_vrp", asked)
        status = await watch(client, job["job_id"], lambda status: None)
        plan = await read_plan(client, status["plan_id"])
    text = report_page({**scenario, "name": '<b>&"'}, Plan.from_json(plan), [(0.5, 9000.0), (1.0, 8000.0)])
    assert not any(word in text for word in ("http:", "https:", "<script", "<link", "url(", "@import", "<b>&"))
    drawings = [part.partition("</svg>")[0] + "</svg>" for part in text.split("<svg")[1:]]
    shapes = [ElementTree.fromstring(f"<svg{drawing}") for drawing in drawings]  # noqa: S314 - our own text
    assert [shape.get("class") for shape in shapes] == ["map", "convergence", "timeline"]
    assert len(shapes[0].findall(".//circle")) == plan["tickets_served"]
