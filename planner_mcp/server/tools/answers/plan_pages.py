"""A plan cut into small tables (SPEC T5, T9).

Owns the views of a plan, their columns, and pages that keep every answer within its budget: that of a page where no
size is asked for, else that of any answer. Nothing is computed anew.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from operator import attrgetter
from typing import Any, Final

from planner_mcp.jobs.plan_summary import figures_of, shortfalls_of
from planner_mcp.routing.plan import Plan, PlannedRoute, Visit
from planner_mcp.routing.scenario.shown_scenario import NO_TICKET, ShownScenario, ShownTicketFields
from planner_mcp.routing.scenario.window_text import dated_span_text, span_text, windows_of
from planner_mcp.server.tools.answers.token_estimates import table_tokens
from planner_mcp.text import DAY_S, MASK, Json, clock, compact, nearest_minute, number, plain
from planner_mcp.translation import current_language

TEXTS: Final = ("name", "address", "phone", "notes")
"""What a ticket says for people; columns of visits."""
_USUAL_KIND: Final = "ticket"
"""Of a visit; breaks and reloads are of another."""
MAX_TEXT: Final = 60
"""Characters of such a text in a table."""
USUAL_ROWS: Final = 20
"""Rows of a page that is asked for without a size, where they fit."""
USUAL_TOKENS: Final = 900
"""Estimated tokens (o200k) such a page may cost in the dearer of its two forms, which is the JSON."""
_AROUND_TOKENS: Final = 100
"""Estimated tokens of what stands around rows and columns: ids, page and total."""
MAX_PAGE_BYTES: Final = 3200
"""UTF-8 bytes the rows of any page may have in each form, so that an answer stays below 8000 tokens."""

Row = Any
"""A `PlannedRoute`, an `AgentVisit` or an `Unassigned`."""
_Cell = Callable[[Row], Any]


@dataclass(frozen=True, slots=True)
class AgentVisit:
    """A visit with the agent that makes it."""

    agent_id: str
    visit: Visit
    ticket: ShownTicketFields = field(default_factory=lambda: NO_TICKET)
    """As its reader may see it; empty for a break, and where the scenario is kept no longer."""
    window: str = ""
    """That of its time windows in which it starts, in hours of the day, or with dates where the plan has several days.

    All of them where it starts in none.
    """


@dataclass(frozen=True, slots=True)
class View:
    """One table that can be read from a plan."""

    rows: Callable[[Plan, ShownScenario | None], Sequence[Row]]
    """Of a plan and its scenario; None where that is kept no longer."""
    columns: dict[str, _Cell]
    shown: tuple[str, ...]
    """Columns of a page that asks for no `fields`."""
    if_any: tuple[str, ...] = ()
    """Columns after these where a row of the table has more than 0 in them, or a text that says something."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows of a view."""

    columns: tuple[str, ...]
    rows: list[list[Any]]
    page: int
    size: int
    """Rows a page holds; less than asked where rows are long."""
    total: int


def _visits(plan: Plan, scenario: ShownScenario | None) -> list[AgentVisit]:
    tickets = {} if scenario is None else {ticket["id"]: ticket for ticket in scenario["tickets"]}
    date = "" if scenario is None else scenario["planning_date"]
    write_window = dated_span_text if is_over_days(plan) else span_text
    windows: dict[str, list[tuple[float, float, str]]] = {}  # most tickets share theirs with others
    found = []
    for route in plan.routes:
        for visit in route.visits:
            ticket = tickets.get(visit.ticket_id or "", NO_TICKET)
            if (stored := str(ticket.get("time_windows"))) not in windows:
                spans = windows_of(ticket, date)
                windows[stored] = [(*span, write_window(*span, date, current_language())) for span in spans]
            used = [text for opens, closes, text in windows[stored] if opens <= visit.start_s <= closes]
            shown = used or [text for _, _, text in windows[stored]]
            found.append(AgentVisit(route.agent_id, visit, ticket, "; ".join(shown)))
    return found


def _text(name: str) -> _Cell:
    """Return the reader of a text that the ticket has: on one line, as short as a table takes it."""
    return lambda row: plain(str(row.ticket[name]), MAX_TEXT) if row.ticket.get(name) else None


def _amount(path: str) -> _Cell:
    value = attrgetter(path)
    return lambda row: number(value(row))


@dataclass(frozen=True, slots=True)
class _Clock:
    """A cell that shows a time: of the day, or with its date where the plan has several days."""

    path: str

    def __call__(self, row: Row) -> str:
        return clock(attrgetter(self.path)(row))

    def dated(self, row: Row, planning_date: date) -> str:
        moment = datetime.combine(planning_date, time()) + timedelta(minutes=nearest_minute(attrgetter(self.path)(row)))
        return f"{moment:%Y-%m-%d %H:%M}"


def _tickets(route: PlannedRoute) -> int:
    return sum(visit.kind == "ticket" for visit in route.visits)


VIEWS: Final = {
    "routes": View(
        lambda plan, _: plan.routes,
        {
            "agent_id": attrgetter("agent_id"),
            "tickets": _tickets,
            "start": _Clock("start_s"),
            "end": _Clock("end_s"),
            "distance_m": _amount("distance_m"),
            "cost": _amount("cost"),
            "travel_s": _amount("travel_s"),
            "waiting_s": _amount("waiting_s"),
            "overtime_s": _amount("overtime_s"),
            "start_s": _amount("start_s"),
            "end_s": _amount("end_s"),
            "start_location": attrgetter("start_location"),
            "end_location": attrgetter("end_location"),
        },
        ("agent_id", "tickets", "start", "end", "distance_m", "cost"),
        ("overtime_s",),
    ),
    "visits": View(
        _visits,
        {
            "agent_id": attrgetter("agent_id"),
            "ticket_id": attrgetter("visit.ticket_id"),
            "location": attrgetter("visit.location"),
            "arrival": _Clock("visit.arrival_s"),
            "start": _Clock("visit.start_s"),
            "departure": _Clock("visit.departure_s"),
            "kind": attrgetter("visit.kind"),
            "arrival_s": _amount("visit.arrival_s"),
            "start_s": _amount("visit.start_s"),
            "departure_s": _amount("visit.departure_s"),
            "distance_m": _amount("visit.distance_m"),
            "late_s": _amount("visit.late_s"),
            "load": attrgetter("visit.load"),
            "window": lambda row: row.window or None,
            **{name: _text(name) for name in TEXTS},
        },
        ("agent_id", "ticket_id", "location", "start", "departure"),
        ("kind", "late_s", "window", "name"),
    ),
    "unassigned": View(
        lambda plan, _: plan.unassigned,
        {"ticket_id": attrgetter("ticket_id"), "code": attrgetter("code"), "detail": attrgetter("detail")},
        ("ticket_id", "code"),
    ),
}
BY_AGENT: Final = tuple(name for name, view in VIEWS.items() if "agent_id" in view.columns)
"""Views whose rows belong to agents."""


def summary(plan: Plan) -> Json:
    """Return the key figures of a plan, how many tickets are unassigned for which reason, and what is late or over."""
    figures = (*(name for name in figures_of(plan.travel) if name != "status"), "seed")
    reasons = Counter(entry.code for entry in plan.unassigned)
    late_s = (visit.late_s for route in plan.routes for visit in route.visits)
    return {
        "plan_status": plan.status,
        **{name: number(getattr(plan, name)) for name in figures if name != "cost" or not plan.is_masked},
        **shortfalls_of(late_s, (route.overtime_s for route in plan.routes)),
        "routes": len(plan.routes),
        "unassigned": len(plan.unassigned),
        "unassigned_reasons": dict(reasons.most_common(8)),
        "engine": plan.engine,
        "proof": _proof(plan),
        "assumptions": list(plan.assumptions[:5]),
    }


def _proof(plan: Plan) -> str | None:
    """Return what is proved: that the plan is optimal, or the gap that is left at most; None without a proof."""
    if plan.proof is None or plan.is_masked:
        return None
    return "optimal" if plan.proof.is_optimal else f"gap at most {100 * plan.proof.gap(plan.cost):.3g}%"


def is_over_days(plan: Plan) -> bool:
    """Return whether a plan goes on past midnight, so that its times need dates."""
    return max((route.end_s for route in plan.routes), default=0) >= DAY_S


def _cell(cell: _Cell, row: Row, planning_date: str | None) -> Any:
    if planning_date is None or not isinstance(cell, _Clock):
        return cell(row)
    return cell.dated(row, date.fromisoformat(planning_date))


def page_of(
    view: View,
    plan: Plan,
    scenario: ShownScenario | None = None,
    *,
    columns: Sequence[str],
    agents: Sequence[str],
    page: int,
    size: int | None,
) -> Page:
    """Return one page of a view.

    The number of rows of a page follows from the widest row, so that pages of the same question never overlap.

    Args:
        view: Which table.
        plan: As its reader may see it.
        scenario: What it plans, as its reader may see it; None where that is kept no longer.
        columns: Names of `view.columns`; empty for the usual ones.
        agents: Only rows of these agents, of a view that has them (`BY_AGENT`); empty for all.
        page: From 1.
        size: Rows wanted; None for as many as a usual page holds.
    """
    wanted = set(agents)
    rows = [row for row in view.rows(plan, scenario) if not wanted or row.agent_id in wanted]
    names = tuple(columns) or (*view.shown, *(name for name in view.if_any if _is_any(view.columns[name], rows)))
    planning_date = scenario["planning_date"] if scenario is not None and is_over_days(plan) else None
    table = [[_cell(view.columns[name], row, planning_date) for name in names] for row in rows]
    texts = [compact(cells) for cells in table]
    most = _usual_rows(names, texts) if size is None else size
    widest = max((len(text.encode()) for text in texts), default=1)
    fitting = max(1, min(most, MAX_PAGE_BYTES // widest))
    return Page(names, table[(page - 1) * fitting : page * fitting], page, fitting, len(table))


def _is_any(cell: _Cell, rows: Sequence[Row]) -> bool:
    """Return whether a column has something to show: what is masked, and that a visit is of a ticket, is nothing."""
    return any(value and value not in (MASK, _USUAL_KIND) for value in map(cell, rows))


def _usual_rows(names: Sequence[str], rows: Sequence[str]) -> int:
    """Return how many rows, given as JSON, a page holds that is asked for without a size."""
    room = USUAL_TOKENS - _AROUND_TOKENS - table_tokens(compact(names))
    widest = max(map(table_tokens, rows), default=1.0) + 1  # and its comma
    return min(USUAL_ROWS, int(room / widest))
