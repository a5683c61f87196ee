"""Instances in VRPLIB's form (`.vrp`): TSPLIB's CVRP as CVRPLIB has it, and the sections others added to it.

Owns header fields, sections, and what is refused: kinds of lengths, sections and fields of the fleet that are not known
are reported by their line, never passed over. Added sections are those of PyVRP's dialect: time windows, service and
release times, prizes, backhauls, fleets of several kinds and depots, reloads, who may serve whom; and clusters of which
one node is visited (`.gvrp`), where demands are those of clusters and the first node is the depot.

Source: Reinelt, TSPLIB 95; the instances of CVRPLIB and PyVRP; of clusters, Bektaş, Erdoğan and Røpke 2011.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import Final

from planner_mcp.formats.instances.numeric_lines import FaultCollector, NumberLine, WordLine, number_of, word_lines
from planner_mcp.formats.instances.published_instance import InstanceVisit, PublishedInstance, Rounding, Vehicle
from planner_mcp.formats.tables.sheets.text_tables import too_large

_ROUNDING: Final[dict[str, Rounding]] = {"EUC_2D": "nearest", "CEIL_2D": "ceil", "FLOOR_2D": "floor"}
_TRIANGLES: Final = {
    "LOWER_ROW": (False, True),
    "UPPER_COL": (False, True),
    "LOWER_DIAG_ROW": (True, True),
    "UPPER_DIAG_COL": (True, True),
    "UPPER_ROW": (False, False),
    "LOWER_COL": (False, False),
    "UPPER_DIAG_ROW": (True, False),
    "LOWER_DIAG_COL": (True, False),
}
"""Forms of half a table: whether it has the diagonal, whether its rows grow."""
_NO_ROUTES: Final = frozenset({"TSP", "ATSP", "SOP", "HCP", "TOUR"})
_OF_NODES: Final = {
    "NODE_COORD": 3,
    "DEMAND": 2,
    "SERVICE_TIME": 2,
    "RELEASE_TIME": 2,
    "PRIZE": 2,
    "BACKHAUL": 2,
    "TIME_WINDOW": 3,
}
"""Sections with a row a node, and how many numbers a row has."""
_OF_VEHICLES: Final = {
    "CAPACITY": 2,
    "VEHICLES_DEPOT": 2,
    "VEHICLES_MAX_DURATION": 2,
    "VEHICLES_FIXED_COST": 2,
    "VEHICLES_UNIT_DISTANCE_COST": 2,
    "VEHICLES_RELOAD_DEPOT": 0,
    "VEHICLES_ALLOWED_CLIENTS": 0,
}
"""Sections with a row a vehicle; 0 stands for a list of any length."""
_FOR_ALL: Final = frozenset({"VEHICLES_MAX_DURATION", "VEHICLES_FIXED_COST", "VEHICLES_UNIT_DISTANCE_COST"})
"""Of these, the ones that may be a header field instead, for the whole fleet."""
_CLUSTERS: Final = "GVRP_SET"
"""Section with a row a cluster: its number, its nodes, then -1."""
_OTHERS: Final = frozenset({"DEPOT", "EDGE_WEIGHT", "DISPLAY_DATA", _CLUSTERS})
_MAY_BE_NEGATIVE: Final = frozenset({"NODE_COORD", _CLUSTERS})


def read_vrplib(data: bytes, *, max_nodes: int) -> PublishedInstance:
    """Return the instance of a file.

    Raises:
        TooLargeError: It has more bytes, nodes or vehicles than allowed.
        InputError: All that is wrong with it, by line.
    """
    file = _split(word_lines(data))
    file.check_kind(max_nodes)
    file.check_rows()
    found = _published(file)
    file.collector.settle()
    return found


@dataclass(slots=True)
class _File:
    """Header fields and sections, each with its line."""

    header: dict[str, tuple[int, str]] = field(default_factory=dict)
    sections: dict[str, list[NumberLine]] = field(default_factory=dict)
    begins: dict[str, int] = field(default_factory=dict)
    collector: FaultCollector = field(default_factory=FaultCollector)
    nodes: int = 0
    vehicles: int = 0
    clusters: int = 0
    """0 where nodes are visited each."""

    def text(self, name: str) -> str:
        """Return a header field; empty where there is none."""
        return self.header.get(name, (0, ""))[1]

    def number(self, name: str, default: float | None = None) -> float | None:
        """Return a header field as a number of 0 or more."""
        if name not in self.header:
            return default
        line, text = self.header[name]
        number = number_of(text)
        if number is None or number < 0:
            self.collector.note(line, f"{name} is not a number of 0 or more.", f"{name} : a number")
            return default
        return number

    def whole(self, name: str, most: int) -> int | None:
        """Return a header field that counts something; None where there is none."""
        number = self.number(name)
        if number is None:
            return None
        if number > most:
            line = self.header[name][0]
            raise too_large(f"/{line}", f"{name} is more than {most}.", f"at most {most}")
        if number < 1 or not number.is_integer():
            self.collector.note(
                self.header[name][0], f"{name} is not a whole number from 1 on.", f"{name} : a whole number"
            )
        return int(number)

    def column(self, name: str, count: int, default: float | None) -> list[float | None]:
        """Return a section as one number a row, or its header field for all, or the default."""
        if name in self.sections:
            return [row[1] for _, row in self.sections[name]]
        return [self.number(name, default)] * count

    def check_kind(self, max_nodes: int) -> None:
        """Stop at what makes everything after it meaningless."""
        if self.text("TYPE") in _NO_ROUTES:
            line = self.header["TYPE"][0]
            raise self.collector.stop(
                line, "The file is not a problem of vehicle routing.", "TYPE : CVRP, or VRPTW and kin"
            )
        nodes = self.whole("DIMENSION", max_nodes + 1)
        if nodes is None and "DIMENSION" not in self.header:
            self.collector.note(None, "DIMENSION is missing.", "DIMENSION : how many nodes there are")
        self.collector.settle()
        self.nodes = nodes or 0
        self.vehicles = self.whole("VEHICLES", max_nodes) or 0
        if _CLUSTERS in self.sections:
            self.clusters = self.whole("GVRP_SETS", max_nodes) or len(self.sections[_CLUSTERS])
        kind = self.text("EDGE_WEIGHT_TYPE")
        if kind not in (*_ROUNDING, "EXPLICIT"):
            at = self.header["EDGE_WEIGHT_TYPE"][0] if kind else None
            raise self.collector.stop(
                at,
                "This EDGE_WEIGHT_TYPE is not known here, or missing.",
                " or ".join((*_ROUNDING, "EXPLICIT")),
                "Write the lengths as EXPLICIT, FULL_MATRIX.",
            )

    def check_rows(self) -> None:
        """Check that each section has the rows and the numbers it must have, and none below 0 that must not."""
        needed = {"DEMAND"} | ({"NODE_COORD"} if self.text("EDGE_WEIGHT_TYPE") in _ROUNDING else {"EDGE_WEIGHT"})
        needed |= {"DEPOT"} if self.text("TYPE") == "CVRP" else set()
        for name in sorted(needed - self.sections.keys()):
            self.collector.note(None, f"{name}_SECTION is missing.", f"{name}_SECTION and its rows")
        for name, rows in self.sections.items():
            if name in _OF_NODES:
                of_clusters = self.clusters > 0 and name == "DEMAND"
                self._check_section(name, rows, _OF_NODES[name], "GVRP_SETS" if of_clusters else "DIMENSION")
            elif name in _OF_VEHICLES:
                self._check_section(name, rows, _OF_VEHICLES[name], "VEHICLES")
            elif name == _CLUSTERS:
                self._check_section(name, rows, 0, "GVRP_SETS")
        self.collector.settle()

    def _check_section(self, name: str, rows: list[NumberLine], width: int, counted_by: str) -> None:
        count = {"DIMENSION": self.nodes, "VEHICLES": self.vehicles, "GVRP_SETS": self.clusters}[counted_by]
        if not rows:
            self.collector.note(self.begins[name], f"{name}_SECTION is empty.", "a row for each node, or each vehicle")
        elif len(rows) != count:
            line = self.begins[name]
            problem = f"{name}_SECTION has {len(rows)} rows, and {counted_by} says {count}."
            self.collector.note(line, problem, f"{count} rows", "Look whether the file is cut off.")
        for number, (line, row) in enumerate(rows, 1):
            if row[0] != number:
                self.collector.note(line, f"The row should be that of number {number}.", "numbers from 1 on, in order")
            elif width and len(row) != width:
                self.collector.note(line, f"The row has {len(row)} numbers.", f"{width} numbers")
            elif name not in _MAY_BE_NEGATIVE and min(row) < 0:
                self.collector.note(line, "A value is negative.", "0 or more")


def _split(lines: Sequence[WordLine]) -> _File:
    """Return the header and the sections of a file."""
    file = _File()
    section: list[NumberLine] | None = None
    for line, words in lines:
        if words == ["EOF"]:
            break
        first = words[0].rstrip(":")
        if first.endswith("_SECTION"):
            section = _begin(file, line, first.removesuffix("_SECTION"))
        elif section is None or ":" in words[0] or words[1:2] == [":"]:
            _take_field(file, line, words, is_late=section is not None)
        else:
            section.append((line, file.collector.row(line, words)))
    return file


def _begin(file: _File, line: int, name: str) -> list[NumberLine]:
    if name not in (*_OF_NODES, *_OF_VEHICLES, *_OTHERS):
        file.collector.note(line, "This section is not known here.", "the sections of CVRPLIB and PyVRP")
    if name in file.sections:
        file.collector.note(line, "The section stands here a second time.", "each section once")
    file.begins[name] = line
    return file.sections.setdefault(name, [])


def _take_field(file: _File, line: int, words: Sequence[str], *, is_late: bool) -> None:
    name, colon, text = " ".join(words).partition(":")
    if not colon:
        raise file.collector.stop(line, "The line is neither a field nor a section.", "NAME : value, or …_SECTION")
    if is_late:
        file.collector.note(line, "A header field stands after a section.", "all fields before the sections")
    if name.startswith("VEHICLES_") and name.strip() not in _FOR_ALL:
        file.collector.note(
            line, "This field is not known here.", " or ".join(sorted(_FOR_ALL)), "Make it a section, or remove it."
        )
    file.header[name.strip()] = line, text.strip().strip('"')


def _published(file: _File) -> PublishedInstance:
    depots = _depots(file)
    file.collector.settle()
    is_fleet_given = bool(file.vehicles)
    vehicles = _vehicles(file, depots, file.vehicles or max(1, file.nodes - len(depots)))
    homes = {*depots, *(vehicle.depot for vehicle in vehicles)}
    windows = [(row[1], row[2]) for _, row in file.sections.get("TIME_WINDOW", ())]
    visits, choices = (_visits(file, homes, windows), ()) if not file.clusters else _of_clusters(file, homes)
    if not visits:
        file.collector.note(None, "There is nothing to visit.", "a node that is no depot")
    return PublishedInstance(
        name=file.text("NAME"),
        nodes=tuple(map(str, range(1, file.nodes + 1))),
        places=tuple((row[1], row[2]) for _, row in file.sections.get("NODE_COORD", ())),
        vehicles=vehicles,
        visits=_restricted(file, visits),
        choices=choices,
        shift=windows[depots[0]] if windows else None,
        backhaul="BACKHAUL" in file.sections,
        is_fleet_given=is_fleet_given,
        table=_table(file) if file.text("EDGE_WEIGHT_TYPE") == "EXPLICIT" else None,
        rounding=_ROUNDING.get(file.text("EDGE_WEIGHT_TYPE"), "nearest"),
    )


def _depots(file: _File) -> list[int]:
    """Return the depots; files of a dialect that name none mean the first node."""
    if "DEPOT" not in file.sections:
        return [0]
    rows = file.sections["DEPOT"]
    named = [(line, number) for line, row in rows for number in row if number != -1]
    if not named:
        file.collector.note(file.begins["DEPOT"], "There is no depot.", "the number of a node, then -1")
    return [_node(file, line, number) for line, number in named]


def _node(file: _File, line: int, number: float) -> int:
    if not number.is_integer() or not 1 <= number <= file.nodes:
        file.collector.note(line, "There is no node of this number.", f"1 to {file.nodes}")
        return 0
    return int(number) - 1


def _vehicles(file: _File, depots: Sequence[int], count: int) -> tuple[Vehicle, ...]:
    at = [depots[0]] * count
    if "VEHICLES_DEPOT" in file.sections:
        at = [_node(file, line, row[1]) for line, row in file.sections["VEHICLES_DEPOT"]]
    reloads = [
        tuple(_node(file, line, number) for number in row[1:])
        for line, row in file.sections.get("VEHICLES_RELOAD_DEPOT", ())
    ]
    columns = (
        file.column("CAPACITY", count, None),
        file.column("VEHICLES_MAX_DURATION", count, file.number("DISTANCE")),
        file.column("VEHICLES_FIXED_COST", count, 0),
        file.column("VEHICLES_UNIT_DISTANCE_COST", count, 1),
        reloads or [()] * count,
    )
    return tuple(
        Vehicle(depot, capacity, limit, fixed or 0, price if price is not None else 1, stops)
        for depot, capacity, limit, fixed, price, stops in zip(at, *columns, strict=True)
    )


def _visits(file: _File, homes: set[int], windows: Sequence[tuple[float, float]]) -> list[InstanceVisit]:
    demands, services, releases, pickups, prizes = (
        file.column(name, file.nodes, default)
        for name, default in (("DEMAND", 0), ("SERVICE_TIME", 0), ("RELEASE_TIME", 0), ("BACKHAUL", 0), ("PRIZE", None))
    )
    for (line, _), demand, pickup in zip(file.sections.get("BACKHAUL", ()), demands, pickups, strict=False):
        if demand and pickup:
            file.collector.note(line, "A ticket delivers or picks up, not both.", "one of the two")
    return [
        InstanceVisit(
            node,
            pickups[node] or demands[node] or 0,
            service=services[node] or 0,
            release=releases[node] or 0,
            window=windows[node] if windows else None,
            prize=prizes[node],
            is_pickup=bool(pickups[node]),
        )
        for node in range(file.nodes)
        if node not in homes
    ]


def _of_clusters(file: _File, homes: set[int]) -> tuple[list[InstanceVisit], tuple[tuple[int, ...], ...]]:
    """Return a visit for each node of each cluster, and the clusters of several nodes, of which one is visited."""
    visits: list[InstanceVisit] = []
    choices: list[tuple[int, ...]] = []
    seen = set(homes)
    for (line, row), demand in zip(file.sections[_CLUSTERS], file.column("DEMAND", 0, None), strict=True):
        nodes = [_node(file, line, number) for number in row[1:] if number != -1]
        if not nodes or seen & set(nodes) or len(set(nodes)) < len(nodes):
            file.collector.note(line, "The cluster is empty or has a node of another.", "each node in one cluster")
        seen.update(nodes)
        choices.append(tuple(range(len(visits), len(visits) + len(nodes))))
        visits += [InstanceVisit(node, demand or 0) for node in nodes]
    return visits, tuple(choice for choice in choices if len(choice) > 1)


def _restricted(file: _File, visits: Sequence[InstanceVisit]) -> tuple[InstanceVisit, ...]:
    """Return the visits, each with the vehicles whose list of clients names its node."""
    if "VEHICLES_ALLOWED_CLIENTS" not in file.sections:
        return tuple(visits)
    welcome: dict[int, set[int]] = {visit.node: set() for visit in visits}
    for vehicle, (line, row) in enumerate(file.sections["VEHICLES_ALLOWED_CLIENTS"]):
        for number in row[1:]:
            welcome.setdefault(_node(file, line, number), set()).add(vehicle)
    return tuple(replace(visit, vehicles=frozenset(welcome[visit.node])) for visit in visits)


def _table(file: _File) -> tuple[tuple[float, ...], ...]:
    """Return the lengths a file has written out."""
    numbers = [number for _, row in file.sections["EDGE_WEIGHT"] for number in row]
    size, form = file.nodes, file.text("EDGE_WEIGHT_FORMAT")
    begins = file.begins["EDGE_WEIGHT"]
    if form != "FULL_MATRIX" and form not in _TRIANGLES:
        accepted = " or ".join(("FULL_MATRIX", *_TRIANGLES))
        raise file.collector.stop(begins, "This EDGE_WEIGHT_FORMAT is not known here, or missing.", accepted)
    has_diagonal, grows = _TRIANGLES.get(form, (True, True))
    lengths = [size] * size if form == "FULL_MATRIX" else _lengths(size, has_diagonal=has_diagonal, grows=grows)
    if len(numbers) != sum(lengths):
        problem = f"EDGE_WEIGHT_SECTION has {len(numbers)} numbers."
        raise file.collector.stop(begins, problem, f"{sum(lengths)} numbers", "Look whether the file is cut off.")
    if min(numbers, default=0) < 0:
        raise file.collector.stop(begins, "A length is negative.", "0 or more")
    rows = [numbers[low:high] for low, high in pairwise(accumulate(lengths, initial=0))]
    return tuple(map(tuple, rows)) if form == "FULL_MATRIX" else _mirrored(rows, has_diagonal, grows)


def _lengths(size: int, *, has_diagonal: bool, grows: bool) -> list[int]:
    """Return how many numbers each row of half a table has."""
    rising = range(has_diagonal, size + has_diagonal)
    return list(rising if grows else reversed(rising))


def _mirrored(rows: Sequence[Sequence[float]], has_diagonal: bool, grows: bool) -> tuple[tuple[float, ...], ...]:
    """Return the whole of half a table."""
    size = len(rows)
    table = [[0.0] * size for _ in range(size)]
    for here, row in enumerate(rows):
        first = 0 if grows else here + (not has_diagonal)
        for there, length in enumerate(row, first):
            table[here][there] = table[there][here] = length
    return tuple(map(tuple, table))
