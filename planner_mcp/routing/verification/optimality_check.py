"""Checks a proof of optimality independently of the code that found it.

Owns a second way from prices of tickets (dual values) to the statement that no plan costs less. It knows the definition
in `problem.py` and the certificate, and shares no code with engines or evaluation. The numbers of a certificate may be
any integers: they decide whether the check succeeds, not whether it is right.

1. A plan that serves every wanted ticket costs at least the sum of the prices, each at most the penalty of its ticket,
   plus the reduced costs of its routes: their costs less the prices of their tickets. A price of a `LoadCut` counts as
   often as its tickets have to be entered, and is taken off the leg by which a route enters them. A price of a
   `SubsetCut` is due for each pair of its tickets on a route, and taken off the sum as often as there can be pairs.
2. The certificate claims a number for each agent that no reduced cost is below. What the plan costs above the sum with
   these numbers is a budget. So a route of a cheaper plan has a reduced cost below the budget plus the claim.
3. A `RouteLister` lists the sets of tickets of all such routes, where of routes of the same tickets a plan has the one
   that costs least (without prices of cuts). A listed one below the claim refutes it.
4. Where the budget is not below one cost unit, the tree of the certificate splits the choices of listed routes. Each of
   its nodes has prices by which no choice there is cheaper, or that leave routes out, before the next split.

The halves of a shipment are served by one route, the pickup first, with the goods on board in between. Other rules that
concern more than the order, loads and times of one route are ignored, save that tickets may be incompatible: without
them plans only get cheaper, so success means the same. Goods that are on board when a day under way is planned again
have their pickup among the tickets, like others. Agents that reload are not checked, with shipments or without. Days of
a dozen tickets are checked with all rules, by `small_day_check.py`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from planner_mcp import arrays as np
from planner_mcp.arrays import Flags, Integers
from planner_mcp.routing.problem import LoadKind, Problem
from planner_mcp.routing.verification.proof_rows import claims_of, floor_of, kinds_of, legs_of, row_prices, rows_of

NO_LEG: Final = (2**63 - 1) // 4
"""Cost of a leg that is not driven, and any other limit that is none."""
MOST_CUTS: Final = 64
"""Subset cuts whose prices are in the reduced costs of listed routes."""
MOST_DIMENSIONS: Final = 4
"""Further dimensions are ignored."""
_WORDS: Final = 4
_NEAREST: Final = 4
_LARGEST: Final = 2**60
"""Sums beyond it could leave the range of the arithmetic."""
_MANY: Final = 4
"""Partial routes that could stop more than so many times as often as there are tickets are limited by their stops."""
Table = Integers


@dataclass(frozen=True, slots=True)
class RowPrices:
    """Prices in `1 / factor` cost units."""

    tickets: tuple[int, ...]
    """By ticket; 0 for the tickets of ONE_OF groups."""
    groups: tuple[int, ...]
    """By group; 0 for groups of which all or none are served."""


@dataclass(frozen=True, slots=True)
class SubsetCut:
    """Of an odd number of tickets at most half are served by routes in pairs; the price of one more."""

    tickets: tuple[int, ...]
    price: int
    memory: tuple[int, ...] | None = None
    """Pairs count only where all stops between them are among these; None for all tickets."""


@dataclass(frozen=True, slots=True)
class LoadCut:
    """Routes that enter wanted tickets have the capacity for their load; the price of a unit of it.

    The capacity of each route, or the load where this is less, counts once for each entry. Both are counted in units,
    rounded up.
    """

    tickets: tuple[int, ...]
    load: LoadKind
    dimension: int
    unit: int
    price: int


@dataclass(frozen=True, slots=True)
class PairSplit:
    """First the choices with two tickets on one route, then those without."""

    tickets: tuple[int, int]


@dataclass(frozen=True, slots=True)
class AgentSplit:
    """First the choices with a ticket served by the kind of an agent, then those without."""

    ticket: int
    agent: int


@dataclass(frozen=True, slots=True)
class ServiceSplit:
    """First the choices that serve a ticket, or one of its group, then those that leave it out."""

    ticket: int


@dataclass(frozen=True, slots=True)
class CountSplit:
    """First the choices with at most so many routes of the kind of an agent, then those with more."""

    agent: int
    most: int


@dataclass(frozen=True, slots=True)
class ProofNode:
    """Prices, and how the choices that they admit are split; a leaf admits none, without a split one part follows."""

    prices: RowPrices
    cuts: tuple[SubsetCut, ...] = ()
    split: PairSplit | AgentSplit | ServiceSplit | CountSplit | None = None
    parts: tuple["ProofNode", ...] = ()
    loads: tuple[LoadCut, ...] = ()


@dataclass(frozen=True, slots=True)
class OptimalityCertificate:
    """What proves a cost. Numbers are in `1 / factor` cost units."""

    factor: int
    prices: RowPrices
    least: tuple[int, ...]
    """By agent, at most 0: the claim that no reduced cost of its routes is below."""
    memory: Flags
    """(n, n): tickets (columns) by which partial routes are distinguished after a stop (row)."""
    tree: ProofNode | None = None
    loads: tuple[LoadCut, ...] = ()
    cuts: tuple[SubsetCut, ...] = ()
    """At most 64. A memory is of use here, where routes are listed."""


@dataclass(frozen=True, slots=True)
class AgentTables:
    """The routes of an agent, as tables whose rows `workers/engines/native/proof_listing.hpp` states."""

    agent: Table
    tickets: Table
    legs: Table
    windows: Table
    cut_price: Table


RouteLister = Callable[[AgentTables, int], Sequence[tuple[int, int, tuple[int, ...]]] | None]
"""Returns of each set that a route below a limit serves its least cost, that without prices of cuts, and its tickets.

None where not all are listed. Of routes of the same tickets only the cheapest without prices of cuts needs to be."""


def proves(problem: Problem, certificate: OptimalityCertificate, cost: int, list_routes: RouteLister) -> bool:
    """Return whether the certificate shows that no plan serving every wanted ticket costs less than `cost`.

    Args:
        problem: The problem.
        certificate: The proof.
        cost: In cost units, wanted tickets all served.
        list_routes: May give up.
    """
    if any(agent.reload_at and agent.max_reloads for agent in problem.agents):
        return False
    check = _Check(problem, certificate)
    return check.has_valid_cuts() and check.is_in_range(cost) and check.is_least(cost, list_routes)


@dataclass(frozen=True, slots=True)
class _Options:
    """The routes that a cheaper plan could have."""

    kind: Table
    """(options,)."""
    cost: Table
    """(options,)."""
    serves: Flags
    """(options, tickets)."""

    def only(self, kept: Flags) -> "_Options":
        """Return a part of them."""
        return _Options(self.kind[kept], self.cost[kept], self.serves[kept])


@dataclass(frozen=True, slots=True)
class _Choices:
    """The choices at a node of the tree."""

    options: _Options
    served: frozenset[int]
    """Rows that are served."""
    left_out: frozenset[int]
    """Rows that are left out."""
    counts: tuple[tuple[int, int], ...]
    """By kind: the fewest and the most routes."""


class _Check:
    """One check. Costs are multiplied by the factor."""

    def __init__(self, problem: Problem, certificate: OptimalityCertificate) -> None:
        self.problem = problem
        self.certificate = certificate
        self.factor = certificate.factor
        self.rows = tuple(rows_of(problem, certificate.factor))
        self._kinds = tuple(kinds_of(problem))
        self._kind_of = {agent: number for number, kind in enumerate(self._kinds) for agent in kind.agents}

    def has_valid_cuts(self) -> bool:
        """Return whether every plan serves the tickets of each load cut, and its numbers mean something."""
        wanted = {row.tickets[0] for row in self.rows if row.penalty is None and len(row.tickets) == 1}
        dimensions = range(len(self.problem.dimensions))
        return len(self.certificate.cuts) <= MOST_CUTS and all(
            cut.unit > 0 and cut.dimension in dimensions and wanted.issuperset(cut.tickets)
            for cuts in (self.certificate.loads, *(node.loads for node in self._nodes()))
            for cut in cuts
        )

    def is_in_range(self, cost: int) -> bool:
        """Return whether no sum can leave the range of the arithmetic."""
        sums = [abs(cost) * self.factor, *map(abs, self.certificate.least)]
        own = (1 + len(self.problem.tickets)) * sum(abs(cut.price) for cut in self.certificate.cuts)
        sums += [_sum_of(self.certificate.prices) + own + self._sum_of_loads(self.certificate.loads)]
        for node in self._nodes():
            own = sum(len(cut.tickets) * abs(cut.price) for cut in node.cuts) + self._sum_of_loads(node.loads)
            sums.append(_sum_of(node.prices) + own)
        return max(sums) * (1 + len(self.problem.agents)) <= _LARGEST

    def _nodes(self) -> Iterator[ProofNode]:
        nodes = [self.certificate.tree]
        while nodes:
            if (node := nodes.pop()) is not None:
                yield node
                nodes += node.parts

    def _sum_of_loads(self, cuts: Sequence[LoadCut]) -> int:
        """Return what load cuts are worth at most, in all and to each route."""
        stops = 1 + len(self.problem.tickets)
        counts = (self._units(cut) + stops * sum(self._rooms(cut)) for cut in cuts)
        return sum(abs(cut.price) * count for cut, count in zip(cuts, counts, strict=True))

    def _load(self, cut: LoadCut) -> int:
        tickets = [self.problem.tickets[n] for n in set(cut.tickets) if n not in self.problem.partner_of]
        return sum(ticket.demand[cut.dimension] for ticket in tickets if ticket.load is cut.load)

    def _units(self, cut: LoadCut) -> int:
        """Return how many units of load the tickets of a cut have, rounded up."""
        return -(-self._load(cut) // cut.unit)

    def _rooms(self, cut: LoadCut) -> list[int]:
        """Return by kind for how many units an agent has room, rounded up."""
        load, agents = self._load(cut), (self.problem.agents[kind.agents[0]] for kind in self._kinds)
        return [-(-min(agent.capacity[cut.dimension], load) // cut.unit) for agent in agents]

    def _savings(self, kind: int) -> Table:
        """Return what prices of load cuts take off each leg of a kind of agents, as `legs_of` has them."""
        count = len(self.problem.tickets)
        found = np.zeros((count + 1, count + 1), dtype=np.int64)
        for cut in self.certificate.loads:
            inside = np.zeros(count + 1, dtype=bool)
            inside[list(cut.tickets)] = True
            found += max(0, cut.price) * self._rooms(cut)[kind] * np.outer(~inside, inside)
        return found

    def _row_prices(self, prices: RowPrices) -> list[int]:
        return row_prices(self.problem, self.rows, prices.tickets, prices.groups)

    def _ticket_prices(self, prices: RowPrices) -> Table:
        """Return what a visit to each ticket is worth: the prices of all its rows."""
        found = np.zeros(len(self.problem.tickets), dtype=np.int64)
        for row, price in zip(self.rows, self._row_prices(prices), strict=True):
            found[list(row.tickets)] += price
        return found

    def is_least(self, cost: int, list_routes: RouteLister) -> bool:
        """Return whether no plan costs less."""
        claims = claims_of(self._kinds, self.certificate.least)
        floor = floor_of(self.rows, self._row_prices(self.certificate.prices), self._kinds, claims)
        floor += sum(max(0, cut.price) * self._units(cut) for cut in self.certificate.loads)
        floor -= sum(max(0, cut.price) * (len(set(cut.tickets)) // 2) for cut in self.certificate.cuts)
        # costs are whole units: what is less than one below the cost is the cost
        budget = 0 if cost * self.factor - floor < self.factor else cost * self.factor - floor
        prices = self._ticket_prices(self.certificate.prices)
        listed: list[tuple[int, int, tuple[int, ...]]] = []
        for number, (kind, claim) in enumerate(zip(self._kinds, claims, strict=True)):
            tables = _agent_tables(self.problem, kind.agents[0], self.certificate, prices, self._savings(number))
            routes = list_routes(tables, budget + claim)
            if routes is None or any(excess < claim for excess, _, _ in routes):
                return False
            listed += [(number, excess, tickets) for _, excess, tickets in routes if self._is_allowed(tickets)]
        if budget == 0:
            return True
        counts = tuple((len(k.agents) if k.is_used else 0, len(k.agents)) for k in self._kinds)
        choices = _Choices(self._options(listed, prices), frozenset(), frozenset(), counts)
        return self.certificate.tree is not None and self._is_closed(self.certificate.tree, choices, cost)

    def _is_allowed(self, tickets: Sequence[int]) -> bool:
        served, problem = set(tickets), self.problem
        if any(len(served.intersection(row.tickets)) > 1 for row in self.rows if len(row.tickets) > 1):
            return False
        return not any(low in served and high in served for low, high in problem.incompatible)

    def _options(self, listed: Sequence[tuple[int, int, tuple[int, ...]]], prices: Table) -> _Options:
        serves = np.zeros((len(listed), len(self.problem.tickets)), dtype=bool)
        for number, (_, _, tickets) in enumerate(listed):
            serves[number, list(tickets)] = True
        excess = np.array([each[1] for each in listed], dtype=np.int64)
        kind = np.array([each[0] for each in listed], dtype=np.int64)
        return _Options(kind, excess + serves.astype(np.int64) @ prices, serves)

    # ---- the tree

    def _is_closed(self, node: ProofNode, choices: _Choices, cost: int) -> bool:
        """Return whether no choice is cheaper, by the prices of a node or those of its parts."""
        excess = choices.options.cost - choices.options.serves @ self._ticket_prices(node.prices)
        floor = self._worth(node.prices, choices)
        for cut in node.cuts:
            pairs = choices.options.serves[:, list(set(cut.tickets))].sum(axis=1) // 2
            excess = excess + max(0, cut.price) * pairs
            floor -= max(0, cut.price) * (len(set(cut.tickets)) // 2)
        for load in node.loads:
            enters = choices.options.serves[:, list(load.tickets)].any(axis=1)
            rooms = np.array(self._rooms(load), dtype=np.int64)[choices.options.kind]
            excess = excess - max(0, load.price) * rooms * enters
            floor += max(0, load.price) * self._units(load)
        claims = []
        for number, (fewest, most) in enumerate(choices.counts):
            least = int(excess[choices.options.kind == number].min(initial=NO_LEG))
            if fewest and least == NO_LEG:
                return True  # it has to have a route, and none is left
            claims.append(least if least < 0 or fewest else 0)
            floor += most * least if least < 0 else fewest * least
        budget = cost * self.factor - floor
        if budget < self.factor:
            return True
        kept = excess < budget + np.array(claims, dtype=np.int64)[choices.options.kind]
        left = replace(choices, options=choices.options.only(kept))
        parts = (left,) if node.split is None else self._parts(node.split, left)
        return len(parts) == len(node.parts) and all(
            self._is_closed(each, part, cost) for each, part in zip(node.parts, parts, strict=True)
        )

    def _worth(self, prices: RowPrices, choices: _Choices) -> int:
        total = 0
        for number, (row, price) in enumerate(zip(self.rows, self._row_prices(prices), strict=True)):
            if row.penalty is None or number in choices.served:
                total += price
            else:
                total += row.penalty if number in choices.left_out else min(price, row.penalty)
        return total

    def _parts(
        self, split: PairSplit | AgentSplit | ServiceSplit | CountSplit, choices: _Choices
    ) -> tuple[_Choices, ...]:
        """Return the choices on both sides of a split; every choice is on one of them."""
        options = choices.options
        if isinstance(split, PairSplit):
            both = options.serves[:, list(split.tickets)].sum(axis=1)
            return tuple(replace(choices, options=options.only(kept)) for kept in (both != 1, both != 2))
        if isinstance(split, AgentSplit):
            own, serves = options.kind == self._kind_of[split.agent], options.serves[:, split.ticket]
            return tuple(replace(choices, options=options.only(kept)) for kept in (own | ~serves, ~(own & serves)))
        if isinstance(split, ServiceSplit):
            row = next(n for n, each in enumerate(self.rows) if split.ticket in each.tickets)
            without = options.only(options.serves[:, list(self.rows[row].tickets)].sum(axis=1) == 0)
            return (
                replace(choices, served=choices.served | {row}),
                replace(choices, options=without, left_out=choices.left_out | {row}),
            )
        kind = self._kind_of[split.agent]
        fewest, most = choices.counts[kind]
        sides = ((fewest, min(most, split.most)), (max(fewest, split.most + 1), most))
        before, after = choices.counts[:kind], choices.counts[kind + 1 :]
        return tuple(replace(choices, counts=(*before, side, *after)) for side in sides)


def _sum_of(prices: RowPrices) -> int:
    return sum(map(abs, prices.tickets)) + sum(map(abs, prices.groups))


# ---- the tables of an agent


def _agent_tables(
    problem: Problem, number: int, certificate: OptimalityCertificate, prices: Table, savings: Table
) -> AgentTables:
    """Return what the routes of an agent are, in integers."""
    spec, factor = problem.agents[number], certificate.factor
    distance, time, setup = legs_of(problem, number)
    time += setup  # from one start of service, or the departure, to the next, or the end
    time[:-1] += np.array([[ticket.service] for ticket in problem.tickets], dtype=np.int64)
    legs = factor * spec.distance_cost * distance
    per_time, closes = factor * spec.time_cost, spec.shift[1] + spec.overtime
    if _is_untimed(problem, number, time):
        legs, time, per_time = legs + per_time * time, np.zeros_like(time), 0
    legs[_is_not_driven(problem, number)] = NO_LEG
    tickets = problem.tickets
    dimensions = min(MOST_DIMENSIONS, len(spec.capacity))
    given, taken = (_loads(problem, kind, dimensions) for kind in (LoadKind.DELIVERY, LoadKind.PICKUP))
    shipped = _shipped_loads(problem, dimensions)
    is_simple = all(len(t.windows) <= 1 and not t.release and not t.lateness_cost for t in tickets)
    capacity = [*spec.capacity[:dimensions], *[0] * (MOST_DIMENSIONS - dimensions)]
    may_be_long = spec.max_stops is not None or _may_be_long(given + taken, capacity, time, closes - spec.shift[0])
    most_stops = len(tickets) if spec.max_stops is None else min(len(tickets), spec.max_stops)
    # stops that are not compared have no limit: what goes in circles may beat a route of fewer stops on its way
    limits = (
        NO_LEG if each is None else each
        for each in (spec.max_distance, spec.max_duration, most_stops if may_be_long else None)
    )
    money = (factor * spec.overtime_cost, per_time, factor * spec.fixed_cost)
    times = (spec.shift[0], closes, spec.shift[1])
    agent = (len(tickets), dimensions, *times, *money, *limits, may_be_long, is_simple, *capacity)
    windows = [window for ticket in tickets for window in ticket.windows] or [(0, 0)]
    cut_price = np.zeros(MOST_CUTS, dtype=np.int64)
    cut_price[: len(certificate.cuts)] = [max(0, cut.price) for cut in certificate.cuts]
    rows = _ticket_rows(problem, number, factor, prices, np.hstack([given, taken, shipped]), certificate.memory)
    return AgentTables(
        np.array(agent, dtype=np.int64),
        np.ascontiguousarray(np.hstack([rows, _cuts_by_ticket(certificate.cuts, len(tickets))])),
        np.ascontiguousarray(np.stack([legs, time, distance, savings], axis=2)),
        np.array(windows, dtype=np.int64),
        cut_price,
    )


def _cuts_by_ticket(cuts: Sequence[SubsetCut], count: int) -> Table:
    """Return as bits the cuts that have each ticket, and those that a stop there remembers, (count, 2)."""
    has = np.zeros((count, MOST_CUTS), dtype=bool)
    keeps = np.zeros((count, MOST_CUTS), dtype=bool)
    for number, cut in enumerate(cuts):
        has[list(cut.tickets), number] = True
        keeps[list(range(count) if cut.memory is None else cut.memory), number] = True
    return np.hstack([_bits(has), _bits(has | keeps)])


def _is_untimed(problem: Problem, number: int, time: Table) -> bool:
    """Return whether no order of any tickets is too late anywhere."""
    spec = problem.agents[number]
    if spec.max_duration is not None or spec.shift[0] + int(time.max(axis=1).sum()) > spec.shift[1]:
        return False
    return not any(ticket.windows or ticket.release or ticket.lateness_cost for ticket in problem.tickets)


def _is_not_driven(problem: Problem, number: int) -> Flags:
    tickets, count = problem.tickets, len(problem.tickets)
    found = np.eye(count + 1, dtype=bool)
    held = {ticket for other, spec in enumerate(problem.agents) if other != number for ticket in spec.locked}
    foreign = [i for i, t in enumerate(tickets) if i in held or (t.agents is not None and number not in t.agents)]
    found[foreign] = found[:, foreign] = True
    for low, high in problem.incompatible:
        found[low, high] = found[high, low] = True
    if problem.backhaul and not problem.partner_of:
        is_pickup = np.array([*(ticket.load is LoadKind.PICKUP for ticket in tickets), False])
        found |= np.outer(is_pickup, np.append(~is_pickup[:count], False))
    return found


def _loads(problem: Problem, kind: LoadKind, dimensions: int) -> Table:
    """Return what each ticket delivers, or picks up; nothing for half a shipment."""
    amounts = np.zeros((len(problem.tickets), MOST_DIMENSIONS), dtype=np.int64)
    for number, ticket in enumerate(problem.tickets):
        if ticket.load is kind and number not in problem.partner_of:
            amounts[number, :dimensions] = ticket.demand[:dimensions]
    return amounts


def _shipments(problem: Problem) -> list[tuple[int, int]]:
    """Return the delivery and the pickup of each shipment."""
    return [(number, ticket.pickup) for number, ticket in enumerate(problem.tickets) if ticket.pickup is not None]


def _shipped_loads(problem: Problem, dimensions: int) -> Table:
    """Return what comes on board at the pickup of each shipment, and leaves at its delivery."""
    amounts = np.zeros((len(problem.tickets), MOST_DIMENSIONS), dtype=np.int64)
    for delivery, pickup in _shipments(problem):
        amounts[pickup, :dimensions] = problem.tickets[pickup].demand[:dimensions]
        amounts[delivery] = -amounts[pickup]
    return amounts


def _may_be_long(amounts: Table, capacity: Sequence[int], time: Table, span: int) -> bool:
    """Return whether neither loads nor times end a route after a small multiple of the tickets."""
    count = len(amounts)
    smallest = [(int(amounts[:, d].min()), room) for d, room in enumerate(capacity)]
    between = time[:, :count] + np.vstack([np.diag([span + 1] * count), np.zeros((1, count), dtype=np.int64)])
    smallest.append((int(between.min()), span))
    return not any(least * _MANY * count >= room for least, room in smallest if least > 0)


def _ticket_rows(problem: Problem, number: int, factor: int, prices: Table, loads: Table, memory: Flags) -> Table:
    count, rows = len(problem.tickets), []
    pickups = dict(_shipments(problem))
    costs = _visit_costs(problem, number, factor, prices)
    ends = np.cumsum([0, *(len(ticket.windows) for ticket in problem.tickets)])
    for at, ticket in enumerate(problem.tickets):
        soft = NO_LEG if ticket.soft_close is None else ticket.soft_close
        late = ticket.lateness_cost * factor
        pickup = pickups.get(at, at if at in problem.partner_of else -1)
        rows.append((costs[at], ticket.release, soft, late, ends[at], ends[at + 1], pickup, *loads[at]))
    places = [ticket.location for ticket in problem.tickets]
    far = problem.distances[problem.agents[number].profile][np.ix_(places, places)].astype(np.int64)
    near = memory | np.eye(count, dtype=bool)
    far = np.where(near, far, NO_LEG)
    np.fill_diagonal(far, -1)
    nearest = np.zeros_like(near)
    np.put_along_axis(nearest, np.argsort(far, axis=1, kind="stable")[:, :_NEAREST], values=True, axis=1)
    return np.hstack([np.array(rows, dtype=np.int64), _words(near), _words(nearest & near)])


def _visit_costs(problem: Problem, number: int, factor: int, prices: Table) -> list[int]:
    """Return what a visit to each ticket costs an agent, less its price; the halves of a shipment share theirs.

    A route has both or none, so that the sum counts alone. With equal parts, bounds that do not pair halves are closer.
    """
    found = []
    for ticket, price in zip(problem.tickets, prices, strict=True):
        switch = ticket.switch_cost * factor if ticket.preferred not in (None, number) else 0
        found.append(switch - int(price))
    for delivery, pickup in _shipments(problem):
        both = found[delivery] + found[pickup]
        found[pickup], found[delivery] = both // 2, both - both // 2
    return found


def _words(sets: Flags) -> Table:
    """Return rows of booleans as rows of bits."""
    padded = np.zeros((len(sets), _WORDS * 64), dtype=bool)
    padded[:, : len(sets)] = sets
    return _bits(padded)


def _bits(flags: Flags) -> Table:
    """Return rows of a multiple of 64 booleans as words of bits."""
    return np.ascontiguousarray(np.packbits(flags, axis=1, bitorder="little").view(np.int64))
