"""A problem in VROOM's JSON as a scenario (SPEC T5).

Owns what each of its words is here. Ids become text, `[lon, lat]` a location, priorities 0…100 our 1…9, amounts the
dimensions `d1`, `d2` …; times may be seconds of the day or of the epoch. What this model lacks (a job that delivers and
picks up at once, several windows of a break, a limit on travel time alone) is refused by its place, not passed over.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Final

from planner_mcp.errors import Fault, TooLargeError, input_error
from planner_mcp.files.tables import MAX_BYTES

Json = dict[str, Any]
_EPOCH_S: Final = 100_000_000
"""Times from here on are counted from 1970."""
_LACKING: Final = {"max_travel_time": "vehicles", "steps": "vehicles", "profile": "vehicles"}


def is_vroom(told: Any) -> bool:
    """Return whether a JSON value looks like a problem of VROOM."""
    return isinstance(told, dict) and "vehicles" in told and bool({"jobs", "shipments"} & told.keys())


def read_vroom(data: bytes, *, name: str, planning_date: str) -> Json:
    """Return the scenario of a problem.

    Raises:
        TooLargeError: It has more bytes than allowed.
        InputError: It is no such problem, or has what this model lacks.
    """
    if len(data) > MAX_BYTES:
        raise TooLargeError(f"The file is larger than {MAX_BYTES} bytes.")
    try:
        told = json.loads(data)
        reader = _Reader(_midnight(planning_date))
        body = reader.scenario(told) if is_vroom(told) else None
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError, RecursionError):
        body = None
    if body is None:
        raise input_error([Fault("", "The file is no problem of VROOM.", "vehicles, and jobs or shipments")])
    if reader.faults:
        raise input_error(reader.faults[:50])
    return {"name": name, "planning_date": planning_date, **body}


def _midnight(planning_date: str) -> float:
    """Return the seconds since 1970 at which the day begins; what is no date is told with the scenario."""
    try:
        day = date.fromisoformat(planning_date)
    except ValueError:
        return 0.0
    return datetime.combine(day, datetime.min.time(), UTC).timestamp()


@dataclass(slots=True)
class _Reader:
    midnight: float
    faults: list[Fault] = field(default_factory=list)
    places: dict[tuple[float, float], str] = field(default_factory=dict)

    def scenario(self, told: Json) -> Json:
        """Return agents, tickets, locations and travel."""
        agents = [self._agent(number, vehicle) for number, vehicle in enumerate(told["vehicles"])]
        tickets = [self._job(number, job) for number, job in enumerate(told.get("jobs") or ())]
        for number, shipment in enumerate(told.get("shipments") or ()):
            tickets += self._shipment(number, shipment)
        body: Json = {"agents": agents, "tickets": tickets, "travel": {}}
        body["locations"] = [{"id": name, "lat": lat, "lon": lon} for (lon, lat), name in self.places.items()]
        if told.get("matrices"):
            self._lacks("/matrices", "Matrices are named by places here.", "Upload them to /matrices.")
        return {part: value for part, value in body.items() if value}

    def _lacks(self, path: str, problem: str, hint: str = "Remove it.") -> None:
        self.faults.append(Fault(path, problem, "", hint, "logic"))

    def _place(self, spot: Any, path: str) -> str:
        if spot is None:
            self._lacks(path, "There is no [lon, lat].", "Add it; indexes into matrices are not read.")
            return "?"
        lon, lat = float(spot[0]), float(spot[1])
        return self.places.setdefault((round(lon, 6), round(lat, 6)), f"{lat:.6f},{lon:.6f}")

    def _time(self, value: float) -> float:
        return value - self.midnight if value >= _EPOCH_S else value

    def _agent(self, number: int, vehicle: Json) -> Json:
        path = f"/vehicles/{number}"
        for name in _LACKING.keys() & vehicle.keys():
            if name != "profile" or vehicle[name] != "car":
                self._lacks(f"{path}/{name}", "This is not known here.")
        agent: Json = {"id": str(vehicle["id"]), "capacity": _amounts(vehicle.get("capacity")) or {"d1": 0}}
        agent["start_location"] = self._place(vehicle["start"], f"{path}/start") if "start" in vehicle else None
        agent["end_location"] = self._place(vehicle["end"], f"{path}/end") if "end" in vehicle else None
        if (window := vehicle.get("time_window")) is not None:
            agent |= {"shift_start": self._time(window[0]), "shift_end": self._time(window[1])}
        agent["breaks"] = [
            self._break(f"{path}/breaks/{at}", rest) for at, rest in enumerate(vehicle.get("breaks", ()))
        ]
        costs = vehicle.get("costs") or {}
        agent["fixed_cost"] = costs.get("fixed", 0)
        agent["cost_per_hour"] = costs.get("per_hour", 3600)
        agent["cost_per_km"] = costs.get("per_km", 0)
        for ours, theirs in (("max_tickets", "max_tasks"), ("max_distance_m", "max_distance"), ("name", "description")):
            if theirs in vehicle:
                agent[ours] = vehicle[theirs]
        agent["speed_factor"] = vehicle.get("speed_factor", 1)
        agent["skills"] = [str(skill) for skill in vehicle.get("skills", ())]
        return agent

    def _break(self, path: str, rest: Json) -> Json:
        windows = rest.get("time_windows") or [[0, 47 * 3600]]
        if len(windows) > 1:
            self._lacks(f"{path}/time_windows", "A break has one window here.", "Choose one.")
        opens, closes = windows[0]
        return {"earliest": self._time(opens), "latest": self._time(closes), "duration_s": rest.get("service", 0)}

    def _job(self, number: int, job: Json) -> Json:
        path = f"/jobs/{number}"
        delivery, pickup = _amounts(job.get("delivery", job.get("amount"))), _amounts(job.get("pickup"))
        if any(delivery.values()) and any(pickup.values()):
            self._lacks(path, "A ticket delivers or picks up, not both.", "Make it two jobs.")
        kind = {"kind": "pickup"} if any(pickup.values()) else {}
        return {
            **self._stop(str(job["id"]), job, job, path),
            "demand": pickup if kind else delivery or {"d1": 0},
            **kind,
        }

    def _shipment(self, number: int, shipment: Json) -> list[Json]:
        path, amount = f"/shipments/{number}", _amounts(shipment.get("amount")) or {"d1": 0}
        pickup, delivery = shipment["pickup"], shipment["delivery"]
        names = f"pickup {pickup['id']}", f"delivery {delivery['id']}"
        first = self._stop(names[0], pickup, shipment, f"{path}/pickup")
        second = self._stop(names[1], delivery, shipment, f"{path}/delivery")
        return [first | {"demand": amount, "kind": "pickup"}, second | {"demand": amount, "pickup": names[0]}]

    def _stop(self, name: str, stop: Json, whole: Json, path: str) -> Json:
        ticket: Json = {"id": name, "location": self._place(stop.get("location"), f"{path}/location")}
        ticket["service_time_s"] = stop.get("service", 0)
        ticket["setup_time_s"] = stop.get("setup", 0)
        ticket["time_windows"] = [[self._time(a), self._time(b)] for a, b in stop.get("time_windows", ())]
        ticket["skills"] = [str(skill) for skill in whole.get("skills", ())]
        ticket["priority"] = 1 + round(min(100, max(0, whole.get("priority", 0))) * 8 / 100)
        return ticket | ({"name": str(stop["description"])} if stop.get("description") else {})


def _amounts(values: Any) -> dict[str, float]:
    return dict(_numbered(values or ()))


def _numbered(values: Any) -> Iterator[tuple[str, float]]:
    for number, value in enumerate(values, start=1):
        yield f"d{number}", value
