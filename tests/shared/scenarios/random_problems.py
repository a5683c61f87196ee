"""Small random problems that mix the features of the model freely, for engines to be judged by."""

from dataclasses import dataclass, replace
from random import Random

import numpy as np

from planner_mcp.routing.problem import (
    AgentSpec,
    BreakSpec,
    Feature,
    GroupKind,
    GroupSpec,
    LoadKind,
    Matrix,
    Problem,
    TicketSpec,
)

DAY = 1000
WANTED = 10**7
DRAWN = (
    *(Feature.MULTI_CAPACITY, Feature.TIME_WINDOWS, Feature.MULTI_WINDOWS, Feature.SOFT_WINDOWS, Feature.SETUP),
    *(Feature.HETEROGENEOUS, Feature.TIME_COST, Feature.MULTI_DEPOT, Feature.OPEN_ROUTES, Feature.SHIFTS),
    *(Feature.BREAKS, Feature.OVERTIME, Feature.MAX_DISTANCE, Feature.MAX_DURATION, Feature.MAX_STOPS, Feature.SKILLS),
    *(Feature.INCOMPATIBLE, Feature.SHIPMENTS, Feature.PICKUPS, Feature.BACKHAUL, Feature.RELOAD, Feature.RELEASE),
    *(Feature.OPTIONAL, Feature.LOCKS, Feature.PREFERENCES, Feature.GROUPS, Feature.BALANCE, Feature.MIN_LOAD),
    *(Feature.PROFILES, Feature.RUSH_HOURS),
)
"""The features that a random choice is made of, one chance each in this order. Tests name seeds of rare days, and one
chance more would make other days of them: draw a new feature from a `Random` of its own."""


@dataclass(slots=True)
class Draw:
    """Chances, and the features a day has."""

    random: Random
    features: frozenset[Feature]

    def has(self, feature: Feature, chance: float = 1.0) -> bool:
        """Return whether the feature applies to the thing in hand."""
        return feature in self.features and self.random.random() < chance


def random_problem(seed: int, *, tickets: int | None = None, features: frozenset[Feature] | None = None) -> Problem:
    """Return a problem drawn from the seed.

    Args:
        seed: Same seed, same problem.
        tickets: How many; 1 to 24 when absent.
        features: Which features it may show; a random choice when absent.
    """
    random = Random(seed)
    chosen = features
    if chosen is None:
        share = random.choice((0.1, 0.3, 0.6))
        chosen = frozenset(feature for feature in DRAWN if random.random() < share)
    draw = Draw(random, chosen)
    count = tickets or random.randint(1, 24)
    places = random.randint(2, count + 3)
    sizes = 2 if draw.has(Feature.MULTI_CAPACITY) else 1
    fleet = random.randint(1, max(2, count // 3 + 1))
    orders = _shipments(draw, [_ticket(draw, index, places, sizes, fleet) for index in range(count)])
    orders, groups = _groups(draw, orders)
    distances, durations = _travel(draw, places)
    return Problem(
        agents=_agents(draw, fleet, places, sizes, orders),
        tickets=tuple(orders),
        locations=tuple(f"L{index}" for index in range(places)),
        distances=distances,
        durations=durations,
        dimensions=tuple(f"d{index}" for index in range(sizes)),
        incompatible=_rivals(draw, count),
        groups=groups,
        backhaul=Feature.BACKHAUL in chosen and Feature.SHIPMENTS not in chosen,
        span_cost=random.randint(1, 5) if draw.has(Feature.BALANCE) else 0,
        features=chosen,
    )


def _travel(draw: Draw, places: int) -> tuple[tuple[Matrix, ...], tuple[Matrix, ...]]:
    """Return distances and durations; half of the days are asymmetric and break the triangle inequality."""
    dice = np.random.default_rng(draw.random.randrange(2**32))
    points = dice.integers(0, 60, size=(places, 2)).astype(float)
    gaps = points[:, None, :] - points[None, :, :]
    base = np.rint(np.hypot(gaps[..., 0], gaps[..., 1])).astype(np.int64)
    if dice.random() < 0.5:
        base += dice.integers(0, 30, size=base.shape) * (1 - np.eye(places, dtype=np.int64))
    slow = base * 2
    return ((base, slow), (slow, base)) if draw.has(Feature.PROFILES) else ((base,), (base,))


def _ticket(draw: Draw, index: int, places: int, sizes: int, fleet: int) -> TicketSpec:
    random = draw.random
    ticket = TicketSpec(
        id=f"T{index}",
        location=random.randrange(places),
        demand=tuple(random.randint(0, 9) for _ in range(sizes)),
        load=LoadKind.PICKUP if draw.has(Feature.PICKUPS, 0.4) else LoadKind.DELIVERY,
        windows=_windows(draw),
        service=random.randint(0, 20),
        setup=random.randint(0, 15) if draw.has(Feature.SETUP) else 0,
        release=random.randint(0, DAY // 2) if draw.has(Feature.RELEASE, 0.4) else 0,
        penalty=WANTED,
    )
    if draw.has(Feature.SOFT_WINDOWS, 0.5):
        soft = random.randint(0, DAY)
        ticket = replace(ticket, soft_close=soft, lateness_cost=random.randint(1, 4))
    if draw.has(Feature.OPTIONAL, 0.5):
        ticket = replace(ticket, penalty=random.randint(0, 120), is_priced=True)
    if draw.has(Feature.SKILLS, 0.5):
        ticket = replace(ticket, agents=frozenset(random.sample(range(fleet), random.randint(1, fleet))))
    if draw.has(Feature.PREFERENCES, 0.6):
        ticket = replace(ticket, preferred=random.randrange(fleet), switch_cost=random.randint(0, 80))
    return ticket


def _windows(draw: Draw) -> tuple[tuple[int, int], ...]:
    if draw.has(Feature.MULTI_WINDOWS, 0.5):
        cuts = sorted(draw.random.sample(range(DAY), 4))
        return ((cuts[0], cuts[1]), (cuts[2], cuts[3]))
    if draw.has(Feature.TIME_WINDOWS, 0.7):
        opens = draw.random.randint(0, DAY - 50)
        return ((opens, opens + draw.random.randint(0, 250)),)
    return ()


def _shipments(draw: Draw, tickets: list[TicketSpec]) -> list[TicketSpec]:
    """Marry neighbours in the list: the first is picked up, the second delivers it."""
    for index in range(0, len(tickets) - 1, 2):
        if draw.has(Feature.SHIPMENTS, 0.6):
            first = tickets[index]
            pickup, delivery = (index, index + 1) if draw.random.random() < 0.5 else (index + 1, index)
            shared = {"demand": first.demand, "agents": first.agents}
            tickets[pickup] = replace(tickets[pickup], load=LoadKind.PICKUP, **shared)
            tickets[delivery] = replace(tickets[delivery], load=LoadKind.DELIVERY, pickup=pickup, **shared)
    return tickets


def _groups(draw: Draw, tickets: list[TicketSpec]) -> tuple[list[TicketSpec], tuple[GroupSpec, ...]]:
    halves = {ticket.pickup for ticket in tickets}
    free = [index for index, ticket in enumerate(tickets) if ticket.pickup is None and index not in halves]
    groups = []
    while Feature.GROUPS in draw.features and len(free) > 6 and draw.random.random() < 0.7:
        members = tuple(free.pop(draw.random.randrange(len(free))) for _ in range(3))
        kind = draw.random.choice(tuple(GroupKind))
        groups.append(GroupSpec(kind, members, WANTED if kind is GroupKind.ONE_OF else 0))
        if kind is GroupKind.ONE_OF:
            for member in members:
                tickets[member] = replace(tickets[member], penalty=0, is_priced=False)
    if Feature.GROUPS in draw.features and (chosen := _choice_of_shipments(draw, tickets)):
        groups.append(GroupSpec(GroupKind.ONE_OF, chosen, WANTED))
    return tickets, tuple(groups)


def _choice_of_shipments(draw: Draw, tickets: list[TicketSpec]) -> tuple[int, ...]:
    """Return the pickups, or the deliveries, of two shipments of which one is enough; empty on days with fewer."""
    drops = {ticket.pickup: index for index, ticket in enumerate(tickets) if ticket.pickup is not None}
    if len(drops) < 2 or draw.random.random() < 0.5:
        return ()
    lifts = tuple(draw.random.sample(sorted(drops), 2))
    for half in (*lifts, *(drops[lift] for lift in lifts)):
        tickets[half] = replace(tickets[half], penalty=0, is_priced=False)
    return lifts if draw.random.random() < 0.5 else tuple(drops[lift] for lift in lifts)


def _agents(draw: Draw, fleet: int, places: int, sizes: int, tickets: list[TicketSpec]) -> tuple[AgentSpec, ...]:
    model = _agent(draw, places, sizes)
    is_mixed = any(draw.has(feature) for feature in (Feature.HETEROGENEOUS, Feature.MULTI_DEPOT, Feature.PROFILES))
    agents = [_agent(draw, places, sizes) if is_mixed else model for _ in range(fleet)]
    agents = [replace(agent, id=f"A{index}") for index, agent in enumerate(agents)]
    if Feature.LOCKS in draw.features:
        agents[0] = replace(agents[0], locked=_locked(draw, tickets))
    if Feature.MIN_LOAD in draw.features:
        own = Random(f"{agents}")
        agents = [replace(agent, min_load=tuple(own.randint(0, 12) for _ in range(sizes))) for agent in agents]
    return tuple(agents)


def _locked(draw: Draw, tickets: list[TicketSpec]) -> tuple[int, ...]:
    """Return one or two tickets the first agent must serve first; sometimes a pickup without its delivery."""
    welcome = [index for index, ticket in enumerate(tickets) if ticket.pickup is None and ticket.agents is None]
    return tuple(draw.random.sample(welcome, min(len(welcome), draw.random.randint(1, 2))))


def _agent(draw: Draw, places: int, sizes: int) -> AgentSpec:
    random = draw.random
    opens = random.randint(0, 200) if draw.has(Feature.SHIFTS) else 0
    closes = random.randint(600, DAY + 200) if draw.has(Feature.SHIFTS) else 3 * DAY
    has_reload = draw.has(Feature.RELOAD)
    has_overtime = draw.has(Feature.OVERTIME)
    return AgentSpec(
        id="",
        capacity=tuple(random.randint(10, 40) for _ in range(sizes)),
        start=None if draw.has(Feature.OPEN_ROUTES, 0.4) else random.randrange(places),
        end=None if draw.has(Feature.OPEN_ROUTES, 0.4) else random.randrange(places),
        shift=(opens, closes),
        fixed_cost=random.randint(0, 100) if draw.has(Feature.HETEROGENEOUS) else 0,
        distance_cost=random.randint(0, 3) if draw.has(Feature.TIME_COST) else 1,
        time_cost=random.randint(1, 3) if draw.has(Feature.TIME_COST) else 0,
        max_distance=random.randint(100, 600) if draw.has(Feature.MAX_DISTANCE) else None,
        max_duration=random.randint(200, DAY) if draw.has(Feature.MAX_DURATION) else None,
        max_stops=random.randint(1, 8) if draw.has(Feature.MAX_STOPS) else None,
        overtime=random.randint(0, 200) if has_overtime else 0,
        overtime_cost=random.randint(0, 5) if has_overtime else 0,
        breaks=_breaks(draw),
        reload_at=tuple(random.sample(range(places), random.randint(1, 2))) if has_reload else (),
        max_reloads=random.randint(1, 3) if has_reload else 0,
        profile=random.randint(0, 1) if draw.has(Feature.PROFILES) else 0,
    )


def _breaks(draw: Draw) -> tuple[BreakSpec, ...]:
    if not draw.has(Feature.BREAKS):
        return ()
    first = draw.random.randint(100, 400)
    rests = [BreakSpec((first, first + draw.random.randint(20, 200)), draw.random.randint(10, 60))]
    if draw.random.random() < 0.4:
        rests.append(BreakSpec((700, 850), 30))
    return tuple(rests)


def _rivals(draw: Draw, count: int) -> frozenset[tuple[int, int]]:
    if not draw.has(Feature.INCOMPATIBLE):
        return frozenset()
    pairs = (draw.random.sample(range(count), 2) for _ in range(count // 3) if count > 1)
    return frozenset((min(pair), max(pair)) for pair in pairs)
