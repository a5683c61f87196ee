"""What `planner-mcp solve` shows of a search, and of the plan at its end.

Owns the three forms: a bar that renews itself on a terminal, a line an event elsewhere, and JSON lines for machines.
People read standard error, so standard output holds nothing but the plan, or JSON. Colours are used on a terminal only;
texts of callers are shown as they are and never as markup.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Table
from rich.text import Text
from typing_extensions import override

from planner_mcp.jobs.job_content import event_line
from planner_mcp.jobs.job_events import Event, EventData, notification
from planner_mcp.render.day_times import DayTimes
from planner_mcp.render.label_text import length, length_unit
from planner_mcp.render.page_words import ENGLISH
from planner_mcp.routing.plan import UNIT_LEGS, Plan, gap_at_most
from planner_mcp.routing.scenario.shown_scenario import ShownAgent, ShownScenario, ShownTicket
from planner_mcp.text import compact, counted, plain

_WIDE: Final = 120
"""Columns of a table where there is no terminal."""


class SearchDisplay:
    """Shows a search: each event is a line on standard error."""

    def event(self, event: Event) -> None:
        """Show one event of the job."""
        self.note(event_line(event))

    def note(self, text: str) -> None:
        """Show a sentence."""
        typer.echo(text, err=True)

    def bound(self, cost: float) -> None:
        """Take a lower bound on the cost, from which the gap follows; where nothing is drawn the last line says it."""


class JsonLines(SearchDisplay):
    """Prints each event as a line of JSON on standard output, and no sentences."""

    @override
    def event(self, event: Event) -> None:
        """Print the event as `jobs watch --json` does."""
        typer.echo(compact(notification(event)["params"]))

    @override
    def note(self, text: str) -> None:
        """Print nothing."""


class LiveBar(SearchDisplay):
    """A bar on a terminal with status, best cost, tickets served and gap."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task
        self._bound: float | None = None
        self._figures = EventData()
        """Of the last event that had any; the end of the job does not repeat them."""

    @override
    def event(self, event: Event) -> None:
        """Move the bar."""
        if event.data.cost is not None:
            self._figures = event.data
        cost, served, total = self._figures.cost, self._figures.tickets_served, self._figures.tickets_total
        parts = [event.data.status.lower()]
        if cost is not None:
            parts += [f"cost {cost:,.0f}", f"served {served}/{total}"]
            if cost and self._bound is not None and served == total:
                parts.append(f"gap ≤ {gap_at_most(cost, self._bound) or 0.0:.1%}")
        self._progress.update(self._task, completed=event.data.progress, facts="  ".join(parts))

    @override
    def note(self, text: str) -> None:
        """Print a sentence above the bar."""
        self._progress.console.print(Text(text))

    @override
    def bound(self, cost: float) -> None:
        """Show the gap from the next event on."""
        self._bound = cost


@contextmanager
def search_display(*, as_json: bool) -> Iterator[SearchDisplay]:
    """Yield what shows a search here: JSON lines, a bar on a terminal, else lines."""
    console = Console(stderr=True, highlight=False)
    if as_json:
        yield JsonLines()
    elif not console.is_terminal:
        yield SearchDisplay()
    else:
        columns = (BarColumn(bar_width=24), TextColumn("{task.percentage:>3.0f} %"), TextColumn("{task.fields[facts]}"))
        with Progress(*columns, console=console, refresh_per_second=4) as progress:
            yield LiveBar(progress, progress.add_task("solve", total=100, facts="starting"))


def show_plan(scenario: ShownScenario, plan: Plan, gap: float | None) -> None:
    """Print the routes of a plan, its figures, and the first ticket that it leaves out."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        console.width = _WIDE
    times, unit = DayTimes.of(scenario, plan, ENGLISH), length_unit(plan)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, side in (("agent", "left"), ("stops", "right"), ("leaves", "right"), ("back", "right"), (unit, "right")):
        table.add_column(name, justify="right" if side == "right" else "left")
    agents, tickets = _names(scenario["agents"]), _names(scenario["tickets"])
    for route in plan.routes:
        cells = (str(len(route.visits)), times.moment(route.start_s), times.moment(route.end_s))
        table.add_row(Text(_with_name(route.agent_id, agents)), *cells, length(route.distance_m, unit))
    console.print(table)
    is_unknown = plan.travel.get("source") == UNIT_LEGS
    currency = (scenario.get("options") or {}).get("currency")
    facts = [
        f"{plan.tickets_served} of {counted(plan.tickets_total, 'ticket')} served",
        f"{length(plan.distance_m, unit)} {unit}",
        f"cost {plan.cost:,.0f}{f' {plain(currency)}' if currency else ''}",
        *([] if gap is None or gap >= 1 else [f"no plan is {f'more than {gap:.1%} ' if gap else ''}cheaper"]),
        f"by {plan.engine}",
        *(["travel is not known: each leg counts 1, and times are not real"] if is_unknown else []),
    ]
    console.print(Text(", ".join(facts)), soft_wrap=True)
    for entry in plan.unassigned[:1]:
        more = f" (and {len(plan.unassigned) - 1} more)" if len(plan.unassigned) > 1 else ""
        text = f"Not served: {_with_name(entry.ticket_id, tickets)}: {entry.code}. {plain(entry.detail, 200)}{more}"
        console.print(Text(text, style="yellow"), soft_wrap=True)


def _names(records: Iterable[ShownAgent | ShownTicket]) -> dict[str, str]:
    """Return the names of agents or tickets that have one, by id."""
    return {record["id"]: name for record in records if (name := record.get("name"))}


def _with_name(own_id: str, names: Mapping[str, str]) -> str:
    """Return an id with the name behind it, where there is one and it says something else."""
    name = names.get(own_id, own_id)
    return plain(own_id) if name == own_id else f"{plain(own_id)} {plain(name, 40)}"
