"""A plan cut into small tables (SPEC T5, T9).

Owns the views of a plan, their columns, and pages that keep every answer within its budget: that of a page where no
size is asked for, else that of any answer. A plan comes in as `Plan.as_json()`; nothing is computed anew.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from planner_mcp.jobs.plan_summary import shortfalls_of
from planner_mcp.server.tools.answers.token_estimates import table_tokens
from planner_mcp.text import clock, compact, number

USUAL_ROWS: Final = 20
"""Rows of a page that is asked for without a size, where they fit."""
USUAL_TOKENS: Final = 900
"""Estimated tokens (o200k) such a page may cost in the dearer of its two forms, which is the JSON."""
_AROUND_TOKENS: Final = 100
"""… of which what stands around rows and columns takes so many: ids, page and total."""
MAX_PAGE_BYTES: Final = 3200
"""UTF-8 bytes the rows of any page may have in each form, so that an answer stays below 8000 tokens."""

Row = dict[str, Any]
_Cell = Callable[[Row], Any]


@dataclass(frozen=True, slots=True)
class View:
    """One table that can be read from a plan."""

    rows: Callable[[dict[str, Any]], list[Row]]
    columns: dict[str, _Cell]
    shown: tuple[str, ...]
    """Columns of a page that asks for no `fields`."""
    if_any: tuple[str, ...] = ()
    """Columns after these where a row of the table has more than 0 in them."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows of a view."""

    columns: tuple[str, ...]
    rows: list[list[Any]]
    page: int
    size: int
    """Rows a page holds; less than asked where rows are long."""
    total: int


def _visits(plan: dict[str, Any]) -> list[Row]:
    return [{**visit, "agent_id": route["agent_id"]} for route in plan["routes"] for visit in route["visits"]]


def _same(name: str) -> _Cell:
    return lambda row: row[name]


def _amount(name: str) -> _Cell:
    return lambda row: number(row[name])


def _overtime(route: Row) -> Any:
    return number(route.get("overtime_s"))  # a plan that an older worker made tells none, which is not 0


def _clock(name: str) -> _Cell:
    return lambda row: clock(row[name])


def _tickets(route: Row) -> int:
    return sum(visit["kind"] == "ticket" for visit in route["visits"])


VIEWS: Final = {
    "routes": View(
        lambda plan: list(plan["routes"]),
        {
            "agent_id": _same("agent_id"),
            "tickets": _tickets,
            "start": _clock("start_s"),
            "end": _clock("end_s"),
            "distance_m": _amount("distance_m"),
            "cost": _amount("cost"),
            "travel_s": _amount("travel_s"),
            "waiting_s": _amount("waiting_s"),
            "overtime_s": _overtime,
            "start_s": _amount("start_s"),
            "end_s": _amount("end_s"),
            "start_location": _same("start_location"),
            "end_location": _same("end_location"),
        },
        ("agent_id", "tickets", "start", "end", "distance_m", "cost"),
        ("overtime_s",),
    ),
    "visits": View(
        _visits,
        {
            "agent_id": _same("agent_id"),
            "ticket_id": _same("ticket_id"),
            "location": _same("location"),
            "arrival": _clock("arrival_s"),
            "start": _clock("start_s"),
            "departure": _clock("departure_s"),
            "kind": _same("kind"),
            "arrival_s": _amount("arrival_s"),
            "start_s": _amount("start_s"),
            "departure_s": _amount("departure_s"),
            "distance_m": _amount("distance_m"),
            "late_s": _amount("late_s"),
            "load": _same("load"),
        },
        ("agent_id", "ticket_id", "location", "start", "departure"),
        ("late_s",),
    ),
    "unassigned": View(
        lambda plan: list(plan["unassigned"]),
        {"ticket_id": _same("ticket_id"), "code": _same("code"), "detail": _same("detail")},
        ("ticket_id", "code"),
    ),
}
BY_AGENT: Final = tuple(name for name, view in VIEWS.items() if "agent_id" in view.columns)
"""Views whose rows belong to agents."""


def summary(plan: dict[str, Any]) -> dict[str, Any]:
    """Return the key figures of a plan, how many tickets are unassigned for which reason, and what is late or over."""
    figures = ("cost", "distance_m", "duration_s", "agents_used", "tickets_served", "tickets_total", "seed")
    reasons = Counter(entry["code"] for entry in plan["unassigned"])
    return {
        "plan_status": plan["status"],
        **{name: number(plan[name]) for name in figures},
        **shortfalls_of(plan),
        "routes": len(plan["routes"]),
        "unassigned": len(plan["unassigned"]),
        "unassigned_reasons": dict(reasons.most_common(8)),
        "engine": plan["engine"],
        "assumptions": list(plan["assumptions"][:5]),
    }


def page_of(
    view: View, plan: dict[str, Any], *, columns: Sequence[str], agents: Sequence[str], page: int, size: int | None
) -> Page:
    """Return one page of a view.

    The number of rows of a page follows from the widest row, so that pages of the same question never overlap.

    Args:
        view: Which table.
        plan: As `Plan.as_json()`.
        columns: Names of `view.columns`; empty for the usual ones.
        agents: Only rows of these agents, of a view that has them (`BY_AGENT`); empty for all.
        page: From 1.
        size: Rows wanted; None for as many as a usual page holds.
    """
    wanted = set(agents)
    rows = [row for row in view.rows(plan) if not wanted or row["agent_id"] in wanted]
    names = tuple(columns) or (*view.shown, *(name for name in view.if_any if any(map(view.columns[name], rows))))
    table = [[view.columns[name](row) for name in names] for row in rows]
    texts = [compact(cells) for cells in table]
    most = _usual_rows(names, texts) if size is None else size
    widest = max((len(text.encode()) for text in texts), default=1)
    fitting = max(1, min(most, MAX_PAGE_BYTES // widest))
    return Page(names, table[(page - 1) * fitting : page * fitting], page, fitting, len(table))


def _usual_rows(names: Sequence[str], rows: Sequence[str]) -> int:
    """Return how many rows, given as JSON, a page holds that is asked for without a size."""
    room = USUAL_TOKENS - _AROUND_TOKENS - table_tokens(compact(names))
    widest = max(map(table_tokens, rows), default=1.0) + 1  # and its comma
    return min(USUAL_ROWS, int(room / widest))
