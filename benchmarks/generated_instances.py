"""Instances of our own making, by kind, shape and length of routes, so that no change is judged by one published file.

Owns how they are drawn: places on a plane, demands, windows, and what a kind adds (prizes, pickups, depots, skills,
mixed fleets, reloads). A name such as `windows-clustered-long-1000` says all; the same name always gives the same
instance. Nothing better is known of them than what runs find.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import hypot, nan
from random import Random
from typing import Final

from benchmarks.benchmark_instances import Instance, Rule, problem_of
from planner_mcp.formats.instances.published_instance import InstanceVisit, PublishedInstance, Vehicle
from planner_mcp.formats.instances.vrplib_format import read_vrplib

LENGTHS: Final = {"short": 9, "long": 45}
"""Tickets in a mean route."""
_RULE: Final = Rule(read_vrplib, 10, "floor", 10)
_SIDE: Final = 500.0
_SERVICE: Final = 10.0
_DAY: Final = {"short": 1200.0, "long": 5000.0}
_DEMANDS: Final = (1, 35)
_MEAN_DEMAND: Final = 18
_SPREAD: Final = 30.0
"""Standard deviation of the places of a cluster."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What kinds build on."""

    draw: Random
    length: str
    instance: PublishedInstance

    @property
    def depot(self) -> tuple[float, float]:
        """Place of the first depot."""
        return self.instance.places[0]


def draft(shape: str, length: str, tickets: int, seed: int) -> Draft:
    """Return places, `random`, `clustered` or `mixed`, demands and a fleet that suffices; node 0 is the depot."""
    draw = Random(f"{shape} {length} {tickets} {seed}")
    places = [(draw.uniform(0.3, 0.7) * _SIDE, draw.uniform(0.3, 0.7) * _SIDE)]
    centres = [(draw.uniform(0, _SIDE), draw.uniform(0, _SIDE)) for _ in range(max(3, tickets // 60))]
    for number in range(tickets):
        if shape == "random" or (shape == "mixed" and number % 2):
            places.append((draw.uniform(0, _SIDE), draw.uniform(0, _SIDE)))
        else:
            x, y = draw.choice(centres)
            places.append((draw.gauss(x, _SPREAD), draw.gauss(y, _SPREAD)))
    visits = [InstanceVisit(node, draw.randint(*_DEMANDS)) for node in range(1, tickets + 1)]
    vehicle = Vehicle(0, LENGTHS[length] * _MEAN_DEMAND)
    fleet = (vehicle,) * (2 * tickets // LENGTHS[length] + 3)
    nodes = tuple(map(str, range(tickets + 1)))
    return Draft(draw, length, PublishedInstance("", nodes, tuple(places), fleet, tuple(visits), decimals=1))


def with_windows(made: Draft) -> PublishedInstance:
    """Add a day and windows: narrow where routes are short, a tenth to half of the day where they are long."""
    draw, day = made.draw, _DAY[made.length]

    def window(visit: InstanceVisit) -> InstanceVisit:
        x, y = made.instance.places[visit.node]
        way = hypot(x - made.depot[0], y - made.depot[1])
        low, high = way + 1, day - way - _SERVICE - 1
        width = draw.uniform(0.1, 0.5) * day if made.length == "long" else draw.uniform(30, 180)
        centre = draw.uniform(low, high)
        opens = max(low, centre - width / 2)
        return replace(visit, service=_SERVICE, window=(opens, min(high, max(opens + 1, centre + width / 2))))

    return replace(made.instance, visits=tuple(map(window, made.instance.visits)), shift=(0.0, day))


def with_prizes(made: Draft) -> PublishedInstance:
    """Windows, and each ticket may be left out for a prize."""
    windowed = with_windows(made)
    dear = 3 * _SIDE / LENGTHS[made.length]
    visits = tuple(replace(visit, prize=made.draw.uniform(0.2, 1.5) * dear) for visit in windowed.visits)
    return replace(windowed, visits=visits)


def with_backhaul(made: Draft) -> PublishedInstance:
    """Half of the tickets are pickups, after all deliveries of their route."""
    visits = tuple(replace(visit, is_pickup=made.draw.random() < 0.5) for visit in made.instance.visits)
    return replace(made.instance, visits=visits, backhaul=True)


def with_depots(made: Draft) -> PublishedInstance:
    """Windows, and four depots that share the fleet."""
    windowed, count = with_windows(made), 4
    homes = tuple((made.draw.uniform(0, _SIDE), made.draw.uniform(0, _SIDE)) for _ in range(count))
    first = len(windowed.nodes)
    fleet = tuple(
        replace(vehicle, depot=first + number % count) for number, vehicle in enumerate(windowed.vehicles * 2)
    )
    names = (*windowed.nodes, *(f"D{number}" for number in range(count)))
    return replace(windowed, nodes=names, places=(*windowed.places, *homes), vehicles=fleet)


def with_sites(made: Draft) -> PublishedInstance:
    """Windows, and four sorts of vehicles; most tickets accept one or two of them."""
    windowed, sorts = with_windows(made), 4
    fleet = windowed.vehicles * 2

    def restricted(visit: InstanceVisit) -> InstanceVisit:
        allowed = set(made.draw.sample(range(sorts), made.draw.choice((1, 2, 2, sorts))))
        return replace(visit, vehicles=frozenset(k for k in range(len(fleet)) if k % sorts in allowed))

    return replace(windowed, vehicles=fleet, visits=tuple(map(restricted, windowed.visits)))


def with_mixed_fleet(made: Draft) -> PublishedInstance:
    """Three sizes of vehicle, each with its fixed cost and its price of distance."""
    sizes = ((0.6, 60, 1.0), (1.0, 120, 1.1), (1.6, 230, 1.2))
    capacity = LENGTHS[made.length] * _MEAN_DEMAND
    fleet = tuple(
        Vehicle(0, round(share * capacity), fixed_cost=fixed, distance_cost=price)
        for share, fixed, price in sizes
        for _ in made.instance.vehicles
    )
    return replace(
        made.instance, vehicles=tuple(replace(each, distance_cost=round(each.distance_cost)) for each in fleet)
    )


def with_reloads(made: Draft) -> PublishedInstance:
    """Windows, and small vehicles that reload at the depot."""
    windowed = with_windows(replace(made, length="long"))
    small = Vehicle(0, LENGTHS[made.length] * _MEAN_DEMAND // 2, reloads=(0,))
    return replace(windowed, vehicles=(small,) * (len(windowed.visits) // 10 + 5))


KINDS: Final[dict[str, Callable[[Draft], PublishedInstance]]] = {
    "plain": lambda made: made.instance,
    "windows": with_windows,
    "prizes": with_prizes,
    "backhaul": with_backhaul,
    "depots": with_depots,
    "sites": with_sites,
    "fleet": with_mixed_fleet,
    "reloads": with_reloads,
}


def make(name: str, seed: int = 1) -> Instance:
    """Return the instance of a name, KIND-SHAPE-LENGTH-TICKETS."""
    kind, shape, length, tickets = name.split("-")
    published = KINDS[kind](draft(shape, length, int(tickets), seed))
    return Instance(name, f"{kind}-{length}", "generated", nan, _RULE.published, problem_of(published, _RULE))
