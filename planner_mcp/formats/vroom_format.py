"""A problem in VROOM's JSON as a scenario (SPEC T5).

Owns what each of its words is here. Ids become text, `[lon, lat]` a location, priorities 0…100 our 1…9, amounts the
dimensions `d1`, `d2` …; times may be seconds of the day or of the epoch. What this model lacks (a job that delivers and
picks up at once, several windows of a break, a limit on travel time alone) is refused by its place, not passed over,
and so is any word that is not known: it may be a slip, or of a later VROOM.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Final, TypeVar

from planner_mcp.errors import Fault, input_error
from planner_mcp.formats.instances.numeric_lines import FaultCollector
from planner_mcp.routing.scenario.scenario_body import ScenarioBody
from planner_mcp.routing.scenario.schema_faults import pointer
from planner_mcp.text import Json

_EPOCH_S: Final = 100_000_000
"""Times from here on are counted from 1970."""
_OURS: Final = "It looks like a scenario: create_scenario, or solve and validate of the command line, take it as it is."
_LABELS: Final = frozenset({"id", "description"})
_STOP: Final = frozenset(
    {"location", "location_index", "setup", "service", "setup_per_type", "service_per_type", "time_windows"}
)
_KNOWN: Final[Mapping[str, frozenset[str]]] = {
    "problem": frozenset({"vehicles", "jobs", "shipments", "matrices", "options"}),
    "vehicle": frozenset(
        {
            *("start", "start_index", "end", "end_index", "capacity", "skills", "type", "time_window", "breaks"),
            *("costs", "speed_factor", "max_tasks", "max_distance"),
        }
    ),
    "costs": frozenset({"fixed", "per_hour", "per_km"}),
    "break": frozenset({"time_windows", "service"}),
    "job": _STOP | {"delivery", "pickup", "amount", "skills", "priority"},
    "shipment": frozenset({"pickup", "delivery", "amount", "skills", "priority"}),
    "step": _STOP,
}
"""Words of each part, beside its labels. `options` say how to search; indexes are of matrices, which are refused."""
_AS_IF_ABSENT: Final[Mapping[str, Any]] = {"profile": "car", "per_task_hour": 0, "steps": []}
"""What other words may say all the same."""
_BROKEN: Final = (ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError, RecursionError)
"""What reading raises where a word is missing, or has a value of another kind."""
_Part = TypeVar("_Part")


def is_vroom(parsed: Any) -> bool:
    """Return whether a JSON value looks like a problem of VROOM."""
    return isinstance(parsed, dict) and "vehicles" in parsed and bool({"jobs", "shipments"} & parsed.keys())


def read_vroom(parsed: Any, *, name: str, planning_date: str) -> ScenarioBody:
    """Return the scenario of a problem.

    Raises:
        InputError: It is no such problem, or has what this model lacks.
    """
    try:
        reader = _Reader(_midnight(planning_date))
        body = reader.scenario(parsed) if is_vroom(parsed) else None
    except _BROKEN:
        body = None
    if body is None:
        hint = _OURS if isinstance(parsed, dict) and {"agents", "tickets"} <= parsed.keys() else ""
        raise input_error([Fault("", "The file is not a problem of VROOM.", "vehicles, and jobs or shipments", hint)])
    reader.collector.settle()
    return {"name": name, "planning_date": planning_date, **body}


def assumed(body: ScenarioBody) -> list[str]:
    """Return what words of VROOM mean something else in the scenario they became, where it has any such."""
    notices = []
    if any(agent.get("cost_per_hour") for agent in body.get("agents", ())):
        notices.append("An hour is paid while waiting and serving too; VROOM's per_hour pays driving alone.")
    if any(ticket.get("setup_time_s") and ticket.get("time_windows") for ticket in body.get("tickets", ())):
        notices.append(
            "A time window holds for the start of service, after setup; VROOM's holds for the start of setup."
        )
    return notices


def _midnight(planning_date: str) -> float:
    """Return the seconds since 1970 at which the day begins; what is no date is reported with the scenario."""
    try:
        day = date.fromisoformat(planning_date)
    except ValueError:
        return 0.0
    return datetime.combine(day, datetime.min.time(), UTC).timestamp()


@dataclass(slots=True)
class _Reader:
    midnight: float
    collector: FaultCollector = field(default_factory=FaultCollector)
    places: dict[tuple[float, float], str] = field(default_factory=dict)
    types: set[str] = field(default_factory=set)
    """Of the vehicles; empty for one that names none."""

    def scenario(self, parsed: Json) -> ScenarioBody:
        """Return agents, tickets, locations and travel."""
        self._check_fields("problem", parsed, "")
        agents = list(self._parts("/vehicles", parsed["vehicles"], self._agent))
        tickets = list(self._parts("/jobs", parsed.get("jobs") or (), self._job))
        for pair in self._parts("/shipments", parsed.get("shipments") or (), self._shipment):
            tickets += pair
        body: ScenarioBody = {"agents": agents, "tickets": tickets, "travel": {}}
        body["locations"] = [{"id": name, "lat": lat, "lon": lon} for (lon, lat), name in self.places.items()]
        if parsed.get("matrices"):
            self._lacks("/matrices", "Matrices are named by places here.", "Upload them to /matrices.")
        return {part: value for part, value in body.items() if value}

    def _parts(self, place: str, parts: Any, read: Callable[[str, Json], _Part]) -> Iterator[_Part]:
        """Yield what becomes of each part of a list that can be read."""
        for number, part in enumerate(parts):
            with self._reading(f"{place}/{number}"):
                yield read(f"{place}/{number}", part)

    @contextmanager
    def _reading(self, path: str) -> Iterator[None]:
        """Report what cannot be read in the block at the place it stands for, and go on behind it."""
        try:
            yield
        except _BROKEN as error:
            fault = Fault(path, "A value is not of the right kind.", "numbers, [lon, lat], [from, to] in seconds")
            if isinstance(error, KeyError) and isinstance(error.args[0], str):  # a word this reader asked for
                fault = Fault(path, f"A word is missing: {error.args[0]}.", "", "Add it.", "missing")
            self.collector.keep(fault)

    def _lacks(self, path: str, problem: str, hint: str = "Remove it.") -> None:
        self.collector.keep(Fault(path, problem, "", hint, "logic"))

    def _check_fields(self, part: str, parsed: Json, path: str) -> None:
        """Refuse what is neither a word of a part nor as good as absent."""
        for name, value in parsed.items():
            is_idle = value is None or (name in _AS_IF_ABSENT and value == _AS_IF_ABSENT[name])
            if name not in _KNOWN[part] and name not in _LABELS and not is_idle:
                self._lacks(f"{path}{pointer((name,))}", "This is not known here.")

    def _place(self, spot: Any, path: str) -> str:
        if spot is None:
            self._lacks(path, "There is no [lon, lat].", "Add it; indexes into matrices are not read.")
            return "?"
        lon = lat = math.nan
        with self._reading(path):
            lon, lat = float(spot[0]), float(spot[1])
        return self.places.setdefault((round(lon, 6), round(lat, 6)), f"{lat:.6f},{lon:.6f}")

    def _time(self, value: float) -> float:
        return value - self.midnight if value >= _EPOCH_S else value

    def _agent(self, path: str, vehicle: Json) -> Json:
        self._check_fields("vehicle", vehicle, path)
        self.types.add(vehicle.get("type", ""))
        agent: Json = {"id": self._id(vehicle, path), "capacity": _amounts(vehicle.get("capacity")) or {"d1": 0}}
        for end in ("start", "end"):
            is_there = {end, f"{end}_index"} & vehicle.keys()
            agent[f"{end}_location"] = self._place(vehicle.get(end), f"{path}/{end}") if is_there else None
        if (window := vehicle.get("time_window")) is not None:
            with self._reading(f"{path}/time_window"):
                agent |= {"shift_start": self._time(window[0]), "shift_end": self._time(window[1])}
        agent["breaks"] = list(self._parts(f"{path}/breaks", vehicle.get("breaks", ()), self._break))
        costs = vehicle.get("costs") or {}
        self._check_fields("costs", costs, f"{path}/costs")
        agent["fixed_cost"] = costs.get("fixed", 0)
        agent["cost_per_hour"] = costs.get("per_hour", 3600)
        agent["cost_per_km"] = costs.get("per_km", 0)
        for ours, theirs in (("max_tickets", "max_tasks"), ("max_distance_m", "max_distance"), ("name", "description")):
            if theirs in vehicle:
                agent[ours] = vehicle[theirs]
        agent["speed_factor"] = vehicle.get("speed_factor", 1)
        agent["skills"] = [str(skill) for skill in vehicle.get("skills", ())]
        return agent

    def _break(self, path: str, break_spec: Json) -> Json:
        self._check_fields("break", break_spec, path)
        windows = break_spec.get("time_windows") or [[0, 47 * 3600]]
        if len(windows) > 1:
            self._lacks(f"{path}/time_windows", "A break has one window here.", "Choose one.")
        opens, closes = windows[0]
        return {"earliest": self._time(opens), "latest": self._time(closes), "duration_s": break_spec.get("service", 0)}

    def _job(self, path: str, job: Json) -> Json:
        self._check_fields("job", job, path)
        delivery, pickup = _amounts(job.get("delivery", job.get("amount"))), _amounts(job.get("pickup"))
        if any(delivery.values()) and any(pickup.values()):
            self._lacks(path, "A ticket delivers or picks up, not both.", "Make it two jobs.")
        kind = {"kind": "pickup"} if any(pickup.values()) else {}
        return {
            **self._stop(self._id(job, path), job, self._asked(job, path), path),
            "demand": pickup if kind else delivery or {"d1": 0},
            **kind,
        }

    def _shipment(self, path: str, shipment: Json) -> list[Json]:
        self._check_fields("shipment", shipment, path)
        amount, asked = _amounts(shipment.get("amount")) or {"d1": 0}, self._asked(shipment, path)
        first, second = (self._half(half, shipment[half], asked, path) for half in ("pickup", "delivery"))
        return [first | {"demand": amount, "kind": "pickup"}, second | {"demand": amount, "pickup": first.get("id")}]

    def _half(self, half: str, step: Json, asked: Json, path: str) -> Json:
        """Return the pickup or the delivery of a shipment; nothing of one that cannot be read."""
        ticket: Json = {}
        with self._reading(f"{path}/{half}"):
            self._check_fields("step", step, f"{path}/{half}")
            ticket |= self._stop(f"{half} {self._id(step, f'{path}/{half}')}", step, asked, f"{path}/{half}")
        return ticket

    def _asked(self, whole: Json, path: str) -> Json:
        """Return what a job, or a shipment for both its halves, asks for."""
        asked: Json = {"skills": [str(skill) for skill in whole.get("skills", ())]}
        with self._reading(f"{path}/priority"):
            asked["priority"] = 1 + round(min(100, max(0, whole.get("priority", 0))) * 8 / 100)
        return asked

    def _stop(self, name: str, stop: Json, asked: Json, path: str) -> Json:
        ticket: Json = {"id": name, "location": self._place(stop.get("location"), f"{path}/location")}
        ticket["service_time_s"] = self._duration(stop, "service", path)
        ticket["setup_time_s"] = self._duration(stop, "setup", path)
        with self._reading(f"{path}/time_windows"):
            ticket["time_windows"] = [[self._time(a), self._time(b)] for a, b in stop.get("time_windows", ())]
        return ticket | asked | ({"name": str(stop["description"])} if stop.get("description") else {})

    def _id(self, part: Json, path: str) -> str:
        value = part["id"]
        if isinstance(value, bool) or not isinstance(value, int | str):
            self.collector.keep(Fault(f"{path}/id", "This is no id.", "a whole number or text"))
        return str(value)

    def _duration(self, stop: Json, name: str, path: str) -> Any:
        """Return how long a stop takes, which may hang on the type of the vehicle."""
        usual, by_type = stop.get(name, 0), stop.get(f"{name}_per_type") or {}
        times = {by_type.get(kind, usual) for kind in self.types} if by_type else {usual}
        if len(times) > 1:
            problem = "A ticket takes the same time for every agent here."
            self._lacks(f"{path}/{name}_per_type", problem, "Give all vehicles one type, or one time.")
        return times.pop() if times else usual


def _amounts(values: Any) -> dict[str, float]:
    return {f"d{number}": value for number, value in enumerate(values or (), start=1)}
