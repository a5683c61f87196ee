"""What `solve` shows of a search and of its plan (SPEC T5)."""

import io
import json
from typing import Any

import pytest
from rich.console import Console
from rich.progress import Progress, TextColumn

from planner_mcp.cli.processes.solve_display import LiveBar, search_display, show_plan
from planner_mcp.jobs.job_events import Event, EventData, EventKind
from planner_mcp.routing.plan import Plan
from tests.unit.render.test_standalone_map import day


def event(kind: EventKind, **data: Any) -> Event:
    return Event("1-1", "job-0-x", kind, "2026-11-24T08:00:00Z", EventData(**data))


def test_the_bar_shows_cost_served_and_gap() -> None:
    """Our choice: also at the end, whose event does not repeat the figures."""
    console = Console(file=io.StringIO())
    progress = Progress(TextColumn("{task.fields[facts]}"), console=console)
    bar = LiveBar(progress, progress.add_task("solve", total=100, facts=""))
    bar.bound(900)
    bar.event(event(EventKind.PROGRESS, status="SOLVING", progress=5, cost=1000, tickets_served=3, tickets_total=4))
    assert progress.tasks[0].fields["facts"] == "solving  cost 1,000  served 3/4"
    bar.event(event(EventKind.PROGRESS, status="SOLVING", progress=9, cost=1000, tickets_served=4, tickets_total=4))
    bar.event(event(EventKind.COMPLETED, status="COMPLETED", progress=100))
    assert progress.tasks[0].fields["facts"] == "completed  cost 1,000  served 4/4  gap ≤ 10.0%"
    assert progress.tasks[0].completed == 100


@pytest.mark.parametrize("as_json", [True, False])
def test_without_a_terminal_there_are_plain_lines(as_json: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """Our choice: JSON on standard output for machines, else text on standard error; no colours."""
    with search_display(as_json=as_json) as display:
        display.event(event(EventKind.QUEUED, status="QUEUED", progress=0))
        display.note("a note")
    printed = capsys.readouterr()
    if as_json:
        assert (json.loads(printed.out)["status"], printed.err) == ("QUEUED", "")
    else:
        assert (printed.out, printed.err) == ("", "QUEUED 0%\na note\n")


def test_the_table_is_in_clock_times_and_markup_of_names_stays_text(capsys: pytest.CaptureFixture[str]) -> None:
    """SPEC T5, X3: hours, kilometres, currency, the first ticket left out; a name can set no colour."""
    scenario, plan = day(agents=1)
    plan["routes"][0]["agent_id"] = "[red]van\x1b[31m"
    show_plan({**scenario, "options": {"currency": "EUR"}}, Plan.from_json(plan), 0.25)
    printed = capsys.readouterr().err
    head, row, facts, missing = printed.splitlines()
    assert head.split() == ["agent", "stops", "leaves", "back", "km"]
    assert row.split() == ["[red]van[31m", "5", "08:00", "10:00", "12.0"]
    assert facts == ("5 of 7 tickets served, 36.0 km, cost 1 EUR, no plan is more than 25.0% cheaper, by tiny")
    assert missing.startswith("Not served: t-6: NO_CAPACITY.") and missing.endswith("(and 1 more)")
    plan["routes"][0]["agent_id"] = scenario["agents"][0]["id"]
    scenario["agents"][0]["name"] = "Ann\x1b[31m"
    scenario["tickets"] = [{**ticket, "name": f"Shop of {ticket['id']}"} for ticket in scenario["tickets"]]
    show_plan(scenario, Plan.from_json(plan), 0.25)
    _, row, _, missing = capsys.readouterr().err.splitlines()
    assert row.split()[:3] == [scenario["agents"][0]["id"], "Ann[31m", "5"]
    assert missing.startswith("Not served: t-6 Shop of t-6: NO_CAPACITY.")
    show_plan(scenario, Plan.from_json(plan), 0.0)
    assert "no plan is cheaper" in capsys.readouterr().err
    show_plan(scenario, Plan.from_json(plan), 1.0)
    assert "cheaper" not in capsys.readouterr().err, "of every plan it is true that none costs less than nothing"
    plan["travel"] = {"source": "unit legs"}
    show_plan(scenario, Plan.from_json(plan), 1.0)
    assert "travel is not known: each leg counts 1, and times are not real" in capsys.readouterr().err
