"""Days that come with addresses: what becomes of them before they are stored, and what the plan says of it."""

from dataclasses import replace
from typing import Any

import pytest

from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import LOCAL
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.feasibility.unassigned_reasons import with_reasons
from planner_mcp.routing.problem import Candidate
from planner_mcp.routing.scenario.coordinates import haversine_m
from planner_mcp.routing.scenario.scenario_parsing import read_stored
from planner_mcp.server.tools.tool_definition import AskUser, ErrorResult, ToolContext, ToolResult
from planner_mcp.server.tools.tool_registry import ADDRESS_REGISTRY, REGISTRY, dispatch
from planner_mcp.settings import Settings
from tests.shared.scenarios.stored_plans import finish
from tests.shared.tools.tool_contexts import tool_context

pytestmark = pytest.mark.anyio
TOOLS = {tool.name: tool for tool in (*REGISTRY, *ADDRESS_REGISTRY)}
BEIJING = ["北京市朝阳区建国路88号", "北京市海淀区学院路37号", "北京市丰台区南三环西路16号"]
BERLIN = [
    "Torstraße 125, 10119 Berlin",
    "Alexanderplatz 1, Berlin",
    "Sonnenallee 100, 12045 Berlin",
    "Zeughof 2, 10997 Berlin",
]


class _Planner:
    """Tools of the planner and of the address server for one principal, on a real store."""

    def __init__(self, context: ToolContext, store: RedisStore) -> None:
        self._context = context
        self._store = store

    def asking(self, person: AskUser) -> "_Planner":
        """Return the same for a client whose person can be asked."""
        return _Planner(replace(self._context, ask_user=person), self._store)

    async def solved(self, scenario_id: str, *routes: list[str]) -> str:
        job_id = (await self.call("solve_vrp", scenario_id=scenario_id)).structured["job_id"]
        await finish(self._store, *routes)
        return str(job_id)

    async def call(self, name: str, /, **arguments: Any) -> ToolResult | ErrorResult:
        return await dispatch(TOOLS[name], self._context, arguments)

    async def create(self, tickets: list[dict[str, Any]], **further: Any) -> ToolResult | ErrorResult:
        agents = [{"id": "van", "capacity": 100}]
        return await self.call(
            "create_scenario",
            **{"name": "day", "planning_date": "2025-07-15", "agents": agents, "tickets": tickets, **further},
        )

    async def stored(self, result: ToolResult | ErrorResult) -> dict[str, Any]:
        assert not result.is_error, result.structured
        scenario = await self._context.job_service.scenario(LOCAL, result.structured["scenario_id"])
        return dict(scenario.body)


@pytest.fixture
def planner(store: RedisStore, feed: EventFeed, settings: Settings) -> _Planner:
    return _Planner(tool_context(store, JobService(store, feed, settings=settings), settings), store)


def tickets_at(addresses: list[str], *, has_location: bool = True) -> list[dict[str, Any]]:
    """Return a ticket for each address."""
    return [
        {"id": f"t{at}", "demand": 1, "address": text, **({"location": f"shop {at}"} if has_location else {})}
        for at, text in enumerate(addresses)
    ]


@pytest.mark.parametrize("has_location", [True, False])
async def test_tickets_with_addresses_get_positions_and_the_plan_says_whence(
    planner: _Planner, *, has_location: bool
) -> None:
    """SPEC O4, T1: each location has its position, how exact it is and who said so; plans repeat it."""
    created = await planner.create(tickets_at(BEIJING, has_location=has_location))
    body = await planner.stored(created)
    points = {(place["lat"], place["lon"]) for place in body["locations"]}
    assert len(points) == len(body["locations"]) == 3
    assert all(haversine_m(point, (39.95, 116.38)) < 25_000 for point in points)
    assert {place["resolved"]["source"] for place in body["locations"]} == {"offline"}
    assert {place["resolved"]["accuracy"] for place in body["locations"]} == {"district"}
    provenance = next(
        each for each in created.structured["assumptions"] if each.startswith("Positions from addresses: 3 (offline)")
    )
    assert provenance in compile_scenario(read_stored(body)).assumptions


async def test_depot_and_locations_with_addresses_get_positions_too(planner: _Planner) -> None:
    """SPEC O4: an address stands for a position wherever a place is named."""
    places = [{"id": "hub", "address": "北京市大兴区黄村镇"}, {"id": "far", "lat": 39.9, "lon": 116.4}]
    body = await planner.stored(await planner.create(tickets_at(BEIJING[:1]), locations=places, depot="hub"))
    assert {place["id"]: "resolved" in place for place in body["locations"]} == {
        "hub": True,
        "far": False,
        "shop 0": True,
    }


async def test_a_location_named_by_its_address_is_looked_up(planner: _Planner) -> None:
    """SPEC O4: an agent that writes the address where the name belongs is understood."""
    tickets = [{"id": f"t{at}", "location": text, "demand": 1} for at, text in enumerate(BEIJING)]
    body = await planner.stored(await planner.create(tickets))
    assert [place["id"] for place in body["locations"]] == BEIJING


async def test_an_open_address_that_an_agent_starts_at_is_reported_as_one_beside_positions(planner: _Planner) -> None:
    """SPEC T7: it was called an unknown id, with the hint to give the address that is there."""
    agents = [{"id": "van", "capacity": 9, "start_location": OPEN_STREET}]
    places = [{"id": "far", "lat": 39.9, "lon": 116.4}]
    refused = await planner.create(tickets_at(BEIJING[:1]), locations=places, agents=agents)
    (fault,) = refused.structured["errors"]
    assert (fault["path"], "Springfield" in fault["accepted"]) == ("/agents/0/start_location", True)


async def test_positions_are_written_in_the_coordinate_system_of_the_day(planner: _Planner) -> None:
    """SPEC O4: a day in GCJ-02 gets GCJ-02, some hundred metres from WGS-84."""
    wgs = await planner.stored(await planner.create(tickets_at(BEIJING)))
    gcj = await planner.stored(await planner.create(tickets_at(BEIJING), travel={"crs": "gcj02"}))
    for one, other in zip(wgs["locations"], gcj["locations"], strict=True):
        assert 100 < haversine_m((one["lat"], one["lon"]), (other["lat"], other["lon"])) < 1_000


OPEN_STREET = "12 Main Street, Springfield"
MIXED = [BEIJING[0], "鼓楼区中山路1号", "啊啊啊", OPEN_STREET]


@pytest.mark.parametrize("has_location", [True, False])
async def test_open_addresses_beside_known_ones_leave_their_tickets_out_and_keep_the_day(
    planner: _Planner, *, has_location: bool
) -> None:
    """SPEC T1, T7: the finding names each ticket, what its address may mean, and what to do; nothing is guessed."""
    created = await planner.create(tickets_at(MIXED, has_location=has_location))
    body = await planner.stored(created)
    (finding,) = created.structured["unservable"]
    assert (finding["code"], finding["tickets"], finding["path"]) == ("NO_POSITION", 3, "/tickets/1/address")
    reported = [each.partition(" (")[::2] for each in finding["which"]]
    assert [name for name, _ in reported] == ["t1", "t2", "t3"]
    assert "ambiguous: " in reported[0][1]
    assert "鼓楼区" in reported[0][1]
    assert reported[1][1] == "not found)"
    assert "lat and lon" in finding["fix"]
    assert ["lat" in place for place in body["locations"]] == [True, False, False, False]
    problem = compile_scenario(read_stored(body))
    plan = with_reasons(problem, build_plan(problem, Candidate.of_tickets({0: [0]})))
    assert {each.ticket_id: each.code for each in plan.unassigned} == dict.fromkeys(["t1", "t2", "t3"], "NO_POSITION")
    assert "Its address is ambiguous, so its place has no position." in plan.unassigned[0].detail


async def test_a_strict_day_is_refused_for_an_open_address(planner: _Planner) -> None:
    """SPEC T1: strict refuses what else would be left out."""
    refused = await planner.create(tickets_at(MIXED), strict=True)
    errors = refused.structured["errors"]
    assert [(each["path"], each["reason"]) for each in errors] == [
        (f"/tickets/{at}/address", "NO_POSITION") for at in (1, 2, 3)
    ]
    assert [each["which"][0].split(" (")[0] for each in errors] == ["t1", "t2", "t3"]


@pytest.mark.parametrize(
    "further",
    [
        {"depot": "hub"},
        {"agents": [{"id": "van", "capacity": 9, "reload_locations": ["hub"]}]},
        {"agents": [{"id": "van", "capacity": 9, "end_location": "hub"}]},
    ],
)
async def test_an_open_address_of_a_depot_refuses_the_day_with_its_candidates(
    planner: _Planner, further: dict[str, Any]
) -> None:
    """SPEC T7: no route can start, end or reload where nobody knows."""
    places = [{"id": "hub", "address": OPEN}]
    refused = await planner.create(tickets_at(BEIJING), locations=places, **further)
    (fault,) = refused.structured["errors"]
    assert fault["path"] == "/locations/0/address"
    assert "鼓楼区" in fault["accepted"]
    assert "confirm_address" in fault["hint"]


async def test_a_day_of_open_addresses_alone_is_refused(planner: _Planner) -> None:
    """SPEC T7: a depot is known, and nothing to do."""
    places = [{"id": "hub", "lat": 39.9, "lon": 116.4}]
    refused = await planner.create(tickets_at([OPEN, "啊啊啊"]), locations=places, depot="hub")
    assert [fault["path"] for fault in refused.structured["errors"]] == ["/tickets/0/address", "/tickets/1/address"]


@pytest.mark.parametrize(
    "patch",
    [
        {"tickets": {"t1": {"address": "南京市鼓楼区中山路1号"}}},
        {"locations": {"shop 1": {"lat": 32.06, "lon": 118.77}}},
    ],
)
async def test_an_open_address_is_settled_by_a_revision(planner: _Planner, patch: dict[str, Any]) -> None:
    """SPEC T5, O4: by a fuller address, or a position; the mark goes."""
    created = await planner.create(tickets_at([NANJING[0], OPEN]))
    scenario_id = created.structured["scenario_id"]
    revised = await planner.call("revise_scenario", scenario_id=scenario_id, patch=patch)
    place = (await planner.stored(revised))["locations"][1]
    assert haversine_m((place["lat"], place["lon"]), (32.06, 118.77)) < 15_000
    assert "open_address" not in place
    assert "unservable" not in revised.structured or not revised.structured["unservable"]


async def test_a_ticket_whose_address_changes_moves(planner: _Planner) -> None:
    """SPEC T5, O4: the position of the old address does not stay, nor the word that a given one was looked up."""
    scenario_id = (await planner.create(tickets_at(NANJING))).structured["scenario_id"]
    patch: dict[str, Any] = {"tickets": {"t0": {"address": BEIJING[0]}}, "locations": {"shop 1": {"lat": 32.1}}}
    moved, pinned, same = (
        await planner.stored(await planner.call("revise_scenario", scenario_id=scenario_id, patch=patch))
    )["locations"]
    assert haversine_m((moved["lat"], moved["lon"]), (39.92, 116.44)) < 25_000
    assert "resolved" not in pinned
    assert "resolved" in same


async def test_a_ticket_whose_address_changes_leaves_the_others_of_its_place(planner: _Planner) -> None:
    """SPEC T5, O4: two orders of one shop, and one goes elsewhere."""
    two = [{**each, "location": "shop"} for each in tickets_at([NANJING[0], NANJING[0]])]
    scenario_id = (await planner.create(two)).structured["scenario_id"]
    patch = {"tickets": {"t1": {"address": BEIJING[0]}}}
    body = await planner.stored(await planner.call("revise_scenario", scenario_id=scenario_id, patch=patch))
    assert [each["location"] for each in body["tickets"]] == ["shop", "at t1"]
    assert len(body["locations"]) == 2


async def test_what_a_user_confirmed_at_the_address_server_is_used_by_the_planner(planner: _Planner) -> None:
    """SPEC O4: an open address is asked about once."""
    day = tickets_at([BEIJING[0], "鼓楼区中山路1号"])
    assert (await planner.create(day)).structured["unservable"]
    await planner.call("confirm_address", address="鼓楼区中山路1号", lat=32.06, lon=118.77)
    body = await planner.stored(await planner.create(day))
    assert [place["resolved"]["source"] for place in body["locations"]] == ["offline", "confirmed"]


async def test_addresses_that_are_one_point_offline_say_first_that_travel_is_not_known(planner: _Planner) -> None:
    """SPEC O4: four addresses in Berlin are no tour of 0 m; the first sentence says so, in text and data."""
    created = await planner.create(tickets_at(BERLIN[:3]))
    body = await planner.stored(created)
    assert "locations" not in body
    assert created.text.startswith(
        "Travel is not known: all 3 addresses are known only as one point, the centre of Berlin"
    )
    assert created.structured["assumptions"][0].startswith("Travel is not known")


async def test_a_depot_with_an_address_in_the_town_of_all_tickets_is_no_fault(planner: _Planner) -> None:
    """SPEC O4: the places of tickets were unknown beside a listed depot that kept no position."""
    depot = {"id": "Depot", "address": "Müllerstr. 1, 13353 Berlin"}
    tickets = tickets_at(["Alexanderplatz 1, 10178 Berlin", "Sonnenallee 5, 12045 Berlin"])
    created = await planner.create(tickets, depot="Depot", locations=[depot])
    assert created.text.startswith("Travel is not known: all 3 addresses are known only as one point")
    assert [place["id"] for place in (await planner.stored(created))["locations"]] == ["Depot", "shop 0", "shop 1"]


async def test_two_addresses_with_one_centre_among_others_are_named(planner: _Planner) -> None:
    """SPEC O4: between t0 and t3 no travel is counted, and the first sentence names them."""
    created = await planner.create(tickets_at([*BEIJING, "北京市朝阳区望京街9号"]))
    assert created.text.startswith(
        "Travel is not known between addresses that lie in one town, district or city: t0, t3"
    )


async def test_a_day_without_positions_says_so_first(planner: _Planner) -> None:
    """SPEC O4, T1: the smallest call is complete, and its first sentence says that travel is not known."""
    created = await planner.create([{"id": "t-1", "location": "LOC_A", "demand": 20}])
    assert created.text.startswith("Travel is not known")
    assert created.structured["assumptions"][0].startswith("Travel is not known")


async def test_unresolved_addresses_of_a_day_without_positions_are_findings(planner: _Planner) -> None:
    """SPEC O4: the day is kept, each open address is told with its ticket."""
    created = await planner.create(tickets_at(["鼓楼区中山路1号", "nowhere"]))
    assert created.text.startswith("Travel is not known: 2 of the addresses could not be resolved.")
    assert [each.partition(":")[0] for each in created.structured["assumptions"][1:3]] == [
        "/tickets/0/address",
        "/tickets/1/address",
    ]


@pytest.mark.parametrize(
    "further",
    [
        {"locations": [{"id": f"shop {at}", "lat": 39.9, "lon": 116.3 + at / 10} for at in range(3)]},
        {"locations": [{"id": f"shop {at}", "x": at, "y": 0} for at in range(3)]},
        {
            "locations": [{"id": f"shop {at}"} for at in range(3)],
            "travel": {"distances": [[0, 1, 1], [1, 0, 1], [1, 1, 0]]},
        },
    ],
)
async def test_what_the_caller_knows_is_never_looked_up(planner: _Planner, further: dict[str, Any]) -> None:
    """SPEC T1: positions and matrices of the caller stand; an address beside them is for people."""
    body = await planner.stored(await planner.create(tickets_at(BEIJING), **further))
    assert body["locations"] == further["locations"]


@pytest.mark.parametrize(
    "broken",
    [
        {"tickets": {"a": {"address": BEIJING[0]}}},
        {"tickets": [None, 1, "x", {"address": BEIJING[0]}, {"id": 1, "address": 2}]},
        {"locations": [{"id": ["a"], "address": BEIJING[0]}, {"id": "b", "address": {"x": 1}}]},
        {"locations": [{"id": ["a"]}, {"id": "b", "address": BEIJING[0]}]},
        {"tickets": [{"id": ["a"]}, {"id": "b", "address": BEIJING[0]}]},
        {"tickets": [{"id": "b", "address": BEIJING[0]}], "travel": {"crs": ["gcj02"]}},
        {"locations": {"a": 1}, "depot": 5, "agents": "none", "travel": [1]},
        {"tickets": [{"id": "a", "location": {"lat": 1}, "address": "x" * 5000, "demand": 1}]},
    ],
)
async def test_a_broken_day_with_addresses_is_refused_by_its_schema(planner: _Planner, broken: dict[str, Any]) -> None:
    """SPEC T7: looking up addresses changes nothing of what the schema finds wrong."""
    day = {"name": "d", "planning_date": "2025-07-15", "agents": [], "tickets": [], **broken}
    refused = await planner.call("create_scenario", **day)
    assert refused.is_error
    assert refused.structured["type"] != "InternalError"


async def test_rows_of_a_file_are_resolved_by_the_same_step(planner: _Planner) -> None:
    """SPEC O4, T5: a customer list with addresses needs no coordinates."""
    rows = "\n".join(f"k{at},{text},{text},1" for at, text in enumerate(BEIJING))
    imported = await planner.call(
        "import_scenario",
        format="csv",
        content=f"id,location,address,demand\n{rows}\n",
        planning_date="2025-07-15",
        agents=[{"id": "van", "capacity": 9}],
    )
    body = await planner.stored(imported)
    assert len(body["locations"]) == 3


NANJING = ["南京市玄武区中山东路90号", "南京市秦淮区健康路10号", "南京市建邺区江东中路200号"]
OPEN = "鼓楼区中山路1号"


@pytest.mark.parametrize("word", ["new_ticket", "patch"])
async def test_a_ticket_that_comes_later_gets_its_position_too(planner: _Planner, word: str) -> None:
    """SPEC O4, T10: by resolve_vrp as by create_scenario."""
    scenario_id = (await planner.create(tickets_at(NANJING))).structured["scenario_id"]
    job_id = await planner.solved(scenario_id, ["t0", "t1", "t2"])
    late = {"demand": 1, "address": f"南京市{OPEN}"}
    change: dict[str, Any] = (
        {"new_ticket": [{"id": "late", **late}]} if word == "new_ticket" else {"patch": {"tickets": {"late": late}}}
    )
    body = await planner.stored(await planner.call("resolve_vrp", warm_from=job_id, **change))
    place = next(each for each in body["locations"] if each["id"] == "at late")
    assert haversine_m((place["lat"], place["lon"]), (32.06, 118.77)) < 15_000
    assert [each["location"] for each in body["tickets"] if each["id"] == "late"] == ["at late"]


@pytest.mark.parametrize("tool", ["resolve_vrp", "revise_scenario", "validate_scenario", "create_scenario"])
async def test_every_tool_reports_an_open_address_with_its_candidates(planner: _Planner, tool: str) -> None:
    """SPEC T7, O4: by the id of the ticket, where a patch brings it."""
    scenario_id = (await planner.create(tickets_at(BEIJING))).structured["scenario_id"]
    patch = {"tickets": {"late": {"demand": 1, "address": "12 Main Street, Springfield"}}}
    if tool == "create_scenario":
        answer = await planner.create(tickets_at([*BEIJING, "12 Main Street, Springfield"]))
    elif tool == "resolve_vrp":
        answer = await planner.call(tool, warm_from=await planner.solved(scenario_id, ["t0"]), patch=patch)
    else:
        answer = await planner.call(tool, scenario_id=scenario_id, patch=patch)
    (finding,) = answer.structured["unservable"]
    assert finding["path"] in ("/tickets/late/address", "/tickets/3/address")
    assert "Springfield" in finding["which"][0]


async def test_validation_says_what_creation_would(planner: _Planner) -> None:
    """SPEC T5: validate_scenario looks addresses up as create_scenario does, also where no travel is known."""
    agents = [{"id": "van", "capacity": 100}]
    day = {"name": "day", "planning_date": "2025-07-15", "agents": agents}
    for addresses in (BEIJING, BERLIN[:3]):
        tickets = tickets_at(addresses)
        created = await planner.create(tickets)
        found = await planner.call("validate_scenario", scenario={**day, "tickets": tickets})
        assert found.structured["valid"] is True
        assert found.structured["assumptions"][0] == created.structured["assumptions"][0]


@pytest.mark.parametrize(
    ("said", "source"),
    [("candidate", "confirmed"), ("32.0603, 118.7969", "confirmed"), ("江苏省南京市鼓楼区中山路1号", "confirmed")],
)
async def test_a_person_is_asked_about_an_open_address_once(planner: _Planner, said: str, source: str) -> None:
    """SPEC T1, T7: candidates are choices, a position or a fuller address an answer; it is kept for later calls."""
    questions: list[dict[str, Any]] = []

    async def person(_message: str, schema: dict[str, Any]) -> dict[str, Any]:
        questions.append(schema["properties"])
        choice = schema["properties"]["address_1"].get("enum", ["?"])[0]
        return {"address_1": choice if said == "candidate" else said}

    asking = planner.asking(person)
    day = tickets_at([BEIJING[0], OPEN])
    body = await planner.stored(await asking.create(day))
    assert [place["resolved"]["source"] for place in body["locations"]] == ["offline", source]
    assert questions[0]["address_1"]["title"] == OPEN
    assert "none of these" in questions[0]["address_1"]["enum"]
    again = await planner.stored(await asking.create(day))
    assert again["locations"] == body["locations"]
    assert len(questions) == 1


async def test_who_leaves_an_address_open_gets_the_answer_of_one_who_cannot_be_asked(planner: _Planner) -> None:
    """SPEC T7: silence, nonsense and none of these stop no call that would go on without a question."""
    for said in ({}, {"address_1": "none of these"}, {"address_1": "???"}, {"address_1": 7}):

        async def person(_message: str, _schema: dict[str, Any], said: dict[str, Any] = said) -> dict[str, Any]:
            return said

        asking = planner.asking(person)
        assert (await asking.create(tickets_at([BEIJING[0], OPEN]))).structured["unservable"]
        alone = await asking.create(tickets_at([OPEN]))
        assert alone.structured["assumptions"][0].startswith("Travel is not known")
