"""Published instances as problems, with the rounding and the objective of their set, and the cost the set would name.

Owns the reading of the files listed in an `index.json` (name, set, kind, file, best-known value). One reader a dialect:
VRPLIB sections (`.vrp`), Solomon, Li and Lim, Cordeau. The cost is recomputed here from the bare routes and the raw
numbers of the problem, by code that no engine uses.

Intended departures: Li and Lim's best-known values put the number of vehicles first; distance alone is minimised here,
so gaps below zero are possible. Sets without a fleet limit get one vehicle a ticket.
"""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from planner_mcp.vrp.problem import AgentSpec, Candidate, Feature, Load, Problem, StopKind, TicketSpec

FOREVER: Final = 2**40
"""A time no route reaches."""
_FORBIDDEN: Final = 2**24
"""Length of an arc a set forbids: longer than any sensible plan saves, short enough to add up."""
_WANTED: Final = 2**40
"""Penalty of a ticket that must be served."""

Sections = dict[str, Any]


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
    draft = _READERS[kind](folder / entry["file"])
    return Instance(entry["name"], entry["set"], kind, float(entry["bks"]), draft.published, draft.problem())


def load_all(folder: Path, *, sets: Sequence[str] = (), names: Sequence[str] = ()) -> Iterator[Instance]:
    """Read the instances of some sets (prefixes) and names; all of them when neither is given."""
    for entry in load_index(folder):
        is_of_set = not sets or any(entry["set"].startswith(prefix) for prefix in sets)
        if is_of_set and (not names or entry["name"] in names):
            yield load(folder, entry)


@dataclass(slots=True)
class _Draft:
    """A problem while it is read, in raw units; `problem()` scales it."""

    places: list[tuple[float, float]]
    scale: int
    """Units a unit of distance is cut into."""
    rounding: str
    """`round` to the nearest unit, or `floor` (DIMACS)."""
    published: int
    """Units of cost in one published unit."""
    capacities: list[int]
    depots: list[int]
    """Of vehicles."""
    tickets: list[TicketSpec] = field(default_factory=list)
    shift: tuple[float, float] = (0, FOREVER)
    max_duration: list[float | None] = field(default_factory=list)
    fixed: list[int] = field(default_factory=list)
    per_distance: list[int] = field(default_factory=list)
    reloads: list[tuple[int, ...]] = field(default_factory=list)
    backhaul: bool = False
    features: set[Feature] = field(default_factory=set)

    def matrix(self) -> NDArray[np.int64]:
        points = np.asarray(self.places, dtype=float)
        gaps = points[:, None, :] - points[None, :, :]
        exact = np.hypot(gaps[..., 0], gaps[..., 1]) * self.scale
        rounded = np.floor(exact + 1e-9) if self.rounding == "floor" else np.floor(exact + 0.5)
        matrix: NDArray[np.int64] = rounded.astype(np.int64)
        return matrix

    def problem(self) -> Problem:
        matrix = self.matrix()
        distances = _without_backhaul_starts(matrix, self) if self.backhaul else matrix
        return Problem(
            agents=tuple(self._agent(index) for index in range(len(self.capacities))),
            tickets=tuple(self.tickets),
            locations=tuple(f"L{index}" for index in range(len(self.places))),
            distances=(distances,),
            durations=(matrix,),
            backhaul=self.backhaul,
            features=frozenset(self.features),
            positions=tuple(self.places),
        )

    def _agent(self, index: int) -> AgentSpec:
        limit = self.max_duration[index] if self.max_duration else None
        reloads = self.reloads[index] if self.reloads else ()
        return AgentSpec(
            id=f"V{index + 1}",
            capacity=(self.capacities[index],),
            start=self.depots[index],
            end=self.depots[index],
            shift=(int(self.shift[0] * self.scale), int(min(FOREVER, self.shift[1] * self.scale))),
            fixed_cost=self.fixed[index] if self.fixed else 0,
            distance_cost=self.per_distance[index] if self.per_distance else 1,
            max_duration=None if limit is None else int(limit * self.scale),
            reload_at=reloads,
            max_reloads=len(self.tickets) if reloads else 0,
        )

    def add(self, location: int, demand: int, **more: Any) -> None:
        """Add a ticket; times in raw units."""
        window = more.pop("window", None)
        scaled = {name: round(value * self.scale) for name, value in more.items() if name in ("service", "release")}
        windows = () if window is None else ((int(window[0] * self.scale), int(window[1] * self.scale)),)
        more = {"penalty": _WANTED, **more, **scaled}
        self.tickets.append(TicketSpec(f"T{len(self.tickets) + 1}", location, (demand,), windows=windows, **more))


def _without_backhaul_starts(matrix: NDArray[np.int64], draft: _Draft) -> NDArray[np.int64]:
    """Forbid routes of pickups alone, as the VRPB sets do: no way from the depot to a pickup."""
    changed = matrix.copy()
    pickups = [ticket.location for ticket in draft.tickets if ticket.load is Load.PICKUP]
    for depot in set(draft.depots):
        changed[depot, pickups] = _FORBIDDEN
    return changed


def _sections(path: Path) -> Sections:
    """Return the header fields and sections of a VRPLIB file; a section is a list of rows without their index."""
    found: Sections = {}
    rows: list[list[float]] | None = None
    for line in path.read_text().splitlines():
        words = line.replace(":", " : ").split()
        if not words or words == ["EOF"]:
            continue
        if words[0].endswith("_SECTION"):
            rows = found[words[0].removesuffix("_SECTION")] = []
        elif ":" in words[:2]:
            found[words[0]] = " ".join(words[2:]).strip('"')
        elif rows is not None:
            rows.append([float(word) for word in words])
    return found


def _column(sections: Sections, name: str, count: int, default: float) -> list[float]:
    """Return a section as one number a row, or its header field for all, or the default."""
    if isinstance(rows := sections.get(name), list):
        return [row[1] for row in rows]
    return [float(sections.get(name, default))] * count


def _vrplib(scale: int, rounding: str, published: int = 0) -> Callable[[Path], _Draft]:
    def read(path: Path) -> _Draft:
        sections = _sections(path)
        draft = _fleet(sections, scale, rounding, published or scale)
        _read_tickets(sections, draft)
        _read_skills(sections, draft)
        return draft

    return read


def _fleet(sections: Sections, scale: int, rounding: str, published: int) -> _Draft:
    places = [(row[1], row[2]) for row in sections["NODE_COORD"]]
    depots = _depots(sections)
    count = int(sections.get("VEHICLES", len(places) - len(depots)))
    at = [int(value) - 1 for value in _column(sections, "VEHICLES_DEPOT", count, depots[0] + 1)]
    draft = _Draft(
        places,
        scale,
        rounding,
        published,
        capacities=[int(value) for value in _column(sections, "CAPACITY", count, FOREVER)],
        depots=at,
        backhaul="BACKHAUL" in sections,
    )
    limits = _column(sections, "VEHICLES_MAX_DURATION", count, math.inf)
    draft.max_duration = [None if limit == math.inf else limit for limit in limits]
    # Fixed costs are published in units of cost, which are distance units times their price.
    draft.fixed = [int(value * scale) for value in _column(sections, "VEHICLES_FIXED_COST", count, 0)]
    draft.per_distance = [int(value) for value in _column(sections, "VEHICLES_UNIT_DISTANCE_COST", count, 1)]
    draft.reloads = [tuple(int(v) - 1 for v in row[1:]) for row in sections.get("VEHICLES_RELOAD_DEPOT", [])]
    if "TIME_WINDOW" in sections:
        draft.shift = (sections["TIME_WINDOW"][depots[0]][1], sections["TIME_WINDOW"][depots[0]][2])
    _note_features(draft)
    return draft


def _depots(sections: Sections) -> list[int]:
    """Return the depots; files that name none mean the first node."""
    named = [int(row[0]) - 1 for row in sections.get("DEPOT", [])]
    return [node for node in named if node >= 0] or [0]


def _note_features(draft: _Draft) -> None:
    kinds = set(zip(draft.capacities, draft.fixed, draft.per_distance, strict=True))
    asked = {
        Feature.HETEROGENEOUS: len(kinds) > 1,
        Feature.MULTI_DEPOT: len(set(draft.depots)) > 1,
        Feature.MAX_DURATION: any(limit is not None for limit in draft.max_duration),
        Feature.RELOAD: bool(draft.reloads),
        Feature.BACKHAUL: draft.backhaul,
        Feature.PICKUPS: draft.backhaul,
        Feature.SHIFTS: draft.shift[1] < FOREVER,
    }
    draft.features |= {feature for feature, is_asked in asked.items() if is_asked}


def _read_tickets(sections: Sections, draft: _Draft) -> None:
    nodes = range(len(draft.places))
    demands = _column(sections, "DEMAND", len(nodes), 0)
    services = _column(sections, "SERVICE_TIME", len(nodes), 0)
    releases = _column(sections, "RELEASE_TIME", len(nodes), 0)
    prizes = _column(sections, "PRIZE", len(nodes), math.nan)
    pickups = _column(sections, "BACKHAUL", len(nodes), 0)
    windows = sections.get("TIME_WINDOW")
    homes = {*draft.depots, *_depots(sections)}
    for node in nodes:
        if node in homes:
            continue
        more: dict[str, Any] = {"service": services[node], "release": releases[node]}
        if windows:
            more["window"] = (windows[node][1], windows[node][2])
        if pickups[node]:
            more["load"] = Load.PICKUP
        if not math.isnan(prizes[node]):
            more |= {"penalty": int(prizes[node] * draft.scale), "is_priced": True}
        draft.add(node, int(pickups[node] or demands[node]), **more)
    asked = {Feature.TIME_WINDOWS: windows, Feature.RELEASE: any(releases), Feature.OPTIONAL: "PRIZE" in sections}
    draft.features |= {feature for feature, is_asked in asked.items() if is_asked}


def _read_skills(sections: Sections, draft: _Draft) -> None:
    """Restrict tickets to the vehicles whose list of clients names their node."""
    if "VEHICLES_ALLOWED_CLIENTS" not in sections:
        return
    welcome: list[set[int]] = [{int(node) - 1 for node in row[1:]} for row in sections["VEHICLES_ALLOWED_CLIENTS"]]
    tickets = []
    for ticket in draft.tickets:
        agents = frozenset(agent for agent, nodes in enumerate(welcome) if ticket.location in nodes)
        tickets.append(TicketSpec(**{**_fields(ticket), "agents": agents}))
    draft.tickets = tickets
    draft.features.add(Feature.SKILLS)


def _fields(ticket: TicketSpec) -> dict[str, Any]:
    return {name: getattr(ticket, name) for name in TicketSpec.__dataclass_fields__}


def _solomon(path: Path) -> _Draft:
    lines = [line.split() for line in path.read_text().splitlines()]
    numbers = [[float(word) for word in words] for words in lines if words and words[0].lstrip("-").isdigit()]
    (vehicles, capacity), rows = numbers[0], numbers[1:]
    draft = _Draft(
        [(row[1], row[2]) for row in rows],
        scale=10,
        rounding="floor",
        published=10,
        capacities=[int(capacity)] * int(vehicles),
        depots=[0] * int(vehicles),
        shift=(rows[0][4], rows[0][5]),
        features={Feature.TIME_WINDOWS, Feature.SHIFTS},
    )
    for node, row in enumerate(rows[1:], 1):
        draft.add(node, int(row[3]), window=(row[4], row[5]), service=row[6])
    return draft


def _li_lim(path: Path) -> _Draft:
    numbers = [[float(word) for word in line.split()] for line in path.read_text().splitlines() if line.split()]
    (vehicles, capacity, _), rows = numbers[0], numbers[1:]
    draft = _Draft(
        [(row[1], row[2]) for row in rows],
        scale=1000,
        rounding="round",
        published=1000,
        capacities=[int(capacity)] * int(vehicles),
        depots=[0] * int(vehicles),
        shift=(rows[0][4], rows[0][5]),
        features={Feature.TIME_WINDOWS, Feature.SHIFTS, Feature.SHIPMENTS},
    )
    for node, row in enumerate(rows[1:], 1):
        pickup = int(row[7])  # column 7 names the pickup of a delivery, column 8 the delivery of a pickup
        load, other = (Load.DELIVERY, pickup - 1) if pickup else (Load.PICKUP, None)
        draft.add(node, abs(int(row[3])), window=(row[4], row[5]), service=row[6], load=load, pickup=other)
    return draft


def _cordeau(path: Path) -> _Draft:
    numbers = [[float(word) for word in line.split()] for line in path.read_text().splitlines() if line.split()]
    (_, vehicles, clients, depots), rows = (int(value) for value in numbers[0]), numbers[1:]
    limits, nodes = rows[:depots], rows[depots : depots + clients + depots]
    fleet = [depot for depot in range(depots) for _ in range(vehicles)]
    draft = _Draft(
        [(row[1], row[2]) for row in nodes],
        scale=1000,
        rounding="round",
        published=1000,
        capacities=[int(limits[depot][1]) for depot in fleet],
        depots=[clients + depot for depot in fleet],
        max_duration=[limits[depot][0] or None for depot in fleet],
        features={Feature.MULTI_DEPOT},
    )
    for node, row in enumerate(nodes[:clients]):
        draft.add(node, int(row[4]), service=row[3])
    _note_cordeau(draft)
    return draft


def _note_cordeau(draft: _Draft) -> None:
    if any(limit is not None for limit in draft.max_duration):
        draft.features.add(Feature.MAX_DURATION)


_READERS: Final[dict[str, Callable[[Path], _Draft]]] = {
    "cvrp": _vrplib(1, "round"),
    "vrptw": _solomon,
    "pdptw": _li_lim,
    "mdvrp": _cordeau,
    "hfvrp": _vrplib(1000, "round", 100_000),
    "mdvrptw": _vrplib(1000, "round", 1),
    "sdvrptw": _vrplib(1000, "round", 1),
    "vrpb": _vrplib(1, "round"),
    "pcvrptw": _vrplib(10, "floor", 1),
    "mtvrptwr": _vrplib(10, "floor", 1),
}
