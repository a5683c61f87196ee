"""Problems of VROOM as days (SPEC T5)."""

from typing import Any

import pytest

from planner_mcp.errors import Fault, InputError
from planner_mcp.formats.vroom_format import assumed, read_vroom
from planner_mcp.routing.scenario.scenario_model import end_of, start_of
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from tests.shared.formats.vroom_problems import VROOM


def read(problem: dict[str, Any]) -> dict[str, Any]:
    """Return the day of a problem of VROOM."""
    return read_vroom(problem, name="v", planning_date="2025-07-15")


def faults(problem: dict[str, Any]) -> list[Fault]:
    """Return what is wrong with a problem of VROOM."""
    with pytest.raises(InputError) as caught:
        read(problem)
    return list(caught.value.errors)


def test_a_problem_of_vroom_is_a_day() -> None:
    """SPEC T5: vehicles, jobs and shipments with all that both models know."""
    scenario = parse_scenario(read(VROOM))
    first, second = scenario.agents
    assert (first.shift_start, first.shift_end, first.max_tickets) == (28800.0, 43200.0, 4)
    assert (first.fixed_cost, first.cost_per_hour, first.cost_per_km) == (100.0, 36.0, 1.0)
    assert first.breaks[0].duration_s == 300.0
    assert (end_of(scenario, second), start_of(scenario, second)) == (None, first.start_location)
    by_id = {ticket.id: ticket for ticket in scenario.tickets}
    assert (by_id["1"].priority, by_id["1"].skills, by_id["1"].demand) == (9, ("1",), {"d1": 1.0, "d2": 0.0})
    assert (by_id["2"].kind, by_id["2"].time_windows) == ("pickup", ((32400.0, 36000.0),))
    assert (by_id["delivery 4"].pickup, by_id["pickup 4"].setup_time_s) == ("pickup 4", 60.0)
    assert len(scenario.locations) == 5


def test_a_word_of_vroom_that_means_something_else_is_reported() -> None:
    """SPEC T5: hours are paid while waiting too, and a window holds after setup; nothing is said of days without."""

    def notices(**jobs: Any) -> list[str]:
        problem = {"vehicles": [{"id": 1, "start": [2.35, 48.87], "costs": {"per_hour": jobs.pop("pay", 0)}}], **jobs}
        return assumed(read(problem))

    timed = {"id": 1, "location": [2.36, 48.88], "time_windows": [[0, 60]]}
    assert notices(jobs=[timed]) == []
    assert ["per_hour" in each for each in notices(jobs=[timed], pay=36)] == [True]
    assert ["setup" in each for each in notices(jobs=[{**timed, "setup": 60}])] == [True]


@pytest.mark.parametrize("name", [True, None, 1.5, [1]])
def test_an_id_of_vroom_is_text_or_a_whole_number(name: Any) -> None:
    """SPEC T7: "true" is nobody's id; the fault names the place."""
    wrong = faults({**VROOM, "jobs": [{**VROOM["jobs"][0], "id": name}]})
    assert [(fault.path, fault.accepted) for fault in wrong] == [("/jobs/0/id", "a whole number or text")]


def test_places_of_vroom_closer_than_a_hand_are_one() -> None:
    """SPEC T5: equal to six decimals, so that no two locations have one id."""
    jobs = [{"id": number, "location": [2.36 + number * 1e-8, 48.88]} for number in (1, 2)]
    body = read({**VROOM, "jobs": jobs})
    assert len(parse_scenario(body).locations) == 4


def test_a_wrong_date_is_not_blamed_on_the_file() -> None:
    """SPEC T7: it is told with the scenario, by its own place."""
    body = read_vroom(VROOM, name="v", planning_date="15.07.2025")
    with pytest.raises(InputError) as caught:
        parse_scenario(body)
    assert "/planning_date" in [fault.path for fault in caught.value.errors]


def changed(part: str, **words: object) -> dict[str, object]:
    """Return the list that a problem of VROOM has under a name, with more words in its first entry."""
    first, *others = VROOM[part]
    return {part: [{**first, **words}, *others]}


SHIPMENT = VROOM["shipments"][0]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"jobs": [{"id": 1, "location": [0, 1], "delivery": [1], "pickup": [1]}]}, "/jobs/0"),
        ({"jobs": [{"id": 1, "location_index": 3}]}, "/jobs/0/location"),
        ({"vehicles": [{"id": 1, "start": [0, 1], "max_travel_time": 5}]}, "/vehicles/0/max_travel_time"),
        ({"matrices": {"car": {}}}, "/matrices"),
        ({"matrix": [[0]]}, "/matrix"),
        (changed("vehicles", profile="bike"), "/vehicles/0/profile"),
        (changed("vehicles", steps=[{"type": "start"}]), "/vehicles/0/steps"),
        (changed("vehicles", costs={"per_task_hour": 100}), "/vehicles/0/costs/per_task_hour"),
        (changed("vehicles", breaks=[{"id": 1, "max_load": [0]}]), "/vehicles/0/breaks/0/max_load"),
        (changed("vehicles", tim_window=[0, 1]), "/vehicles/0/tim_window"),
        ({"vehicles": [{"id": 1, "start_index": 0, "end": [0, 1]}]}, "/vehicles/0/start"),
        (changed("jobs", **{"a/b": 1}), "/jobs/0/a~1b"),
        (changed("jobs", time_window=[0, 1]), "/jobs/0/time_window"),
        (changed("shipments", service=60), "/shipments/0/service"),
        (changed("shipments", pickup={**SHIPMENT["pickup"], "skills": [1]}), "/shipments/0/pickup/skills"),
        ({"vehicles": 7}, ""),
        ({"jobs": 7}, ""),
        ({"jobs": [{}]}, "/jobs/0"),
        ({"jobs": [7]}, "/jobs/0"),
        (changed("jobs", time_windows=[[28800]]), "/jobs/0/time_windows"),
        (changed("jobs", priority="high"), "/jobs/0/priority"),
        (changed("jobs", location={"lon": 2, "lat": 48}), "/jobs/0/location"),
        (changed("vehicles", time_window=["08:00", "12:00"]), "/vehicles/0/time_window"),
        (changed("vehicles", breaks=[{"id": 1, "time_windows": [[0]]}]), "/vehicles/0/breaks/0"),
        (changed("vehicles", type=["truck"]), "/vehicles/0"),
        (changed("shipments", pickup={"location": [0, 1]}), "/shipments/0/pickup"),
        (changed("shipments", priority="high"), "/shipments/0/priority"),
    ],
)
def test_what_this_model_lacks_is_reported_by_its_place(change: dict[str, object], path: str) -> None:
    """SPEC T7: refused, not passed over."""
    assert path in [fault.path for fault in faults({**VROOM, **change})]


def test_what_a_part_of_vroom_misses_is_named_beside_the_other_slips() -> None:
    """SPEC T7: all at once, each once."""
    jobs = [{"location": [0, 1]}, {"id": 2, "location": [0, "x"], "priority": "high"}]
    assert [(fault.path, fault.problem) for fault in faults({**VROOM, "jobs": jobs})] == [
        ("/jobs/0", "A word is missing: id."),
        ("/jobs/1/priority", "A value is not of the right kind."),
        ("/jobs/1/location", "A value is not of the right kind."),
    ]


def test_words_of_vroom_that_say_nothing_here_are_passed_over() -> None:
    """SPEC T5: labels, indexes beside positions, how to search, and what is said to be as it is anyway."""
    idle = {"description": "van", "profile": "car", "steps": [], "start_index": 0, "costs": {"per_task_hour": 0}}
    change = {**changed("vehicles", **idle), **changed("jobs", location_index=1, speed=None), "options": {"g": True}}
    body = read({**VROOM, **change})
    assert parse_scenario(body).agents[0].name == "van"


def by_type(*types: str) -> dict[str, Any]:
    """Return a problem of VROOM whose vehicles are of some types, with a job that takes trucks and bikes longer."""
    fleet = [{"id": number, "start": [0, 1], **({"type": kind} if kind else {})} for number, kind in enumerate(types)]
    longer = {"service_per_type": {"truck": 600}, "setup_per_type": {"bike": 300}}
    job = {"id": 1, "location": [0, 2], "service": 60, "setup": 20, **longer}
    return {"vehicles": fleet, "jobs": [job]}


@pytest.mark.parametrize(
    ("types", "times"), [(("truck", "truck"), (600, 20)), (("bike",), (60, 300)), (("", "van"), (60, 20))]
)
def test_a_time_of_vroom_by_type_is_that_of_the_whole_fleet(types: tuple[str, ...], times: tuple[int, int]) -> None:
    """SPEC T5: where every vehicle needs the same."""
    (ticket,) = read(by_type(*types))["tickets"]
    assert (ticket["service_time_s"], ticket["setup_time_s"]) == times


@pytest.mark.parametrize(
    ("types", "fields"),
    [(("truck", ""), {"service"}), (("bike", "van"), {"setup"}), (("truck", "bike"), {"service", "setup"})],
)
def test_a_time_of_vroom_that_differs_between_vehicles_is_refused(types: tuple[str, ...], fields: set[str]) -> None:
    """SPEC T7: a ticket has no time for each agent."""
    assert {fault.path for fault in faults(by_type(*types))} == {f"/jobs/0/{name}_per_type" for name in fields}


def test_a_file_full_of_strange_words_is_reported_briefly() -> None:
    """SPEC T9: fifty faults at most, names cut."""
    change = changed("jobs", **{f"{n}{'x' * 1000}": n for n in range(100)})
    with pytest.raises(InputError) as caught:
        read({**VROOM, **change})
    assert caught.value.message == "100 problems; the first 50 are listed."
    assert caught.value.errors[50].problem == "50 more problems are not listed."
    assert max(len(fault.path) for fault in caught.value.errors) < 200
