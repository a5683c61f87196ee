"""Large tables of travel, uploaded once and named by days (SPEC S1, T1)."""

import json
import math
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import numpy as np
import pytest

from planner_mcp.errors import InputError, TooLargeError
from planner_mcp.jobs import matrix_service
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.matrix_service import MatrixService
from planner_mcp.jobs.principals import LOCAL, READ, WRITE
from planner_mcp.jobs.store import store_keys
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.routing.compilation.matrix_request import MatrixRequest
from planner_mcp.routing.scenario.matrix_json_reader import read_matrix_blocks, read_travel_matrices
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from planner_mcp.server.http.routes import matrices_api
from planner_mcp.settings import RouterSettings, Settings
from tests.integration.server.auth.conftest import apps_services, key, served  # noqa: F401 — fixtures
from tests.integration.server.tools.conftest import ToolClient
from tests.integration.workers.conftest import WorkerHarness
from tests.shared.http.app_clients import client_of
from tests.shared.tools.fair_turns import callers_waiting
from tests.shared.tools.tool_contexts import tool_context

pytestmark = pytest.mark.anyio

RING = {
    "locations": ["D", "A", "B"],
    "distances": [[0, 10, 90], [90, 0, 10], [10, 90, 0]],
    "durations": [[0, 1, 9], [9, 0, 1], [1, 9, 0]],
}
"""A ring of one-way streets: the way round is 30, the way back 270."""


def day(matrix: str, *tickets: str) -> dict[str, Any]:
    return {
        "name": "ring",
        "planning_date": "2025-07-15",
        "agents": [{"id": "v", "capacity": 10}],
        "tickets": [{"id": name.lower(), "location": name, "demand": 1} for name in tickets or ("B", "A")],
        "depot": "D",
        "travel": {"matrix": matrix},
    }


@pytest.fixture
async def http(store: RedisStore, settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """The entry points of a server with one user, small limits."""
    small = settings.model_copy(update={"max_matrix_bytes": 4096, "max_matrix_locations": 10, "max_matrices": 2})
    async with client_of(small) as http:
        yield http


async def test_days_are_planned_on_an_uploaded_table(running_harness: WorkerHarness) -> None:
    """SPEC S1: named by a day, used by several, unknown locations told with their path; the body never in a call."""
    job_service = JobService(running_harness.store, running_harness.feed, settings=running_harness.settings)
    tools_client = ToolClient(tool_context(running_harness.store, job_service, running_harness.settings))
    name = await job_service.matrices.keep(LOCAL.id, read_travel_matrices(json.dumps(RING), max_locations=10))
    for tickets in (("A", "B"), ("B",)):
        plan = await tools_client.plan(await tools_client.solve(day(name, *tickets)))
        assert plan["distance_m"] == (30 if "A" in tickets else 100)
        assert plan["travel"] == {"source": "uploaded matrices", "given": ["distances", "durations"], "matrix": name}
    found = await tools_client.use("validate_scenario", scenario=day(name, "A", "Z"))
    assert [fault["path"] for fault in found["errors"]] == ["/travel/matrix"]
    found = await tools_client.use("validate_scenario", scenario=day(name.replace("mat-0", "mat-1")))
    assert "no matrices of this id" in found["errors"][0]["problem"]
    job = await tools_client.solve({**day(name), "agents": [{"id": "v", "capacity": 1}]})
    assert (await tools_client.use("explain_unassigned", plan=job))["total"] == 1
    assert (await tools_client.use("suggest_fixes", plan=job))["fixes"]


async def test_reachability_is_checked_by_the_table(running_harness: WorkerHarness) -> None:
    """SPEC T7: what the table makes impossible is told before anything is solved."""
    job_service = JobService(running_harness.store, running_harness.feed, settings=running_harness.settings)
    tools_client = ToolClient(tool_context(running_harness.store, job_service, running_harness.settings))
    name = await job_service.matrices.keep(LOCAL.id, read_travel_matrices(json.dumps(RING), max_locations=10))

    async def unservable(shift_end: float) -> int:
        agents = [{"id": "v", "capacity": 10, "shift_start": 0, "shift_end": shift_end}]
        found = await tools_client.use("validate_scenario", scenario={**day(name), "agents": agents})
        assert found["errors"] == []
        return sum(finding["tickets"] for finding in found.get("unservable") or ())

    assert await unservable(0.5) == 2
    assert await unservable(5) == 0  # 3 s the way round; there and straight back would be 10


async def test_an_upload_is_named_by_what_it_holds(http: httpx.AsyncClient) -> None:
    """SPEC S1: the same tables give the same id; other tables another; read back, and forgotten on demand."""
    first = await http.put("/matrices", json=RING)
    assert first.status_code == 201
    assert first.json() == {"matrix": first.json()["matrix"], "locations": 3, "given": ["distances", "durations"]}
    path = f"/matrices/{first.json()['matrix']}"
    assert (await http.put("/matrices", json=RING)).json() == first.json()
    assert (await http.put("/matrices", json={**RING, "durations": RING["distances"]})).json() != first.json()
    assert (await http.get(path)).json() == first.json()
    assert (await http.put("/matrices", json={**RING, "locations": ["1", "2", "3"]})).status_code == 429
    assert (await http.delete(path)).status_code == 204
    assert (await http.get(path)).status_code == 404
    assert (await http.put("/matrices", json={**RING, "locations": ["1", "2", "3"]})).status_code == 201
    for gone in ("/matrices/mat-0-x", "/matrices/scn-0-" + 26 * "a", "/matrices/mat-9-" + 26 * "a"):
        assert (await http.get(gone)).status_code == 404
    assert (await http.post("/matrices", json=RING)).status_code == 405


@pytest.mark.parametrize(("block", "is_whole"), [(1 << 20, True), (20, False)], ids=["one block", "several"])
async def test_a_table_of_one_block_is_stored_as_earlier_versions_read_it(
    store: RedisStore, settings: Settings, monkeypatch: pytest.MonkeyPatch, block: int, is_whole: bool
) -> None:
    """SPEC O7: workers of 0.1 and 0.2.0 solve days with its matrices while an upgrade lasts, and after a rollback."""
    monkeypatch.setattr(matrix_service, "BLOCK_CHARS", block)
    matrices = MatrixService(store, settings)
    given = read_travel_matrices(json.dumps(RING), max_locations=10)
    name = await matrices.keep(LOCAL.id, given)
    kept = await store.script_client.fetch("HGETALL", store_keys.key(0, "mat", name))
    tables = {table: given.pack()[table] for table in ("distances", "durations")}
    assert ({table: kept[table] for table in tables} == tables) == is_whole
    found = (await matrices.packed(LOCAL.id, name)).items()
    assert tables.items() <= found and not any(":" in field for field, _text in found)


async def test_a_body_too_large_is_refused(http: httpx.AsyncClient) -> None:
    """SPEC X3: by its bytes and by its locations; other entry points keep their own limit."""
    wide = {"locations": [str(n) for n in range(11)], "distances": [[0] * 11] * 11}
    assert (await http.put("/matrices", json=wide)).status_code == 413
    huge = await http.put("/matrices", content=b"[" * 5000)
    assert huge.status_code == 413
    assert huge.json()["code"] == 4013


@pytest.mark.parametrize(
    ("change", "paths"),
    [
        ({"locations": None}, {""}),
        ({"locations": []}, {"/locations"}),
        ({"locations": ["D", "A", "A"]}, {"/locations/2"}),
        ({"locations": ["D", 7, "\ud800"]}, {"/locations/1", "/locations/2"}),
        ({"distances": [[0, 1], [1, 0]]}, {"/distances"}),
        (
            {"distances": [[0, 10, None], [-1, 0, 1], [0, True, 0]]},
            {"/distances/0/2", "/distances/1/0", "/distances/2/1"},
        ),
        ({"durations": [[0, 1, 2], [1, 0], [1, 2, 1e12]]}, {"/durations", "/durations/2/2"}),
        ({"durations": [[0, 1, math.nan], [1, 0, 1], [-math.inf, 2, 0]]}, {"/durations/0/2", "/durations/2/0"}),
        ({"durations": [[0, 1, 2], "row", [1, 2, 0]]}, {"/durations", "/durations/1"}),
        ({"travel_times_s": [[1]], "a/b": [1]}, {"/travel_times_s", "/a~1b"}),
        ({"speed": 1}, {""}),
    ],
)
async def test_every_fault_of_an_upload_has_its_place(
    http: httpx.AsyncClient, change: dict[str, Any], paths: set[str]
) -> None:
    """SPEC T7, ADR 51: all at once, each with its path; what contradicts itself is 422, what is no matrix 400."""
    answer = await http.put("/matrices", content=json.dumps({**RING, **change}))
    contradictions = ({"/locations/2"}, {"/distances"})
    assert answer.status_code == (422 if paths in contradictions else 400)
    assert {fault["path"] for fault in answer.json()["errors"]} == paths


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"locations": ["a"], "distances": [[0]]} x',
        '{"distances": ' + "[" * 3000,
        "\xff",
    ],
)
async def test_what_is_no_such_text_is_refused(http: httpx.AsyncClient, text: str) -> None:
    """SPEC T7, T8: one fault, no traceback."""
    answer = await http.put("/matrices", content=text.encode("latin-1"))
    assert answer.status_code == 400
    assert [fault["path"] for fault in answer.json()["errors"]] == [""]


@pytest.mark.parametrize("size", [1, 1000])
def test_a_mark_before_the_text_is_passed_over(size: int) -> None:
    """SPEC T5: editors on Windows write it before UTF-8."""
    text = json.dumps(RING).encode("utf-8-sig")
    read = read_matrix_blocks((text[at : at + size] for at in range(0, len(text), size)), max_locations=3)
    assert read.pack() == read_travel_matrices(json.dumps(RING), max_locations=3).pack()


def test_a_text_that_was_cut_off_is_refused_with_the_byte_at_which_it_ends() -> None:
    """SPEC T7: nobody reads a file of 60 MB to its end; what was let go by then counts too."""
    rows = ", ".join(["[0, 1, 2]"] * 3)
    text = f'{{"locations": ["北", "A", "B"], "distances": [{rows}], "durations": [[0, 1'.encode()
    for size in (1, 7, 1000):
        with pytest.raises(InputError) as caught:
            read_matrix_blocks((text[at : at + size] for at in range(0, len(text), size)), max_locations=3)
        assert caught.value.message == f"The text is not JSON of this form from byte {text.rindex(b'[') + 1} on."


async def test_nobody_reaches_the_tables_of_another(served: Any, key: Any) -> None:  # noqa: F811
    """SPEC A2: another's is not found, neither by its URL nor by naming it in a day; scopes are asked for."""
    async with served() as http:
        ann, bob, reader = [{"authorization": await key(*who)} for who in (("ann",), ("bob",), ("ann", READ))]
        assert (await http.put("/matrices", json=RING)).status_code == 401
        refused = await http.put("/matrices", json=RING, headers=reader)
        assert refused.status_code == 403
        assert WRITE in refused.headers["www-authenticate"]
        name = (await http.put("/matrices", json=RING, headers=ann)).json()["matrix"]
        assert (await http.get(f"/matrices/{name}", headers=reader)).status_code == 200
        for method in ("GET", "DELETE"):
            foreign = await http.request(method, f"/matrices/{name}", headers=bob)
            unknown = await http.request(method, f"/matrices/mat-0-{26 * 'a'}", headers=bob)
            assert (foreign.status_code, foreign.json()["code"]) == (unknown.status_code, unknown.json()["code"])
            assert foreign.status_code == 404
        assert (await http.put("/matrices", json=RING, headers=bob)).json()["matrix"] != name
        faults = await _create(http, ann, name), await _create(http, bob, name), await _create(http, bob, "mat-0-x")
        assert faults == ([], ["/travel/matrix"], ["/travel/matrix"])


async def test_many_uploads_of_one_do_not_hold_up_another(served: Any, key: Any) -> None:  # noqa: F811
    """SPEC J8: callers take turns where tables are read."""
    async with served() as http:
        who = {name: {"authorization": await key(name)} for name in ("ann", "bob")}

        async def put(name: str) -> None:
            while (answer := await http.put("/matrices", json=RING, headers=who[name])).status_code == 503:
                assert answer.headers["retry-after"]  # the store was slow on a busy machine: a client asks again
            assert answer.status_code == 201

        assert await callers_waiting(matrices_api._limiter, lambda: put("ann"), lambda: put("bob")) == (2, 1)


async def _create(http: httpx.AsyncClient, who: dict[str, str], name: str) -> list[str]:
    from tests.shared.http.mcp_caller import Caller

    answer = (await Caller(http, who["authorization"]).call("create_scenario", **day(name))).json()["result"]
    return [fault["path"] for fault in answer["structuredContent"].get("errors", [])]


async def test_a_table_that_expired_fails_the_job_with_a_code(running_harness: WorkerHarness) -> None:
    """SPEC J9, T8: tables have a life; a day that outlives them says so."""
    job_service = JobService(running_harness.store, running_harness.feed, settings=running_harness.settings)
    tools_client = ToolClient(tool_context(running_harness.store, job_service, running_harness.settings))
    name = await job_service.matrices.keep(LOCAL.id, read_travel_matrices(json.dumps(RING), max_locations=10))
    scenario = await tools_client.use("create_scenario", **day(name))
    await job_service.matrices.drop(LOCAL.id, name)
    job = await tools_client.use("solve_vrp", scenario_id=scenario["scenario_id"], solve_time="PT1S")
    async for _ in job_service.follow(LOCAL, job["job_id"]):
        pass
    failed = await job_service.job(LOCAL, job["job_id"])
    assert failed.error is not None
    assert failed.error.code == 4044
    assert failed.error.message == "The uploaded matrix of this day is gone: upload it again."


def test_a_table_of_a_thousand_places_is_read_without_holding_the_interpreter() -> None:
    """SPEC T1: other threads run while millions of numbers are decoded."""
    import threading
    import time

    size = 1000
    row = "[" + ",".join(f"{n}.5" for n in range(size)) + "]"
    names = json.dumps([str(n) for n in range(size)])
    text = f'{{"locations": {names}, "distances": [{",".join([row] * size)}]}}'
    gaps, done = [], threading.Event()

    def tick() -> None:
        last = time.monotonic()
        while not done.is_set():
            time.sleep(0.002)
            now = time.monotonic()
            gaps.append(now - last)
            last = now

    ticking = threading.Thread(target=tick)
    ticking.start()
    began = time.monotonic()
    travel_matrices = read_travel_matrices(text, max_locations=size)
    took = time.monotonic() - began
    done.set()
    ticking.join()
    assert travel_matrices.distances is not None
    assert travel_matrices.distances.shape == (size, size)
    assert len(gaps) > took / 0.1, f"{len(gaps)} ticks in {took:.2f} s, the longest gap {max(gaps):.3f} s"


def test_files_are_read_by_the_same_rules(tmp_path: Path) -> None:
    """SPEC T5: the command line takes the tables from a file beside the day's."""
    from planner_mcp.cli.commands.scenario_commands import matrices_beside

    (tmp_path / "roads.json").write_text(json.dumps(RING))
    found = matrices_beside(tmp_path / "day.json", day("roads.json"), Settings(data_dir=tmp_path))
    assert found is not None
    assert found.locations == ("D", "A", "B")
    with pytest.raises(InputError) as caught:
        matrices_beside(tmp_path / "day.json", day("none.json"), Settings(data_dir=tmp_path))
    assert caught.value.errors[0].path == "/travel/matrix"
    with pytest.raises(TooLargeError):
        matrices_beside(tmp_path / "day.json", day("roads.json"), Settings(data_dir=tmp_path, max_matrix_locations=2))


async def test_an_engine_that_is_set_up_otherwise_is_asked_again(store: RedisStore, settings: Settings) -> None:
    """SPEC O9: the times of cars are not those of lorries; where the engine lives does not matter."""

    def matrices(**changed: str) -> MatrixService:
        engine = RouterSettings(**{"kind": "osrm", "url": "http://osrm:5000", **changed})
        return MatrixService(store, settings.model_copy(update={"routers": {"car": engine}}))

    asked = MatrixRequest("car", ("A", "B"), ((52.5, 13.4), (52.6, 13.4)))
    await matrices().keep_routed(LOCAL.id, asked, TravelMatrices(asked.ids, np.ones((2, 2)), np.ones((2, 2))))
    assert await matrices(url="http://other:5000").find_routed(LOCAL.id, asked) is not None
    for changed in ({"kind": "valhalla"}, {"profile": "truck"}, {"version": "6"}, {"data_date": "2026-01-01"}):
        assert await matrices(**changed).find_routed(LOCAL.id, asked) is None


async def test_looking_at_tables_does_not_fetch_them(store: RedisStore, settings: Settings) -> None:
    """SPEC S1: what is told of them is small, however large they are."""
    size = 300
    numbers = np.random.default_rng(1).uniform(0, 1e6, (size, size))
    travel_matrices = TravelMatrices(tuple(f"n{row}" for row in range(size)), durations=numbers)
    name = await MatrixService(store, settings).keep(LOCAL.id, travel_matrices)
    async with client_of(settings) as http:
        before = (await store.redis.info("stats"))["total_net_output_bytes"]
        seen = (await http.get(f"/matrices/{name}")).json()
        sent_bytes = (await store.redis.info("stats"))["total_net_output_bytes"] - before
    assert seen == {"matrix": name, "locations": size, "given": ["durations"]}
    assert sent_bytes < len(travel_matrices.pack()["durations"]) / 10
