"""Published instances as days: read once for callers and for benchmarks (SPEC T5)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.benchmark_instances import objective, problem_of, read_cordeau
from planner_mcp.errors import InputError, TooLargeError
from planner_mcp.formats.instances.instance_scenario import as_scenario
from planner_mcp.formats.instances.published_instance import PublishedInstance
from planner_mcp.formats.instances.solomon_li_lim import is_solomon, read_li_lim, read_solomon
from planner_mcp.formats.instances.vrplib_format import read_vrplib
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.problem import Candidate
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from tests.shared.formats.instance_texts import FORMS, HEADER, NODES, Read, li_lim, solomon, vrplib
from tests.shared.property_tests.example_counts import examples


def day_of(published: PublishedInstance) -> dict[str, Any]:
    """Return the scenario of an instance, as it would travel."""
    day, _ = as_scenario(published, name="toy", planning_date="2025-07-15", max_agents=1000)
    parsed_value: dict[str, Any] = json.loads(json.dumps(day))
    return parsed_value


def faults(read: Read, text: str | bytes) -> list[tuple[str, str]]:
    """Return place and problem of everything that is wrong with a text."""
    with pytest.raises(InputError) as caught:
        read(text if isinstance(text, bytes) else text.encode(), max_nodes=100)
    assert all(fault.problem and (fault.accepted or fault.hint) for fault in caught.value.errors)
    return [(fault.path, fault.problem) for fault in caught.value.errors]


def test_an_instance_of_cvrplib_is_a_day() -> None:
    """SPEC T5: nodes are locations, customers tickets of the same number; no fleet limit means an agent a ticket."""
    scenario = parse_scenario(day_of(read_vrplib(vrplib().encode(), max_nodes=100)))
    assert [(ticket.id, ticket.demand["load"]) for ticket in scenario.tickets] == [
        ("2", 7),
        ("3", 5),
        ("4", 9),
        ("5", 4),
    ]
    assert [(agent.start_location, agent.capacity["load"]) for agent in scenario.agents] == [("1", 14)] * 4
    assert compile_scenario(scenario).distances[0][0].tolist() == [0, 36, 32, 31, 41]


def test_an_instance_of_solomon_is_a_day() -> None:
    """SPEC T5: windows, service and the depot's hours; lengths are cut to a tenth."""
    assert is_solomon(solomon().encode())
    scenario = parse_scenario(day_of(read_solomon(solomon().encode(), max_nodes=100)))
    second = scenario.tickets[1]
    assert (second.id, second.time_windows, second.service_time_s) == ("2", ((100.0, 400.0),), 10.0)
    assert [(agent.shift_start, agent.shift_end) for agent in scenario.agents] == [(0.0, 1000.0)] * 3
    assert compile_scenario(scenario).distances[0][0].tolist() == [0, 355, 315, 308, 412]


def test_an_instance_of_li_and_lim_is_a_day_of_shipments() -> None:
    """SPEC T5: each delivery names its pickup."""
    assert not is_solomon(li_lim().encode())
    tickets = parse_scenario(day_of(read_li_lim(li_lim().encode(), max_nodes=100))).tickets
    assert [(ticket.id, ticket.pickup, ticket.demand["load"]) for ticket in tickets] == [
        ("1", None, 7),
        ("2", "1", 7),
        ("3", None, 9),
        ("4", "3", 9),
    ]


@st.composite
def instances(draw: st.DrawFn) -> list[tuple[int, int, int, int, int, int]]:
    """Return nodes anywhere, an even number of customers among them."""
    spot = st.integers(0, 300)
    count = 2 * draw(st.integers(1, 4))
    depot = (draw(spot), draw(spot), 0, 0, 9000, 0)
    return [depot, *((draw(spot), draw(spot), draw(st.integers(1, 9)), 0, 8000, 5) for _ in range(count))]


@pytest.mark.parametrize("form", FORMS)
@examples(25)
@given(nodes=instances())
def test_a_plan_of_the_day_costs_what_the_rule_of_the_set_says(form: str, nodes: list[Any]) -> None:
    """SPEC T5, S2: the same routes on the imported day and by the benchmarks, whose code shares nothing with it."""
    read, write, rule = FORMS[form]
    published = read(write(nodes).encode(), max_nodes=100)
    problem = compile_scenario(parse_scenario(day_of(published)))
    pairs = {0: list(range(0, len(nodes) - 1, 2)), 1: list(range(1, len(nodes) - 1, 2))}
    routes = {0: list(range(len(nodes) - 1))} if form == "li_lim" else pairs
    candidate = Candidate.of_tickets(routes)
    assert build_plan(problem, candidate).cost == objective(problem_of(published, rule), candidate) / rule.published


WINDOWS = (
    *("VEHICLES_DEPOT_SECTION", "1 1", "2 2", "CAPACITY_SECTION", "1 14", "2 30"),
    *("VEHICLES_FIXED_COST_SECTION", "1 5", "2 8", "VEHICLES_UNIT_DISTANCE_COST_SECTION", "1 1", "2 2"),
    *("VEHICLES_ALLOWED_CLIENTS_SECTION", "1 3 4", "2 3 4 5", "VEHICLES_RELOAD_DEPOT_SECTION", "1 1", "2 2"),
    *("PRIZE_SECTION", "1 0", "2 0", "3 40", "4 40", "5 40", "BACKHAUL_SECTION", "1 0", "2 0", "3 0", "4 0", "5 6"),
    *("TIME_WINDOW_SECTION", "1 0 500", "2 0 500", "3 10 90", "4 0 500", "5 0 500"),
)


def rich(*extra: str, header: tuple[str, ...] = ()) -> str:
    """Return an instance of two depots and two vehicles with further sections."""
    head = [*(line for line in HEADER if "TYPE : CVRP" not in line and "CAPACITY" not in line), *header]
    text = vrplib(header=[*head, "TYPE : MDVRP", "VEHICLES : 2"]).replace("\n5 4\n", "\n5 0\n")  # it picks up
    return text.replace("\n1\n-1\nEOF", "\n1\n2\n-1\n" + "\n".join(extra))


def test_sections_of_richer_problems_are_read() -> None:
    """SPEC T5, S1: several depots, mixed fleets, prizes, backhauls, reloads, who may serve whom."""
    header = ("VEHICLES_MAX_DURATION : 400", "SERVICE_TIME : 3", "RELEASE_TIME : 2")
    body = day_of(read_vrplib(rich(*WINDOWS, header=header).encode(), max_nodes=100))
    scenario = parse_scenario(body)
    first, second = scenario.agents
    assert (first.start_location, second.start_location, second.fixed_cost, second.cost_per_km) == ("1", "2", 8, 2000)
    assert (first.max_duration_s, first.reload_locations, second.shift_end) == (400, ("1",), 500)
    assert [ticket.agents for ticket in scenario.tickets] == [("v1", "v2"), ("v1", "v2"), ("v2",)]
    assert [(t.penalty, t.kind, t.release_time) for t in scenario.tickets] == [
        (40, "delivery", 2),
        (40, "delivery", 2),
        (40, "pickup", 2),
    ]
    assert scenario.options.backhaul


FULL = ((0, 3, 4), (3, 0, 5), (4, 5, 0))
HALVES = {
    "FULL_MATRIX": "0 3 4 3 0 5 4 5 0",
    "LOWER_ROW": "3\n4 5",
    "LOWER_DIAG_ROW": "0\n3 0\n4 5 0",
    "UPPER_ROW": "3 4\n5",
    "UPPER_DIAG_ROW": "0 3 4\n0 5\n0",
    "LOWER_COL": "3 4 5",
    "UPPER_COL": "3 4 5",
}


@pytest.mark.parametrize("form", HALVES)
def test_lengths_written_out_are_taken_as_they_stand(form: str) -> None:
    """SPEC T5: EXPLICIT in each of TSPLIB's forms, also where lines break elsewhere."""
    header = [*HEADER[:3], "EDGE_WEIGHT_TYPE : EXPLICIT", f"EDGE_WEIGHT_FORMAT : {form}", "CAPACITY : 14"]
    text = vrplib(NODES[:3], header=header)
    bare = text[: text.index("NODE_COORD")] + text[text.index("DEMAND_SECTION") :]
    text = bare.replace("DEPOT_SECTION", f"EDGE_WEIGHT_SECTION\n{HALVES[form]}\nDEPOT_SECTION")
    published = read_vrplib(text.encode(), max_nodes=100)
    assert published.table == FULL
    problem = compile_scenario(parse_scenario(day_of(published)))
    assert (problem.distances[0].tolist(), problem.durations[0].tolist()) == ([list(row) for row in FULL],) * 2
    assert faults(read_vrplib, text.replace(HALVES[form], "3 4"))[0][1] == "EDGE_WEIGHT_SECTION has 2 numbers."


TOY = vrplib()
BROKEN = {
    "cut off in a section": (TOY[: TOY.index("4 9")], "/13", "DEMAND_SECTION has 3 rows, and DIMENSION says 5."),
    "cut off in a row": (TOY[: TOY.index("3 81") + 4], "/7", "NODE_COORD_SECTION has 3 rows, and DIMENSION says 5."),
    "an empty section of vehicles": (
        TOY.replace("DEPOT_SECTION", "CAPACITY_SECTION\nDEPOT_SECTION"),
        "/19",
        "CAPACITY_SECTION is empty.",
    ),
    "no dimension": (TOY.replace("DIMENSION", "SIZE"), "", "DIMENSION is missing."),
    "no depot": (TOY.replace("\n1\n-1", "\n-1"), "/19", "There is no depot."),
    "no section of depots": (TOY[: TOY.index("DEPOT")], "", "DEPOT_SECTION is missing."),
    "a depot that is no node": (TOY.replace("\n1\n-1", "\n9\n-1"), "/20", "There is no node of this number."),
    "no demands": (TOY[: TOY.index("DEMAND")] + TOY[TOY.index("DEPOT") :], "", "DEMAND_SECTION is missing."),
    "lengths of the globe": (
        TOY.replace("EUC_2D", "GEO"),
        "/4",
        "This EDGE_WEIGHT_TYPE is not known here, or missing.",
    ),
    "a node that delivers and picks up": (
        TOY.replace("DEPOT_S", "BACKHAUL_SECTION\n1 0\n2 0\n3 0\n4 6\n5 0\nDEPOT_S"),
        "/23",
        "A ticket delivers or picks up, not both.",
    ),
    "no routes": (TOY.replace("CVRP", "TSP"), "/3", "The file is not a problem of vehicle routing."),
    "NaN": (TOY.replace("2 20 31", "2 nan 31"), "/9", "A value is not a number."),
    "infinite": (TOY.replace("2 20 31", "2 1e999 31"), "/9", "A value is not a number."),
    "a negative demand": (TOY.replace("4 9", "4 -9"), "/17", "A value is negative."),
    "a capacity below 0": (TOY.replace(": 14", ": -14"), "/5", "CAPACITY is not a number of 0 or more."),
    "a field among sections": (
        TOY.replace("DEMAND_S", "CAPACITY : 9\nDEMAND_S"),
        "/13",
        "A header field stands after a section.",
    ),
    "a limit for all vehicles that is not known": (
        TOY.replace("DIMENSION", "VEHICLES_MAX_DISTANCE : 9\nDIMENSION"),
        "/6",
        "This field is not known here.",
    ),
    "a list as a field": (
        TOY.replace("DIMENSION", "VEHICLES_DEPOT : 2\nDIMENSION"),
        "/6",
        "This field is not known here.",
    ),
    "rows without a section": (
        TOY.replace("NODE_COORD_SECTION\n", ""),
        "/7",
        "The line is neither a field nor a section.",
    ),
    "a section unheard of": (TOY.replace("DEPOT_S", "DRONE_S"), "/19", "This section is not known here."),
    "a section twice": (
        TOY.replace("DEPOT_S", "DEMAND_SECTION\nDEPOT_S"),
        "/19",
        "The section stands here a second time.",
    ),
    "rows out of order": (TOY.replace("3 81", "4 81"), "/10", "The row should be that of number 3."),
    "Latin-1": (TOY.replace("five", "fünf").encode("latin-1"), "/2", "The line is not UTF-8."),
    "binary": ("NAME\0", "", "The file is no text."),
    "nothing": ("\n \n", "", "The file is empty."),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_vrp_is_reported_by_its_line(what: str) -> None:
    """SPEC T7: place, problem, and what would be accepted; nothing is passed over."""
    text, path, problem = BROKEN[what]
    assert (path, problem) in faults(read_vrplib, text)


def test_several_faults_are_reported_together() -> None:
    """SPEC T7: all of them, bounded."""
    assert len(faults(read_vrplib, TOY.replace("4 9", "4 -9").replace("5 4", "5 -4"))) == 2
    many = "\n".join("x y z" for _ in range(90))
    parsed_value = faults(read_li_lim, f"3 14 1\n{many}\n")
    assert (len(parsed_value), parsed_value[-1]) == (51, ("", "221 more problems are not listed."))


SOLOMON, PAIRS = solomon(), li_lim()


@pytest.mark.parametrize(
    ("read", "text", "path", "problem"),
    [
        (read_solomon, SOLOMON[: SOLOMON.index("400")], "/12", "The row has 5 numbers."),
        (read_solomon, SOLOMON.replace("0 50 50", "9 50 50"), "/10", "The depot is missing."),
        (read_solomon, SOLOMON.replace("2 81", "7 81"), "/12", "The row should be that of number 2."),
        (read_solomon, SOLOMON.replace("81 44 5", "81 44 -5"), "/12", "The demand is negative."),
        (read_solomon, SOLOMON.replace("81 44", "81 NaN"), "/12", "A value is not a number."),
        (read_solomon, SOLOMON.replace("VEHICLE", "TRUCKS"), "", "The line VEHICLE is missing."),
        (read_solomon, SOLOMON[: SOLOMON.index("CUST NO")], "", "There is no depot, or nothing to visit."),
        (read_solomon, "TOY\nCUSTOMER\nVEHICLE\n", "/2", "CUSTOMER stands before VEHICLE."),
        (read_solomon, SOLOMON.replace("  3   14", ""), "/3", "VEHICLE names no fleet."),
        (read_solomon, SOLOMON.replace("  3   14", "0 14"), "/5", "A count is not a whole number from 1 on."),
        (read_li_lim, PAIRS[: PAIRS.index("4 66")], "/5", "The row has no partner that names it."),
        (read_li_lim, PAIRS.replace("-7", "-6"), "/4", "The demand does not match that of its partner."),
        (read_li_lim, PAIRS.replace("\t1\n", "\t2\n", 1), "/1", "The speed is not 1."),
        (read_li_lim, PAIRS.replace("3\t14\t1", "3 14"), "/1", "The first line has 2 numbers."),
        (read_li_lim, SOLOMON, "/1", "A value is not a number."),
        (read_cordeau, "1 2 3\n", "/1", "The first line is none of several depots."),
        (read_cordeau, "2 1 3 1\n0 80\n1 5 5 0 3\n", "/3", "There are 2 rows."),
    ],
)
def test_broken_rows_are_reported_by_their_line(read: Read, text: str, path: str, problem: str) -> None:
    """SPEC T7: cut off, out of order, negative, no numbers, without a depot."""
    assert (path, problem) in faults(read, text)


def test_what_is_too_large_is_refused_before_it_is_built() -> None:
    """SPEC X3: limits before work."""
    for read, text in (
        (read_vrplib, TOY.replace("DIMENSION : 5", "DIMENSION : 1000000000")),
        (read_vrplib, rich().replace("VEHICLES : 2", "VEHICLES : 1000000000")),
        (read_solomon, SOLOMON.replace("  3   14", "999999999 14")),
        (read_li_lim, PAIRS + "0\n" * 200),
        (read_vrplib, "x" * (20 * 1024 * 1024 + 1)),
    ):
        with pytest.raises(TooLargeError):
            read(text.encode(), max_nodes=100)


def test_a_fleet_without_limit_gets_that_of_the_deployment_and_a_note() -> None:
    """SPEC T1: what is assumed is told."""
    published = read_vrplib(vrplib().encode(), max_nodes=100)
    day, notices = as_scenario(published, name="toy", planning_date="2025-07-15", max_agents=3)
    assert (len(day["agents"]), notices) == (3, ["The file limits no fleet: there are 3 agents."])
    assert any(
        "pickups alone" in text
        for text in as_scenario(
            read_vrplib(rich(*WINDOWS).encode(), max_nodes=9), name="x", planning_date="2025-07-15", max_agents=9
        )[1]
    )


words = st.sampled_from([*TOY.split(), *SOLOMON.split(), "-1", "nan", "1e400", "٣", "_SECTION", ":", "\n", "1_0"])


@pytest.mark.parametrize("read", [read_vrplib, read_solomon, read_li_lim, read_cordeau])
@examples(60)
@given(cut=st.integers(0, 400), more=st.lists(words, max_size=30), form=st.sampled_from([TOY, SOLOMON, PAIRS]))
def test_whatever_is_cut_and_mixed_ends_in_a_fault_or_a_day(read: Read, cut: int, more: list[str], form: str) -> None:
    """SPEC T7, T8: no exception but ours, and what is read can be judged like any scenario."""
    try:
        published = read((form[:cut] + " ".join(more) + form[cut + 5 :]).encode(), max_nodes=50)
        parse_scenario(day_of(published))
    except (InputError, TooLargeError) as error:
        assert error.message


CLUSTERS = """NAME: toy.gvrp
COMMENT: GVRP
DIMENSION: 6
VEHICLES: 2
GVRP_SETS: 3
CAPACITY: 10
EDGE_WEIGHT_TYPE: EUC_2D
NODE_COORD_SECTION
1 0 0
2 3 4
3 30 40
4 6 8
5 8 6
6 9 12
GVRP_SET_SECTION
1 2 3 -1
2 4 5 -1
3 6 -1
DEMAND_SECTION
1 4
2 5
3 6
EOF
"""


def test_of_each_cluster_of_a_gvrp_file_one_ticket_is_served() -> None:
    """SPEC T5: demands are those of clusters, and a cluster of one node is a ticket."""
    published = read_vrplib(CLUSTERS.encode(), max_nodes=100)
    assert [(visit.node, visit.demand) for visit in published.visits] == [(1, 4), (2, 4), (3, 5), (4, 5), (5, 6)]
    scenario = parse_scenario(day_of(published))
    assert [(group.kind, group.tickets) for group in scenario.groups] == [
        ("one_of", ("2", "3")),
        ("one_of", ("4", "5")),
    ]
    assert [agent.capacity["load"] for agent in scenario.agents] == [10, 10]


def test_clusters_that_share_a_node_are_refused_by_their_line() -> None:
    """SPEC T7: which of them it belongs to cannot be guessed; a cluster too few is counted."""
    assert faults(read_vrplib, CLUSTERS.replace("2 4 5 -1", "2 4 3 -1")) == [
        ("/17", "The cluster is empty or has a node of another.")
    ]
    assert faults(read_vrplib, CLUSTERS.replace("3 6 -1\n", "")) == [
        ("/15", "GVRP_SET_SECTION has 2 rows, and GVRP_SETS says 3.")
    ]
