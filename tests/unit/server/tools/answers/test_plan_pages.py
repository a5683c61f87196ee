"""A plan cut into tables."""

from dataclasses import replace
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import pytest

from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.problem import Stop, StopKind
from planner_mcp.server.tools.answers.plan_pages import MAX_PAGE_BYTES, VIEWS, page_of, summary
from planner_mcp.text import MASK, clock
from tests.shared.scenarios.scenario_builders import agent, candidate, problem, ticket
from tests.shared.scenarios.stored_plans import stored_plan
from tests.shared.tools.chinese_reader import in_chinese


def planned(**sizes: Any) -> Plan:
    """Return a stored plan; it has no overtime, as those of older workers."""
    return Plan.from_json(stored_plan(**sizes))


def test_pages_join_into_the_whole_table() -> None:
    """SPEC T5: nothing twice, nothing lost."""
    plan = planned(routes=7, visits=9)
    found, page = [], 1
    while True:
        part = page_of(VIEWS["visits"], plan, columns=["ticket_id"], agents=[], page=page, size=20)
        found += [row[0] for row in part.rows]
        if page * part.size >= part.total:
            break
        page += 1
    assert found == [f"t-{n}" for n in range(63)]
    assert page == 4


def test_a_page_beyond_the_last_is_empty() -> None:
    """SPEC T5: asking too far is no error."""
    part = page_of(VIEWS["routes"], planned(routes=2, visits=1), columns=[], agents=[], page=9, size=20)
    assert (part.rows, part.total) == ([], 2)


def test_columns_and_agents_narrow_a_table() -> None:
    """SPEC T5: trimmed by fields."""
    plan = planned(routes=3, visits=2)
    part = page_of(VIEWS["visits"], plan, columns=["ticket_id", "start_s"], agents=["veh-1"], page=1, size=20)
    assert part.columns == ("ticket_id", "start_s")
    assert part.rows == [["t-2", 28860], ["t-3", 29760]]


@pytest.mark.parametrize("view", sorted(VIEWS))
def test_wide_rows_make_short_pages_of_equal_size(view: str) -> None:
    """SPEC T9: the longest ids there can be do not break the budget, and pages still join."""
    plan = planned(routes=60, visits=2, left_out=60, name=("北" * 90 + "{}-{}").format)
    columns = list(VIEWS[view].columns)
    pages = [page_of(VIEWS[view], plan, columns=columns, agents=[], page=page, size=50) for page in (1, 2)]
    assert {page.size for page in pages} == {len(pages[0].rows)}
    assert all(len(str(page.rows).encode()) < 1.3 * MAX_PAGE_BYTES for page in pages)
    assert pages[0].rows[-1] != pages[1].rows[0]


def late_plan() -> Plan:
    """Return a plan whose second ticket starts 3 s after its soft close, and whose route ends 4 s after its shift."""
    late = ticket("b", "B", soft_close=4, lateness_cost_per_hour=1)
    day = problem([agent(shift_end=5, overtime_s=9)], [ticket("a", service_time_s=5), late])
    return build_plan(day, candidate(day, "a", "b"))


def test_what_is_late_or_over_is_shown_without_being_asked_for() -> None:
    """SPEC T5: a plan that serves all may still come late to some, and keep drivers after their shift."""
    plan = late_plan()
    answered = {
        name: page_of(VIEWS[name], plan, columns=[], agents=[], page=1, size=None) for name in ("visits", "routes")
    }
    assert answered["visits"].columns == (*VIEWS["visits"].shown, "late_s")
    assert [row[-1] for row in answered["visits"].rows] == [0, 3]
    assert answered["routes"].columns == (*VIEWS["routes"].shown, "overtime_s")
    assert [row[-1] for row in answered["routes"].rows] == [4]
    figures = summary(plan)
    assert [figures[name] for name in ("late_tickets", "late_max_s", "overtime_s")] == [1, 3, 4]


def test_a_row_without_a_ticket_says_what_it_is() -> None:
    """SPEC T5: a stop at a depot that has no ticket may be a reload or an end, and a row without a place is a break."""
    driver = agent(breaks=[{"earliest": 0, "latest": 9, "duration_s": 3}], reload_locations=["D"])
    day = problem([driver], [ticket("a"), ticket("b", "B", time_windows=[[20, 30]])])
    stops = candidate(day, "a", "b")
    rest = Stop(StopKind.BREAK, 0)
    plan = build_plan(day, replace(stops, routes=tuple(route.with_stop(1, stop=rest) for route in stops.routes)))
    answered = page_of(VIEWS["visits"], plan, columns=[], agents=[], page=1, size=None)
    assert answered.columns == (*VIEWS["visits"].shown, "kind")
    assert [row[-1] for row in answered.rows] == ["ticket", "break", "ticket"]


def test_a_plan_on_time_has_no_columns_of_lateness() -> None:
    """SPEC T5, T9: nothing is paid for zeros; a plan that an older worker made knows of no overtime, not of 0."""
    plan = planned(routes=2, visits=2)
    assert plan.routes[0].overtime_s is None
    assert "overtime_s" not in plan.as_json()["routes"][0]
    for name, view in VIEWS.items():
        assert page_of(view, plan, columns=[], agents=[], page=1, size=None).columns == view.shown, name
    answered = page_of(VIEWS["routes"], plan, columns=["overtime_s"], agents=[], page=1, size=None)
    assert answered.rows == [[None], [None]]
    assert not {"late_tickets", "late_max_s", "overtime_s"} & summary(plan).keys()


def test_a_size_that_is_asked_for_may_cost_more_than_a_usual_page() -> None:
    """SPEC T9: ≤ 900 is for calls without a size; others get what any answer may cost."""
    plan = planned(routes=40, visits=30, name=lambda kind, number: str(uuid5(NAMESPACE_OID, f"{kind}-{number}")))
    sizes = [page_of(VIEWS["visits"], plan, columns=[], agents=[], page=1, size=size).size for size in (None, 20)]
    assert sizes[0] < sizes[1] == 20


def test_a_summary_counts_reasons() -> None:
    """SPEC T5: figures, and why tickets are left out."""
    figures = summary(planned(routes=1, visits=1, left_out=4))
    assert figures["unassigned"] == 4
    assert figures["unassigned_reasons"] == {
        "NO_ROOM_FOUND": 2,
        "ALL_CAPACITY_USED": 1,
        "TIME_WINDOW": 1,
    }


@pytest.mark.parametrize(("seconds", "shown"), [(0, "00:00"), (59.9, "00:01"), (30_000, "08:20"), (90_000, "25:00")])
def test_times_are_hours_and_minutes(seconds: float, shown: str) -> None:
    """Our choice: the form callers write themselves; long days run past 24."""
    assert clock(seconds) == shown


def test_who_is_visited_and_when_they_are_open_stands_beside_the_visit() -> None:
    """SPEC T5, R3: the name and the window unasked where there are any; what is masked only where it is asked for."""
    plan = planned(routes=1, visits=2)
    tickets = [{"id": "t-0", "name": "Ann", "phone": "5", "time_windows": [["08:00", "12:00"]]}, {"id": "t-1"}]
    day = {"planning_date": "2025-07-15", "tickets": tickets}

    def page(scenario: dict[str, Any], *columns: str) -> Any:
        return page_of(VIEWS["visits"], plan, scenario, columns=list(columns), agents=[], page=1, size=None)

    assert page(day).columns == (*VIEWS["visits"].shown, "window", "name")
    assert page(day, "ticket_id", "window", "name", "phone").rows == [
        ["t-0", "08:00-12:00", "Ann", "5"],
        ["t-1", None, None, None],
    ]
    day["tickets"] = [{"id": "t-0", "time_windows": [["08:00", "47:59"]]}]
    with in_chinese():
        assert page(day, "window").rows[0] == ["08:00 起"]
    masked = {**day, "tickets": [{"id": "t-0", "name": MASK, "phone": MASK}]}
    assert (page(masked).columns, page(masked, "name").rows[0]) == (VIEWS["visits"].shown, [MASK])


def test_of_several_windows_a_visit_shows_the_one_it_starts_in() -> None:
    """SPEC T5, T9: five windows with dates in each row left 7 rows of a page, and did not say which is kept."""
    plan = planned(routes=1, visits=2)
    windows = [["06:00", "07:00"], ["08:00", "12:00"], ["2025-07-16T08:00", "2025-07-16T12:00"]]
    tickets = [{"id": "t-0", "time_windows": windows}, {"id": "t-1", "time_windows": windows[::2]}]
    day = {"planning_date": "2025-07-15", "tickets": tickets}
    shown = page_of(VIEWS["visits"], plan, day, columns=["window"], agents=[], page=1, size=None)
    assert shown.rows == [["08:00-12:00"], ["06:00-07:00; 32:00-36:00"]]
