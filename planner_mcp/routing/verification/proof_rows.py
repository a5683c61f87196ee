"""What a problem is to a proof: rows of tickets of which one is served, kinds of equal agents, legs of an agent.

Part of the independent checks of proofs: it shares no code with engines or evaluation.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from planner_mcp import arrays as np
from planner_mcp.arrays import Integers
from planner_mcp.routing.problem import AgentSpec, GroupKind, Problem


@dataclass(frozen=True, slots=True)
class ProofRow:
    """Tickets of which exactly one is served; left out at a penalty where there is one."""

    tickets: tuple[int, ...]
    penalty: int | None


@dataclass(frozen=True, slots=True)
class Kind:
    """Agents that differ in nothing but the id."""

    agents: tuple[int, ...]
    is_used: bool
    """Whether each has a route in every plan."""


def rows_of(problem: Problem, factor: int) -> Iterator[ProofRow]:
    """Yield the tickets outside ONE_OF groups, then these groups; penalties are multiplied by the factor."""
    tickets = problem.tickets
    choices = [group for group in problem.groups if group.kind is GroupKind.ONE_OF]
    chosen = {ticket for group in choices for ticket in group.tickets}
    for number, ticket in enumerate(tickets):
        if number not in chosen:
            must = not ticket.is_priced and ticket.penalty > 0
            yield ProofRow((number,), None if must else ticket.penalty * factor)
    for group in choices:
        must = group.penalty > 0 and not all(tickets[each].is_priced for each in group.tickets)
        yield ProofRow(group.tickets, None if must else group.penalty * factor)


def kinds_of(problem: Problem) -> Iterator[Kind]:
    """Yield the kinds of agents."""
    kinds: dict[tuple[object, ...], list[int]] = {}
    for number, spec in enumerate(problem.agents):
        own = tuple((t.agents is None or number in t.agents, t.preferred == number) for t in problem.tickets)
        values = tuple(getattr(spec, name) for name in AgentSpec.__slots__ if name != "id")
        kinds.setdefault((values, own), []).append(number)
    for numbers in kinds.values():
        yield Kind(tuple(numbers), bool(problem.agents[numbers[0]].locked))


def claims_of(kinds: Iterable[Kind], least: Sequence[int]) -> list[int]:
    """Return by kind what no reduced cost of its routes is below, by claims for each agent."""
    return [min(0, *(least[agent] for agent in kind.agents)) for kind in kinds]


def floor_of(rows: Sequence[ProofRow], prices: Sequence[int], kinds: Sequence[Kind], claims: Sequence[int]) -> int:
    """Return what a plan costs at least, by prices of its rows and claims of its kinds."""
    served = (p if row.penalty is None else min(p, row.penalty) for p, row in zip(prices, rows, strict=True))
    return sum(served) + sum(len(kind.agents) * claim for kind, claim in zip(kinds, claims, strict=True))


def legs_of(problem: Problem, number: int, depots: Sequence[int] = ()) -> tuple[Integers, Integers, Integers]:
    """Return distance, travel and setup between the stops of an agent, travel at the best hour of the day.

    Rows and columns are tickets, then places of reload, then the start (row) or the end (column).
    """
    spec, tickets = problem.agents[number], problem.tickets
    places: list[int | None] = [*(ticket.location for ticket in tickets), *depots]
    best, edge = min([1000, *(period.factor for period in problem.travel_periods)]), len(places)
    distance, travel, setup = (np.zeros((edge + 1, edge + 1), dtype=np.int64) for _ in range(3))
    for row, origin in enumerate([*places, spec.start]):
        for column, target in enumerate([*places, spec.end]):
            if origin is not None and target is not None:
                distance[row, column] = problem.distances[spec.profile][origin, target]
                travel[row, column] = int(problem.durations[spec.profile][origin, target]) * best // 1000
            if column < len(tickets) and (row == edge or origin != target):
                setup[row, column] = tickets[column].setup
    return distance, travel, setup


def row_prices(problem: Problem, rows: Sequence[ProofRow], tickets: Sequence[int], groups: Sequence[int]) -> list[int]:
    """Return the price of each row.

    Args:
        problem: The problem.
        rows: Those of `rows_of`.
        tickets: Prices by ticket.
        groups: Prices by group.
    """
    choices = [groups[number] for number, each in enumerate(problem.groups) if each.kind is GroupKind.ONE_OF]
    return [*(tickets[row.tickets[0]] for row in rows[: len(rows) - len(choices)]), *choices]
