"""The figures of a plan."""

import json
from typing import Any

from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.plan_summary import PlanSummary, summary_of
from planner_mcp.jobs.store.record_codec import progress_extra
from planner_mcp.routing.scenario.shown_scenario import as_shown


def test_a_summary_is_the_figures_without_the_routes() -> None:
    """SPEC T9: small enough for a status."""
    plan = {"status": "partial", "cost": 7.5, "routes": [], "unassigned": [{}, {}], "tickets_served": 3}
    assert summary_of(plan) == PlanSummary(status="partial", cost=7.5, tickets_served=3, unassigned=2)


def test_lateness_and_overtime_are_included_when_there_are_any() -> None:
    """SPEC T3, T5: all served is not all on time; what is 0, or an older worker did not tell, is left out."""
    routes: list[dict[str, Any]] = [
        {"overtime_s": 90.0, "visits": [{"late_s": 0.0}, {"late_s": 60.0}]},
        {"overtime_s": 0.5, "visits": [{"late_s": 7.5}]},
        {"visits": []},
    ]
    figures = summary_of({"status": "feasible", "routes": routes})
    assert (figures.late_tickets, figures.late_max_s, figures.overtime_s) == (2, 60, 90.5)


def test_tickets_that_another_than_their_preferred_agent_serves_are_named() -> None:
    """SPEC T3, T5: the first of them, and how many there are: those whose `switch_cost` the plan pays."""
    names = [f"t-{number}" for number in range(9)]
    tickets = [{"id": name, "location": "A", "preferred_agent": "v"} for name in names] + [{"id": "x", "location": "A"}]
    day = as_shown({"name": "day", "planning_date": "2025-07-15", "agents": [{"id": "v"}], "tickets": tickets})
    of_w = [{"ticket_id": name} for name in (*names[2:], "x", None)]
    routes = [{"agent_id": "v", "visits": [{"ticket_id": "t-0"}]}, {"agent_id": "w", "visits": of_w}]
    found = summary_of({"status": "feasible", "routes": routes}, day)
    assert (found.not_preferred, found.not_preferred_ids) == (7, names[2:7])
    again = [{"agent_id": "v tour 2", "visits": [{"ticket_id": "t-0"}]}]
    assert summary_of({"status": "feasible", "routes": again}, day).not_preferred_ids == ["t-0"]
    kept = summary_of({"status": "feasible", "routes": routes[:1]}, day)
    assert not kept.as_json().keys() & {"not_preferred", "not_preferred_ids"}


def test_figures_of_0_are_left_out() -> None:
    """SPEC T3, T5: as many late tickets as the visits show, not those late by less than is shown."""
    visits = [{"late_s": 0.004}, {"late_s": 0.0}]
    plan = {"status": "feasible", "routes": [{"overtime_s": 0.004, "visits": visits}]}
    assert summary_of(plan).as_json() == {"status": "feasible", "unassigned": 0}
    visits[1]["late_s"] = 7.5
    assert summary_of(plan) == PlanSummary(status="feasible", unassigned=0, late_tickets=1, late_max_s=7.5)


def test_figures_have_two_decimals_everywhere() -> None:
    """SPEC J2: a webhook tells the cost that a tool tells; its bound is rounded down, as one that holds."""
    assert summary_of({"status": "feasible", "cost": 12.345678, "routes": []}).cost == 12.35
    extra = json.loads(progress_extra(Progress(5, 12.3456, 0.1239, lower_bound=7.899)))
    assert (extra["cost"], extra["penalty"], extra["lower_bound"]) == (12.35, 0.12, 7.89)
