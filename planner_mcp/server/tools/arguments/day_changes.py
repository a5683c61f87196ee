"""What happens on a day in progress, in a dispatcher's words, as arguments of `resolve_vrp` (SPEC T5, ADR 37).

Owns the words (breakdown, absent, late_by, new_ticket, cancelled_ticket, no_show) and what each does to the scenario: a
patch, and what of the earlier plan has happened otherwise than planned. Second tours are
`routing/analysis/second_tours.py`'s.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, Any, Final, Literal

from pydantic import Field, PlainValidator, WithJsonSchema

from planner_mcp.errors import Fault, input_error
from planner_mcp.routing.analysis.frozen_prefix import frozen_prefix
from planner_mcp.routing.analysis.second_tours import tours_of
from planner_mcp.routing.plan import Plan, Visit
from planner_mcp.routing.scenario.checks.reference_checks import did_you_mean, near_names
from planner_mcp.routing.scenario.field_types import MAX_TIME_S, moment
from planner_mcp.routing.scenario.scenario_body import ScenarioBody, ScenarioPatch
from planner_mcp.routing.scenario.scenario_model import Held, HeldRoute, HeldVisit
from planner_mcp.routing.scenario.schema_faults import pointer
from planner_mcp.server.tools.tool_definition import Arguments
from planner_mcp.text import Json, clock, named

_SHOWN: Final = re.compile(r"(\d{2,4}):([0-5]\d)", re.ASCII)
"""A time as plans show it, whose hours run on through all days."""
_MAX_LISTED: Final = 50
_MINUTE_S: Final = 60
"""A delay below may have been meant in minutes, so it is reported in seconds."""


def hour_seconds(hour: Any, planned_on: date | None) -> float:
    """Return the seconds of an hour in any form that a scenario takes, or as plans show it.

    Args:
        hour: As it was written.
        planned_on: The date it is of; None where that is not known yet.
    """
    shown = _SHOWN.fullmatch(hour) if isinstance(hour, str) else None
    context: dict[str, Any] = {}
    if planned_on is not None:
        context = {"planning_date": planned_on, "offset": None}  # now in UTC is another hour there
    return moment(hour if shown is None else int(shown[1]) * 3600.0 + int(shown[2]) * 60.0, context)


def _well_formed(hour: Any) -> Any:
    """Pass on an hour that can be read once its day is known."""
    hour_seconds(hour, None)
    return hour


Hour = Annotated[Any, PlainValidator(_well_formed), WithJsonSchema({"type": ["string", "number"]})]
"""A time of the day, as it was written."""
Ids = Annotated[list[str], Field(max_length=_MAX_LISTED)]


class Breakdown(Arguments):
    """A vehicle that cannot go on."""

    agent: Annotated[str, Field(description="its id")]
    at: Annotated[Hour, Field(description="used as keep_until")] = None
    load: Annotated[
        Literal["at_depot", "in_vehicle", "lost"],
        Field(description="where its goods are"),
    ] = "at_depot"


class DayChanges(Arguments):
    """The words, each of which may be left out."""

    breakdown: Annotated[Breakdown | None, Field(description="a vehicle stops for the day")] = None
    absent: Annotated[Ids, Field(description="agents that do not come")] = []  # noqa: RUF012
    late_by: Annotated[dict[str, float], Field(max_length=_MAX_LISTED, description="seconds by agent")] = {}  # noqa: RUF012
    new_ticket: Annotated[list[Json], Field(max_length=_MAX_LISTED, description="as in create_scenario")] = []  # noqa: RUF012
    cancelled_ticket: Annotated[Ids, Field(description="no longer wanted")] = []  # noqa: RUF012
    no_show: Annotated[Ids, Field(description="visited, nobody there")] = []  # noqa: RUF012

    @property
    def has_any(self) -> bool:
        """Whether any of the words was used."""
        return bool(
            self.breakdown or self.absent or self.late_by or self.new_ticket or self.cancelled_ticket or self.no_show
        )


def unknown_ids(changes: DayChanges, body: ScenarioBody) -> Iterator[Fault]:
    """Yield the agents and tickets that the words name and a scenario does not have."""
    agents, tickets = ([entry["id"] for entry in body[section]] for section in ("agents", "tickets"))
    for unknown, accepted, known, named_ids in (
        ("There is no agent with this id.", f"an agent of the day: {named(agents)}", agents, _named_agents(changes)),
        ("There is no ticket with this id.", "a ticket of the day", tickets, _named_tickets(changes)),
    ):
        here = frozenset(known)
        near = near_names((name for _, name in named_ids if name not in here), known)
        for path, name in named_ids:
            if name not in here:
                yield Fault(path, unknown, accepted, did_you_mean(near.get(name)))


def _named_agents(changes: DayChanges) -> list[tuple[str, str]]:
    """Return the places where the words name agents, and the names."""
    agents = [("/breakdown/agent", changes.breakdown.agent)] if changes.breakdown else []
    agents += [(f"/absent/{at}", name) for at, name in enumerate(changes.absent)]
    return agents + [(pointer(["late_by", name]), name) for name in changes.late_by]


def _named_tickets(changes: DayChanges) -> list[tuple[str, str]]:
    tickets = [(f"/cancelled_ticket/{at}", name) for at, name in enumerate(changes.cancelled_ticket)]
    return tickets + [(f"/no_show/{at}", name) for at, name in enumerate(changes.no_show)]


@dataclass(slots=True)
class ChangedDay:
    """What the words come to."""

    patch: ScenarioPatch = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)
    held: Held | None = None
    """The executed part of the plan as the words correct it; None where no hour was given."""

    def add(self, section: str, changes: Mapping[str, Json | None]) -> None:
        """Add changes of entries by id."""
        known = self.patch.setdefault(section, {})
        for name, change in changes.items():
            known[name] = change if change is None else {**(known.get(name) or {}), **change}


class DayChanger:
    """Turns the words into a patch of one scenario, from what its plan says by an hour.

    Args:
        changes: The words.
        body: The scenario.
        plan: What was planned, and has happened up to the hour.
        until_s: The hour it is; None where none was given.
        planned_on: The date that is planned.
    """

    def __init__(
        self, changes: DayChanges, body: ScenarioBody, plan: Plan, until_s: float | None, planned_on: date
    ) -> None:
        self._changes = changes
        self._body = body
        self._until_s = until_s or 0.0
        self._held = frozen_prefix(plan, until_s) if until_s else None
        self._planned_on = planned_on
        self._agents = {entry["id"]: entry for entry in body["agents"]}
        self._tickets = {entry["id"]: entry for entry in body["tickets"]}
        self._routes = {route.agent_id: route for route in plan.routes}
        self._visits = {v.ticket_id: v for route in plan.routes for v in route.visits if v.ticket_id is not None}
        self._day = ChangedDay()

    def changed(self) -> ChangedDay:
        """Return the patch, with a sentence for each word.

        Raises:
            InputError: Ids that nobody knows, or what cannot have happened by the hour.
        """
        if faults := list(self._faults()):
            raise input_error(faults)
        if self._held is not None:
            corrected = (self._corrected(route) for route in self._held.routes)
            routes = tuple(route for route in corrected if route is not None)
            self._day.held = self._held.model_copy(update={"routes": routes})
        if self._changes.breakdown is not None:
            self._break_down(self._changes.breakdown)
        for name in self._changes.absent:
            for tour in tours_of(name, self._body):
                self._day.add("agents", {tour: {"max_tickets": 0, "locked_tickets": []}})
            self._say(f"{name} is absent: others get its tickets.")
        for name, seconds in self._changes.late_by.items():
            self._delay(name, seconds)
        for written in self._changes.new_ticket:
            fields = {key: value for key, value in written.items() if key != "id"}
            self._day.add("tickets", {written["id"]: fields})
        if self._changes.cancelled_ticket:
            self._cancel(self._changes.cancelled_ticket)
            self._say(f"Cancelled: {named(self._changes.cancelled_ticket)}.")
        if self._changes.no_show:
            names = named(self._changes.no_show)
            self._say(f"Nobody there at {names}: the visit counts as served; new_ticket plans it again.")
            self._keep_on_board(self._changes.no_show)
            self._collect_nothing(self._changes.no_show)
        return self._day

    def _corrected(self, route: HeldRoute) -> HeldRoute | None:
        if self._changes.breakdown and route.agent in tours_of(self._changes.breakdown.agent, self._body):
            if not route.visits:
                return None
            end_s = route.visits[-1].departure_s if route.end_s is None else route.end_s
            return HeldRoute.model_construct(
                agent=route.agent, start_s=route.start_s, visits=route.visits, reloads=route.reloads, end_s=end_s
            )
        visits = [self._left_early(visit) for visit in route.visits]
        changed: dict[str, Any] = {}
        if late_s := self._changes.late_by.get(route.agent):
            if route.next_ticket is not None:
                changed["arrival_s"] = route.arrival_s + late_s
            elif route.end_s is not None:
                changed["end_s"] = route.end_s + late_s
            elif visits:
                last = visits[-1]
                leaves_s = max(last.departure_s, self._until_s) + late_s
                visits[-1] = self._leaving(last, leaves_s)
                if last.ticket is not None:
                    self._say(f"{route.agent} leaves {last.ticket} at {clock(leaves_s)}.")
        return route.model_copy(update={**changed, "visits": tuple(visits)})

    def _left_early(self, visit: HeldVisit) -> HeldVisit:
        if visit.ticket not in self._changes.no_show:
            return visit
        return self._leaving(visit, min(visit.departure_s, max(visit.start_s, self._until_s)))

    def _leaving(self, visit: HeldVisit, departure_s: float) -> HeldVisit:
        """Return a begun visit that ends at another time than planned; its service takes as long from now on."""
        if visit.ticket is not None and visit.ticket in self._tickets:
            self._day.add("tickets", {visit.ticket: {"service_time_s": departure_s - visit.start_s}})
        return visit.model_copy(update={"departure_s": departure_s})

    def _faults(self) -> Iterator[Fault]:
        changes = self._changes
        agents, tickets = _named_agents(changes), _named_tickets(changes)
        yield from unknown_ids(changes, self._body)
        for path, name in agents:
            if path.startswith("/absent") and any(self._has_begun(tour) for tour in tours_of(name, self._body)):
                yield Fault(path, "The agent has set out.", "an agent that has not", "Write breakdown.")
        for name, seconds in changes.late_by.items():
            if not 0 < seconds <= MAX_TIME_S:
                accepted = f"seconds, more than 0 and up to {MAX_TIME_S}"
                yield Fault(pointer(["late_by", name]), "The delay is out of range.", accepted)
            if changes.breakdown is not None and name == changes.breakdown.agent:
                yield Fault(
                    pointer(["late_by", name]), "The agent breaks down.", "an agent that goes on", "Leave it out."
                )
        for path, name in tickets:
            has_begun = self._is_begun(name)
            if path.startswith("/cancelled") and has_begun:
                problem = f"It began at {clock(self._visits[name].start_s)}."
                yield Fault(path, problem, "a ticket that has not begun", "Write no_show.")
            if path.startswith("/no_show") and name in self._tickets and not has_begun:
                problem = "It has not begun by keep_until."
                yield Fault(path, problem, "a ticket that an agent has reached", "Write cancelled_ticket.")
        new = set[str]()
        for at, written in enumerate(changes.new_ticket):
            own_id = written.get("id")
            if not isinstance(own_id, str) or not own_id:
                yield Fault(f"/new_ticket/{at}/id", "The ticket has no id.", "an id of its own", kind="missing")
            elif own_id in self._tickets:
                yield Fault(f"/new_ticket/{at}/id", "A ticket has this id already.", "an id of its own", "Write patch.")
            elif own_id in new:
                yield Fault(f"/new_ticket/{at}/id", "Another new ticket has this id.", "an id of its own")
            else:
                new.add(own_id)

    def _has_begun(self, agent: str) -> bool:
        return agent in self._routes and self._routes[agent].start_s < self._until_s

    def _break_down(self, broken: Breakdown) -> None:
        ahead: list[Visit] = []
        for tour in tours_of(broken.agent, self._body):
            route = self._routes.get(tour)
            visits = [visit for visit in (route.visits if route else ()) if visit.ticket_id is not None]
            done = [visit for visit in visits if visit.start_s < self._until_s]
            ahead += visits[len(done) :]
            ends_s = max([self._until_s, *(visit.departure_s for visit in done[-1:])])
            change: Json = {"shift_end": ends_s, "locked_tickets": []}
            change |= dict.fromkeys(("overtime_s", "overtime_cost_per_hour"))
            if route is None or route.end_s > self._until_s:
                change["end_location"] = None  # it stands where it was last
            if self._seconds(self._agents[tour].get("shift_start")) > ends_s:
                change["shift_start"] = ends_s
            self._day.add("agents", {tour: change})
            if broken.load == "in_vehicle" and ahead:
                place = done[-1].location if done else (route and route.start_location) or ahead[0].location
                self._transfer(broken.agent, visits[len(done) :], str(place))
            elif broken.load == "at_depot":
                self._deliver_from_depot(visits[len(done) :])
        names = [str(visit.ticket_id) for visit in ahead]
        lost = [name for name in names if self._is_delivery(name)] if broken.load == "lost" else []
        self._cancel(lost)
        self._say(f"{broken.agent} broke down at {clock(self._until_s)}, visits ahead: {named(names) or 'none'}.")
        if lost:
            self._say(f"Lost with it, and out of the day: {named(lost)}.")

    def _deliver_from_depot(self, visits: list[Visit]) -> None:
        """Let the goods of shipments on board be had where others load, as all goods of the vehicle are."""
        for name in (str(visit.ticket_id) for visit in visits):
            first = self._tickets.get(name, {}).get("pickup")
            if first is not None and self._is_begun(first):
                self._day.add("tickets", {first: {"kind": "pickup"}, name: {"pickup": None}})

    def _transfer(self, agent: str, visits: list[Visit], place: str) -> None:
        """Let others fetch the goods of some visits from where the vehicle stands."""
        for name in (str(visit.ticket_id) for visit in visits):
            ticket = self._tickets.get(name)
            if ticket is None or ticket.get("kind") == "pickup":
                continue
            first = ticket.get("pickup")
            if first is not None:
                if not self._is_begun(first):
                    continue  # not on board yet
                self._day.add("tickets", {first: {"kind": "pickup"}})
            elif any(other.get("pickup") == name for other in self._tickets.values()):
                continue  # the pickup of a shipment
            fetched = f"{name[:60]} from {agent[:30]}"
            price = {} if ticket.get("penalty") is None else {"penalty": 0}
            amount = {"demand": ticket["demand"]} if "demand" in ticket else {}
            where = {"location": place, "kind": "pickup"}
            self._day.add("tickets", {fetched: {**where, **amount, **price}, name: {"pickup": fetched}})

    def _is_begun(self, name: str) -> bool:
        """Return whether a visit to a ticket has begun by the hour."""
        return name in self._visits and self._visits[name].start_s < self._until_s

    def _keep_on_board(self, names: list[str]) -> None:
        """Model undelivered goods as a pickup at that stop, unless `backhaul` is set."""
        if (self._body.get("options") or {}).get("backhaul"):
            return
        kept = [name for name in names if self._is_delivery(name)]
        for name in kept:
            first = self._tickets[name].get("pickup")
            self._day.add("tickets", {name: {"kind": "pickup"}} if first is None else self._apart(first, name))
        if kept:
            self._say(f"Goods stay on board, unless a new_ticket has as its pickup: {named(kept)}.")

    def _apart(self, first: str, name: str) -> Json:
        """Return the halves of a shipment as two tickets: what the first has brought on board stays there."""
        return {first: {"kind": "pickup"}, name: {"pickup": None, "kind": "pickup", **self._nothing(name)}}

    def _nothing(self, name: str) -> Json:
        """Return the demand of a ticket, where it has one, as one of nothing."""
        demand = self._tickets[name].get("demand")
        nothing = dict.fromkeys(demand, 0) if isinstance(demand, Mapping) else 0
        return {} if demand is None else {"demand": nothing}

    def _collect_nothing(self, names: list[str]) -> None:
        """Let nothing be on board from pickups where nobody was; what was to be delivered of it leaves the day."""
        gone: list[str] = []
        for name in names:
            deliveries = [entry["id"] for entry in self._tickets.values() if entry.get("pickup") == name]
            is_pickup = bool(deliveries) or self._tickets[name].get("kind") == "pickup"
            if not is_pickup or any(map(self._is_begun, deliveries)):
                continue
            self._day.add("tickets", {name: {"kind": "pickup"} | self._nothing(name)})
            gone += deliveries
        if gone:
            self._day.add("tickets", dict.fromkeys(gone))
            self._say(f"Never collected, and out of the day: {named(gone)}.")

    def _is_delivery(self, name: str) -> bool:
        ticket = self._tickets.get(name)
        is_half = any(other.get("pickup") == name for other in self._tickets.values())
        return ticket is not None and ticket.get("kind") != "pickup" and not is_half

    def _delay(self, name: str, seconds: float) -> None:
        if not self._has_begun(name):
            starts_s = self._routes[name].start_s if name in self._routes else 0.0
            starts_s = max(starts_s, self._until_s, self._seconds(self._agents[name].get("shift_start"))) + seconds
            if (ends := self._agents[name].get("shift_end")) is not None:
                starts_s = min(starts_s, self._seconds(ends))
            self._day.add("agents", {name: {"shift_start": starts_s}})
        is_short = seconds < _MINUTE_S
        self._say(f"{name} is {seconds:.0f} s late." if is_short else f"{name} is {seconds / 60:.0f} min late.")

    def _cancel(self, names: list[str]) -> None:
        """Take tickets out of the day, with the other half of a shipment that has not begun."""
        for name in names:
            self._day.add("tickets", {name: None})
            halves = [self._tickets[name].get("pickup")]
            halves += [other["id"] for other in self._tickets.values() if other.get("pickup") == name]
            for half in halves:
                if half is not None and not self._is_begun(half):
                    self._day.add("tickets", {half: None})
                elif half is not None:
                    self._day.add("tickets", {half: {"kind": "pickup"}})

    def _seconds(self, hour: Any) -> float:
        return 0.0 if hour is None else hour_seconds(hour, self._planned_on)

    def _say(self, sentence: str) -> None:
        self._day.sentences.append(sentence)


def with_patch(words: ScenarioPatch, patch: ScenarioPatch) -> ScenarioPatch:
    """Return the patch of the words under that of the caller, which has the last word.

    Raises:
        InputError: The caller's patch replaces a list that the words change by id.
    """
    faults = [
        Fault(f"/patch/{name}", "The list stands beside a word that changes it.", "an object by id")
        for name in words
        if isinstance(patch.get(name), list)
    ]
    if faults:
        raise input_error(faults)
    merged = dict(patch)
    for name, entries in words.items():
        own = patch.get(name) or {}
        if isinstance(own, dict):  # what else it may be is reported with the day
            merged[name] = {**entries, **{id_: _both(entries.get(id_), change) for id_, change in own.items()}}
    return merged


def _both(ours: Json | None, theirs: Any) -> Any:
    return {**ours, **theirs} if isinstance(ours, dict) and isinstance(theirs, dict) else theirs
