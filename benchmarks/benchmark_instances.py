"""Published instances as problems, with the rounding and the objective of their set, and the cost the set would name.

Owns the files listed in an `index.json` (name, set, kind, file, best-known value) and the rules of their sets; the
texts are read by `planner_mcp/formats/instances`, and Cordeau's, which the product does not take, here. The cost is
recomputed from the bare routes and the raw numbers of the problem, by code that no engine uses.

Intended departures: Li and Lim's best-known values put the number of vehicles first; distance alone is minimised here,
so gaps below zero are possible. Sets without a fleet limit get one vehicle per ticket.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from planner_mcp.formats.instances.numeric_lines import FaultCollector, word_lines
from planner_mcp.formats.instances.published_instance import InstanceVisit, PublishedInstance, Vehicle
from planner_mcp.formats.instances.solomon_li_lim import read_li_lim, read_solomon
from planner_mcp.formats.instances.vrplib_format import read_vrplib
from planner_mcp.routing.problem import AgentSpec, Candidate, Feature, LoadKind, Problem, StopKind, TicketSpec

FOREVER: Final = 2**40
"""A time no route reaches."""
_FORBIDDEN: Final = 2**24
"""Length of an arc a set forbids: longer than any sensible plan saves, short enough to add up."""
_WANTED: Final = 2**40
"""Penalty of a ticket that must be served."""
_MAX_NODES: Final = 50_000


@dataclass(frozen=True, slots=True)
class Instance:
    """One instance and what is known about it."""

    name: str
    set: str
    kind: str
    best_known: float
    """In the units the set publishes."""
    scale: int
    """Units of the problem in one unit of `best_known`."""
    problem: Problem

    def cost(self, candidate: Candidate) -> float:
        """Return the objective of the set, in its units, recomputed from the routes alone."""
        return objective(self.problem, candidate) / self.scale

    def gap(self, candidate: Candidate) -> float:
        """Return how far the cost is above the best known, in percent."""
        return 100 * (self.cost(candidate) / self.best_known - 1)


def objective(problem: Problem, candidate: Candidate) -> int:
    """Return distance and fixed costs of the routes and penalties of unserved tickets, in units of the problem."""
    left = set(range(len(problem.tickets)))
    total = 0
    for route in candidate.routes:
        agent = problem.agents[route.agent]
        tickets = [stop.index for stop in route.stops if stop.kind is StopKind.TICKET]
        if not tickets:
            continue
        left.difference_update(tickets)
        inner = [problem.tickets[s.index].location if s.kind is StopKind.TICKET else s.index for s in route.stops]
        places = [place for place in (agent.start, *inner, agent.end) if place is not None]
        length = int(problem.distances[agent.profile][places[:-1], places[1:]].sum())
        total += agent.fixed_cost + agent.distance_cost * length
    return total + sum(problem.tickets[ticket].penalty for ticket in left)


def load_index(folder: Path) -> list[dict[str, Any]]:
    """Return the entries of `index.json` in a folder of instances."""
    entries: list[dict[str, Any]] = json.loads((folder / "index.json").read_text())
    return entries


def load(folder: Path, entry: dict[str, Any]) -> Instance:
    """Read one instance of an index."""
    kind = entry["kind"]
    rule = _RULES[kind]
    published = rule.read((folder / entry["file"]).read_bytes(), max_nodes=_MAX_NODES)
    return Instance(entry["name"], entry["set"], kind, float(entry["bks"]), rule.published, problem_of(published, rule))


def load_all(folder: Path, *, sets: Sequence[str] = (), names: Sequence[str] = ()) -> Iterator[Instance]:
    """Read the instances of some sets (prefixes) and names; all of them when neither is given."""
    for entry in load_index(folder):
        is_of_set = not sets or any(entry["set"].startswith(prefix) for prefix in sets)
        if is_of_set and (not names or entry["name"] in names):
            yield load(folder, entry)


class Read(Protocol):
    """Reads the text of an instance."""

    def __call__(self, data: bytes, /, *, max_nodes: int) -> PublishedInstance:
        """Return what it says."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How the instances of a kind are read and rounded."""

    read: Read
    scale: int
    """Units a unit of distance is cut into."""
    rounding: str
    """`round` to the nearest unit, or `floor` (DIMACS)."""
    published: int
    """Units of cost in one published unit."""


def problem_of(published: PublishedInstance, rule: Rule) -> Problem:
    """Return an instance as the integers engines read, by the rule of its set."""
    matrix = _matrix(published, rule)
    return Problem(
        agents=tuple(_agent(published, rule, index) for index in range(len(published.vehicles))),
        tickets=tuple(_ticket(visit, rule, number) for number, visit in enumerate(published.visits, 1)),
        locations=tuple(f"L{index}" for index in range(len(published.nodes))),
        distances=(_without_backhaul_starts(matrix, published) if published.backhaul else matrix,),
        durations=(matrix,),
        backhaul=published.backhaul,
        features=_features(published),
        positions=published.places,
    )


def _matrix(published: PublishedInstance, rule: Rule) -> NDArray[np.int64]:
    if published.table is not None:
        exact = np.asarray(published.table, dtype=float) * rule.scale
    else:
        points = np.asarray(published.places, dtype=float)
        gaps = points[:, None, :] - points[None, :, :]
        exact = np.hypot(gaps[..., 0], gaps[..., 1]) * rule.scale
    rounded = np.floor(exact + 1e-9) if rule.rounding == "floor" else np.floor(exact + 0.5)
    matrix: NDArray[np.int64] = rounded.astype(np.int64)
    return matrix


def _without_backhaul_starts(matrix: NDArray[np.int64], published: PublishedInstance) -> NDArray[np.int64]:
    """Forbid routes of pickups alone, as the VRPB sets do: no way from the depot to a pickup."""
    changed = matrix.copy()
    pickups = [visit.node for visit in published.visits if visit.is_pickup]
    for depot in {vehicle.depot for vehicle in published.vehicles}:
        changed[depot, pickups] = _FORBIDDEN
    return changed


def _agent(published: PublishedInstance, rule: Rule, index: int) -> AgentSpec:
    vehicle = published.vehicles[index]
    shift = published.shift or (0, FOREVER)
    return AgentSpec(
        id=f"V{index + 1}",
        capacity=(FOREVER if vehicle.capacity is None else int(vehicle.capacity),),
        start=vehicle.depot,
        end=vehicle.depot,
        shift=(int(shift[0] * rule.scale), int(min(FOREVER, shift[1] * rule.scale))),
        # Fixed costs are published in units of cost, which are distance units times their price.
        fixed_cost=int(vehicle.fixed_cost * rule.scale),
        distance_cost=int(vehicle.distance_cost),
        max_duration=None if vehicle.max_duration is None else int(vehicle.max_duration * rule.scale),
        reload_at=vehicle.reloads,
        max_reloads=len(published.visits) if vehicle.reloads else 0,
    )


def _ticket(visit: InstanceVisit, rule: Rule, number: int) -> TicketSpec:
    window = visit.window
    return TicketSpec(
        id=f"T{number}",
        location=visit.node,
        demand=(int(visit.demand),),
        load=LoadKind.PICKUP if visit.is_pickup else LoadKind.DELIVERY,
        windows=() if window is None else ((int(window[0] * rule.scale), int(window[1] * rule.scale)),),
        service=round(visit.service * rule.scale),
        release=round(visit.release * rule.scale),
        penalty=_WANTED if visit.prize is None else int(visit.prize * rule.scale),
        is_priced=visit.prize is not None,
        agents=visit.vehicles,
        pickup=visit.pickup,
    )


def _features(published: PublishedInstance) -> frozenset[Feature]:
    vehicles, visits = published.vehicles, published.visits
    asked = {
        Feature.HETEROGENEOUS: len({_kind(vehicle) for vehicle in vehicles}) > 1,
        Feature.MULTI_DEPOT: len({vehicle.depot for vehicle in vehicles}) > 1,
        Feature.MAX_DURATION: any(vehicle.max_duration is not None for vehicle in vehicles),
        Feature.RELOAD: any(vehicle.reloads for vehicle in vehicles),
        Feature.BACKHAUL: published.backhaul,
        Feature.PICKUPS: published.backhaul,
        Feature.SHIFTS: published.shift is not None,
        Feature.TIME_WINDOWS: any(visit.window is not None for visit in visits),
        Feature.RELEASE: any(visit.release for visit in visits),
        Feature.OPTIONAL: any(visit.prize is not None for visit in visits),
        Feature.SHIPMENTS: any(visit.pickup is not None for visit in visits),
        Feature.SKILLS: any(visit.vehicles is not None for visit in visits),
    }
    return frozenset(feature for feature, is_asked in asked.items() if is_asked)


def _kind(vehicle: Vehicle) -> tuple[float | None, float, float]:
    return vehicle.capacity, vehicle.fixed_cost, vehicle.distance_cost


def read_cordeau(data: bytes, *, max_nodes: int) -> PublishedInstance:
    """Return an instance of Cordeau with several depots.

    Raises:
        TooLargeError: It has more bytes, nodes or vehicles than allowed.
        InputError: All that is wrong with it, by line.
    """
    collector, lines = FaultCollector(), word_lines(data)
    (line, first), *rows = [(number, collector.row(number, words)) for number, words in lines]
    if len(first) != 4 or first[0] != 2:
        raise collector.stop(line, "The first line is none of several depots.", "2, vehicles, customers, depots")
    vehicles, clients, depots = (collector.count(line, number, most=max_nodes) for number in first[1:])
    limits, nodes = rows[:depots], rows[depots : depots + clients + depots]
    if len(nodes) != clients + depots:
        raise collector.stop(lines[-1][0], f"There are {len(rows)} rows.", f"{clients + 2 * depots} rows")
    for part, width in ((limits, 2), (nodes, 5)):
        for number, row in part:
            if len(row) < width:
                raise collector.stop(number, f"The row has {len(row)} numbers.", f"{width} numbers or more")
    collector.check_least(limits, ((0, "limit of duration"), (1, "capacity")))
    collector.check_least(nodes, ((3, "service time"), (4, "demand")))
    collector.settle()
    fleet = [
        Vehicle(clients + depot, limit[1], limit[0] or None)
        for depot, (_, limit) in enumerate(limits)
        for _ in range(vehicles)
    ]
    visits = [InstanceVisit(node, row[4], row[3]) for node, (_, row) in enumerate(nodes[:clients])]
    return PublishedInstance(
        name="",
        nodes=tuple(f"{row[0]:g}" for _, row in nodes),
        places=tuple((row[1], row[2]) for _, row in nodes),
        vehicles=tuple(fleet),
        visits=tuple(visits),
        decimals=3,
    )


_RULES: Final = {
    "cvrp": Rule(read_vrplib, 1, "round", 1),
    "vrptw": Rule(read_solomon, 10, "floor", 10),
    "pdptw": Rule(read_li_lim, 1000, "round", 1000),
    "mdvrp": Rule(read_cordeau, 1000, "round", 1000),
    "hfvrp": Rule(read_vrplib, 1000, "round", 100_000),
    "mdvrptw": Rule(read_vrplib, 1000, "round", 1),
    "sdvrptw": Rule(read_vrplib, 1000, "round", 1),
    "vrpb": Rule(read_vrplib, 1, "round", 1),
    "pcvrptw": Rule(read_vrplib, 10, "floor", 1),
    "mtvrptwr": Rule(read_vrplib, 10, "floor", 1),
}
"""By kind of an index. What a file itself says of rounding stands behind the rule of its set."""
