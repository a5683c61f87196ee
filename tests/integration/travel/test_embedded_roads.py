"""OSRM as a child of this process, on streets whose times are computed by hand (SPEC O9)."""

import contextlib
import errno
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest

from planner_mcp.errors import RoutingProviderUnavailableError
from planner_mcp.routing.compilation.matrix_request import MatrixRequest
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from planner_mcp.settings import ROADS, Settings
from planner_mcp.travel import road_daemon
from planner_mcp.travel.matrix_builder import MatrixBuilder
from planner_mcp.travel.osrm_programs import OsrmPrograms
from planner_mcp.travel.road_daemon import DaemonState, daemon_state, road_daemon_beside
from planner_mcp.travel.road_engines import EmbeddedRoads, RoadEngines
from planner_mcp.travel.road_map_builder import build_road_map
from planner_mcp.travel.street_register_builder import is_register_of
from tests.shared.processes.process_tree import LONGEST_S
from tests.shared.roads.road_installations import osrm_or_skip
from tests.shared.roads.street_grid import (
    EAST_M,
    ISLAND,
    METRES_PER_SECOND,
    NORTH_M,
    ONE_WAY_ROW,
    crossing,
    write_grid,
)

pytestmark = pytest.mark.anyio
Position = tuple[float, float]


@pytest.fixture(scope="module")
def osrm() -> OsrmPrograms:
    return osrm_or_skip()


@pytest.fixture(scope="module")
async def roads(osrm: OsrmPrograms, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Settings]:
    """The grid, served."""
    folder = tmp_path_factory.mktemp("roads")
    settings = Settings(data_dir=folder, roads_pbf=write_grid(folder / "grid.osm"))
    async with road_daemon_beside(settings):
        await until_ready(settings)
        yield settings


async def until_ready(settings: Settings, other_than: int = 0) -> DaemonState:
    """Return the state once a daemon answers that is not the one of a process id."""
    with anyio.fail_after(LONGEST_S):
        while (state := daemon_state(settings)).phase != "ready" or state.pid == other_than:  # noqa: ASYNC110
            await anyio.sleep(0.01)
    return state


async def matrices(settings: Settings, *places: Position, total_s: float = 30.0) -> TravelMatrices:
    """Return all legs between places."""
    question = MatrixRequest(ROADS, tuple(f"p{at}" for at in range(len(places))), places)
    asking = settings.model_copy(update={"router_total_s": total_s})
    return await MatrixBuilder(RoadEngines(asking), asking).travel_matrices(question)


async def test_lengths_and_seconds_are_those_of_the_streets(roads: Settings) -> None:
    """SPEC O9: along a street a step east is 111.3 m, north 110.6 m, and 8 m take a second."""
    found = await matrices(roads, crossing(0, 0), crossing(0, 3), crossing(5, 3))
    assert found.distances is not None
    assert found.durations is not None
    east, north = 3 * EAST_M, 5 * NORTH_M
    assert found.distances.tolist() == pytest.approx(
        np.array([[0, east, east + north], [east, 0, north], [east + north, north, 0]]), abs=1.5
    )
    assert found.durations[0, 1] == pytest.approx(east / METRES_PER_SECOND, abs=0.3)
    assert found.durations[2, 1] == pytest.approx(north / METRES_PER_SECOND, abs=0.3)
    turn_s = found.durations[0, 2] - (east + north) / METRES_PER_SECOND
    assert 0 < turn_s < 8
    facts = {"source": "osrm", "router": ROADS, "profile": "car", "attribution": "© OpenStreetMap contributors"}
    assert facts.items() <= found.provenance.items()
    assert "© OpenStreetMap contributors" in found.provenance["said"]


async def test_a_one_way_street_is_driven_one_way(roads: Settings) -> None:
    """SPEC O9: back leads around the block."""
    found = await matrices(roads, crossing(ONE_WAY_ROW, 0), crossing(ONE_WAY_ROW, 1))
    assert found.distances is not None
    assert found.distances[0, 1] == pytest.approx(EAST_M, abs=1)
    assert found.distances[1, 0] == pytest.approx(EAST_M + 2 * NORTH_M, abs=1)


async def test_a_place_far_from_every_road_is_named_with_its_distance(roads: Settings) -> None:
    """SPEC T7: OSRM would move it to the nearest road of the others, 5.7 km away, without a word."""
    found = await matrices(roads, crossing(0, 0), ISLAND, crossing(1, 1))
    assert found.off_network == {"p1": "5,750 m from the nearest road of the map; at most 1,000 m are accepted"}


async def test_a_killed_daemon_comes_back_and_an_open_question_is_asked_again(roads: Settings) -> None:
    """SPEC O9: a solve waits for it."""
    before = daemon_state(roads)
    os.kill(before.pid, signal.SIGKILL)
    found = await matrices(roads, crossing(0, 0), crossing(0, 3))
    assert found.distances is not None
    assert found.distances[0, 1] == pytest.approx(3 * EAST_M, abs=1)
    assert daemon_state(roads).pid != before.pid


async def test_a_daemon_that_hangs_is_started_anew(roads: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC O9: it took connections and answered none until the planner was restarted."""
    for name, value in {"PROBE_S": 0.05, "SILENT_S": 0.2, "HEALTHY_S": 0.0, "BACKOFF_FIRST_S": 0.01}.items():
        monkeypatch.setattr(road_daemon, name, value)
    before = daemon_state(roads)
    os.kill(before.pid, signal.SIGKILL)  # the next one is asked as often as is said above
    hanging = await until_ready(roads, other_than=before.pid)
    os.kill(hanging.pid, signal.SIGSTOP)
    await until_ready(roads, other_than=hanging.pid)
    found = await matrices(roads, crossing(0, 0), crossing(0, 3))
    assert found.distances is not None
    assert found.distances[0, 1] == pytest.approx(3 * EAST_M, abs=1)


async def test_an_engine_that_cannot_be_started_now_is_started_later(
    roads: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC O9: a host that had no memory for it, or no room on its disk, has some again."""
    serve, tries = OsrmPrograms.serve, []

    async def refused_once(*given: Any) -> Any:
        tries.append(given)
        if len(tries) == 1:
            raise OSError(errno.ENOMEM, "Cannot allocate memory")
        return await serve(*given)

    monkeypatch.setattr(OsrmPrograms, "serve", refused_once)
    before = daemon_state(roads)
    os.kill(before.pid, signal.SIGKILL)
    await until_ready(roads, other_than=before.pid)
    assert len(tries) == 2


async def test_an_extract_is_built_once(roads: Settings, osrm: OsrmPrograms) -> None:
    """SPEC O9: by its content; another profile is another map."""
    lines: list[str] = []
    again = await build_road_map(roads, osrm, lines.append)
    assert (again.key, lines) == (daemon_state(roads).map_key, [])
    other = await build_road_map(roads.model_copy(update={"roads_profile": "foot"}), osrm, lines.append)
    assert other.key != again.key
    assert lines[0].startswith("roads: building")
    assert not list(other.folder.parent.glob("*.part"))


async def test_streets_for_addresses_are_read_beside_the_map(roads: Settings) -> None:
    """SPEC O4, O9: by whoever runs the daemon; the road engine does not wait for them."""
    content = daemon_state(roads).map_key.partition("-")[0]
    with anyio.fail_after(LONGEST_S):
        while not is_register_of(roads, content):  # noqa: ASYNC110 — another process writes it
            await anyio.sleep(0.01)


async def test_matrices_of_another_map_are_not_used_again(roads: Settings) -> None:
    """SPEC O9: what was kept from last year's extract is asked anew; without a daemon what is kept serves."""
    known = (await matrices(roads, crossing(0, 0), crossing(0, 1))).pack()
    older = {**known, "provenance": json.dumps({**json.loads(known["provenance"]), "map": "older"})}
    embedded = EmbeddedRoads(roads)
    assert (embedded.made(known), embedded.made(older)) == (True, False)
    elsewhere = EmbeddedRoads(roads.model_copy(update={"data_dir": roads.data_dir / "elsewhere"}))
    assert elsewhere.made(older)


@pytest.mark.slow
async def test_a_second_process_adopts_the_daemon_and_takes_it_over_from_a_killed_one(
    osrm: OsrmPrograms, tmp_path: Path
) -> None:
    """SPEC O9: one daemon on a host, whoever dies; none is left behind."""
    settings = Settings(data_dir=tmp_path, roads_pbf=write_grid(tmp_path / "grid.osm"))
    environment = {**os.environ, "PLANNER_DATA_DIR": str(tmp_path), "PLANNER_ROADS_PBF": str(settings.roads_pbf)}
    first = await anyio.open_process([sys.executable, "-c", _OTHER_PROCESS], env=environment, stdout=None, stderr=None)
    try:
        owned = await until_ready(settings)
        async with road_daemon_beside(settings):
            found = await matrices(settings, crossing(0, 0), crossing(0, 1))
            assert daemon_state(settings) == owned
            first.kill()
            await first.wait()
            taken_over = await until_ready(settings, other_than=owned.pid)
            assert not _is_alive(owned.pid)
            again = await matrices(settings, crossing(0, 0), crossing(0, 1))
            assert again.durations is not None
            assert found.durations is not None
            assert again.durations.tolist() == found.durations.tolist()
        assert not _is_alive(taken_over.pid)
        assert daemon_state(settings).phase == "absent"
    finally:
        if first.returncode is None:
            first.kill()
        await first.aclose()


_OTHER_PROCESS = """
import asyncio
from planner_mcp.settings import Settings
from planner_mcp.travel.road_daemon import road_daemon_beside
async def main():
    async with road_daemon_beside(Settings()):
        await asyncio.Event().wait()
asyncio.run(main())
"""


def _is_alive(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return "osrm-routed" in Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
    return False


async def test_a_truncated_extract_is_described_and_a_solve_reports_it(osrm: OsrmPrograms, tmp_path: Path) -> None:
    """SPEC O9: the operator reads what OSRM found wrong; whoever asks gets one retryable error without paths."""
    broken = tmp_path / "city.osm"
    whole = write_grid(tmp_path / "grid.osm").read_text(encoding="utf-8")
    broken.write_text(whole[: len(whole) // 2], encoding="utf-8")
    settings = Settings(data_dir=tmp_path, roads_pbf=broken)
    async with road_daemon_beside(settings):
        with pytest.raises(RoutingProviderUnavailableError) as caught:
            await matrices(settings, crossing(0, 0), crossing(0, 1))
        state = daemon_state(settings)
    assert "could not be built" in caught.value.message
    assert str(tmp_path) not in caught.value.message
    assert state.phase == "failed"
    assert state.detail.startswith("OSRM cannot use the extract: XML")
    assert [path.name for path in (tmp_path / "roads").iterdir() if path.is_dir()] == []


async def test_a_question_says_what_the_daemon_is_doing_when_its_time_ends(
    roads: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC O9: no silence while a map is built."""
    monkeypatch.setattr("planner_mcp.travel.road_engines.daemon_state", lambda _: DaemonState("building"))
    with pytest.raises(RoutingProviderUnavailableError, match="still building its map"):
        await matrices(roads, crossing(0, 0), crossing(0, 1), total_s=0.6)
