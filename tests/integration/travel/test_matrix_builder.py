"""The table of a day, asked of real HTTP servers that speak as the engines do (SPEC S1)."""

from typing import Any

import pytest

from planner_mcp.errors import InvalidScenarioError, PlannerError, RoutingProviderUnavailableError, TooLargeError
from planner_mcp.routing.compilation.matrix_request import MatrixRequest, matrix_request_of
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from planner_mcp.settings import Settings
from planner_mcp.travel.matrix_builder import MatrixBuilder
from planner_mcp.travel.road_engines import RoadEngines
from tests.integration.travel.conftest import routers
from tests.integration.travel.fake_routing_servers import SECONDS_PER_METRE, RoadEngine, metres
from tests.shared.processes.stopwatch import Stopwatch
from tests.shared.scenarios.street_scenario import CORNERS, day

pytestmark = pytest.mark.anyio


def question(router: str = "car") -> MatrixRequest:
    asked = matrix_request_of(parse_scenario(day(router)))
    assert asked is not None
    return asked


def matrix_builder(
    engine: RoadEngine, *, request_s: float = 5.0, total_s: float = 10.0, **further: Any
) -> MatrixBuilder:
    return builder_of(routers(engine, **further), router_request_s=request_s, router_total_s=total_s)


def builder_of(known: dict[str, Any], **limits: float) -> MatrixBuilder:
    settings = Settings(routers=known, max_matrix_locations=100, **limits)
    return MatrixBuilder(RoadEngines(settings), settings)


def assert_true(travel_matrices: TravelMatrices) -> None:
    """Each number is that of the streets, whichever way the table was cut and told."""
    assert travel_matrices.distances is not None
    assert travel_matrices.durations is not None
    for i, origin in enumerate(travel_matrices.locations):
        for j, target in enumerate(travel_matrices.locations):
            leg = metres(CORNERS[origin], CORNERS[target])
            assert travel_matrices.distances[i, j] == pytest.approx(leg)
            assert travel_matrices.durations[i, j] == pytest.approx(leg * SECONDS_PER_METRE)


@pytest.mark.parametrize("router", ["car", "lorry"])
@pytest.mark.parametrize("block", [1, 2, 5, 50])
async def test_a_table_is_whole_however_it_was_cut(engine: RoadEngine, router: str, block: int) -> None:
    """SPEC S1: large tables are asked for in blocks, none larger than the engine allows."""
    assert_true(await matrix_builder(engine, block=block).travel_matrices(question(router)))
    assert max(max(asked) for asked in engine.asked) <= block
    assert len(engine.asked) == (-(-len(CORNERS) // block)) ** 2


async def test_both_forms_of_valhalla_are_read(engine: RoadEngine) -> None:
    """SPEC S1: servers that do not honour `verbose: false` answer with objects."""
    engine.is_terse = False
    assert_true(await matrix_builder(engine).travel_matrices(question("lorry")))


@pytest.mark.parametrize(
    ("router", "facts"),
    [
        ("car", {"source": "osrm", "profile": "driving", "version": "5.27.1", "data_date": "2025-07-01"}),
        ("lorry", {"source": "valhalla", "profile": "truck", "version": "3.5.1", "data_date": "2025-07-01"}),
    ],
)
async def test_the_answer_says_where_it_came_from(engine: RoadEngine, router: str, facts: dict[str, str]) -> None:
    """SPEC S1: engine, profile, version and date of the map; the address of the engine is nobody's business."""
    found = (await matrix_builder(engine).travel_matrices(question(router))).provenance
    assert {name: found[name] for name in facts} == facts
    assert found["router"] == router
    assert "127.0.0.1" not in str(found)


@pytest.mark.parametrize("router", ["car", "lorry"])
async def test_a_place_without_roads_is_named(engine: RoadEngine, router: str) -> None:
    """SPEC T7: a hole in the table is laid on the place that lies apart, not on every other; the rest is whole."""
    engine.islands = {CORNERS["B"]}
    found = await matrix_builder(engine, block=2).travel_matrices(question(router))
    assert found.off_network == {"B": "without a road to or from 4 of the 4 others"}
    assert found.distances is not None
    assert found.distances.max() < 10_000
    a, e = found.locations.index("A"), found.locations.index("E")
    assert found.distances[a, e] == pytest.approx(metres(CORNERS["A"], CORNERS["E"]))


async def test_of_two_places_without_a_way_between_them_the_depot_stays(engine: RoadEngine) -> None:
    """SPEC O9: the ticket is left out, and not the day refused, where holes do not tell which lies apart."""
    engine.islands = {CORNERS["A"]}
    alone = parse_scenario(day(tickets=[{"id": "a", "location": "A", "demand": 1}]))
    asked = matrix_request_of(alone)
    assert asked is not None
    assert set((await matrix_builder(engine).travel_matrices(asked)).off_network) == {"A"}


@pytest.mark.parametrize("router", ["car", "lorry"])
async def test_places_far_from_every_road_are_named(engine: RoadEngine, router: str) -> None:
    """SPEC T7: an engine moves a place to the nearest road, however far; the distance is bounded by a setting."""
    engine.snap_m = 2500.0
    asked = question(router)
    builder = builder_of(routers(engine), router_snap_m=1000)
    why = "2,500 m from the nearest road of the map; at most 1,000 m are accepted"
    assert (await builder.travel_matrices(asked)).off_network == dict.fromkeys(asked.ids, why)
    engine.snap_m = 999.0
    assert_true(await builder.travel_matrices(asked))


async def test_a_place_on_another_continent_costs_no_other_place_its_roads(engine: RoadEngine) -> None:
    """SPEC T7: Valhalla refuses a whole table for it."""
    engine.far = {CORNERS["B"]}
    builder = builder_of({"lorry": routers(engine)["lorry"] | {"block": 2}}, router_snap_m=1000)
    found = await builder.travel_matrices(question("lorry"))
    assert found.off_network == {"B": "no road of the map is near; at most 1,000 m are accepted"}
    assert found.distances is not None
    a, e = found.locations.index("A"), found.locations.index("E")
    assert found.distances[a, e] == pytest.approx(metres(CORNERS["A"], CORNERS["E"]))


@pytest.mark.parametrize("router", ["car", "lorry"])
@pytest.mark.parametrize("mood", ["refuses", "garbage", "short", "redirects"])
async def test_an_engine_that_makes_no_sense_is_not_believed(engine: RoadEngine, router: str, mood: str) -> None:
    """SPEC T8: one retryable error, and nothing of what the engine said; no redirect is followed."""
    engine.mood = mood
    with pytest.raises(RoutingProviderUnavailableError) as caught:
        await matrix_builder(engine).travel_matrices(question(router))
    message = str(caught.value.as_json("t"))
    assert "secret" not in message
    assert "127.0.0.1" not in message
    assert caught.value.retryable


async def test_an_engine_that_is_away_is_reported_in_time(engine: RoadEngine) -> None:
    """SPEC S1: nobody listens, or nobody answers: a clear error within the time set for it."""
    gone = {"car": {"kind": "osrm", "url": "http://127.0.0.1:9"}}
    with pytest.raises(RoutingProviderUnavailableError):
        await builder_of(gone, router_request_s=1, router_total_s=2).travel_matrices(question())
    engine.mood = "hangs"
    for limits in ({"request_s": 0.2, "total_s": 10.0}, {"request_s": 10.0, "total_s": 0.4}):
        watch = Stopwatch()
        with pytest.raises(RoutingProviderUnavailableError):
            await matrix_builder(engine, **limits).travel_matrices(question())
        assert watch.spent_s < 3


async def test_unknown_engines_and_too_many_places_are_refused(engine: RoadEngine) -> None:
    """SPEC T7: a client names an engine; it cannot make one up."""
    with pytest.raises(InvalidScenarioError) as caught:
        await matrix_builder(engine).travel_matrices(question("http://169.254.169.254"))
    assert caught.value.errors[0].path == "/travel/router"
    many = MatrixRequest("car", tuple(map(str, range(101))), ((0.0, 0.0),) * 101)
    with pytest.raises(TooLargeError):
        await matrix_builder(engine).travel_matrices(many)
    assert engine.asked == []


async def test_an_engine_that_fails_once_is_asked_again(engine: RoadEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our choice: engines are restarted; one lost connection costs nobody a day."""
    from planner_mcp.travel.osrm_provider import Osrm

    asked = Osrm.block
    failures = iter([PlannerError, None])

    async def flaky(self: Osrm, *args: Any) -> Any:
        if next(failures, None):
            raise RoutingProviderUnavailableError
        return await asked(self, *args)

    monkeypatch.setattr(Osrm, "block", flaky)
    assert_true(await matrix_builder(engine).travel_matrices(question()))


@pytest.mark.parametrize("status", [404, 0])
async def test_a_table_stands_though_its_engine_does_not_say_what_it_is(engine: RoadEngine, status: int) -> None:
    """SPEC S1: behind a gateway without `/status` the whole table comes; of the engine settings say what is known."""
    engine.status = status
    found = await matrix_builder(engine, request_s=0.5, version="3.4.0").travel_matrices(question("lorry"))
    assert_true(found)
    assert found.provenance["version"] == "3.4.0"
    assert "data_date" not in found.provenance
