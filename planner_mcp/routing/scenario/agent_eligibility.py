"""Which agents may serve which ticket, by skills and by id.

Owns this relation for checks and compilation. Unknown ids are ignored, because `scenario/checks/` reports them. Tickets
with equal requirements share one result, stored as the bits of an integer: thousands of tickets may all differ, and as
many sets of agents would take hundreds of megabytes.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from planner_mcp.routing.scenario.scenario_model import Scenario, Ticket


class Eligibility:
    """The eligibility relation of one scenario."""

    def __init__(self, scenario: Scenario) -> None:
        self._all = (1 << len(scenario.agents)) - 1
        self._agent = {agent.id: 1 << index for index, agent in enumerate(scenario.agents)}
        self._skilled: dict[str, int] = {}
        for index, agent in enumerate(scenario.agents):
            for skill in set(agent.skills):
                self._skilled[skill] = self._skilled.get(skill, 0) | 1 << index
        self._known: dict[tuple[object, ...], int] = {}
        self._kept: dict[int, frozenset[int]] = {}
        self._indexes = lru_cache(maxsize=64)(_indexes)

    def agents(self, ticket: Ticket) -> frozenset[int]:
        """Return the indexes of the agents that may serve the ticket."""
        return self._indexes(self._bits(ticket))

    def may(self, agent: int, ticket: Ticket) -> bool:
        """Return whether one agent may serve the ticket."""
        return bool(self._bits(ticket) >> agent & 1)

    def restriction(self, ticket: Ticket) -> frozenset[int] | None:
        """Return what `agents` returns, or None where every agent is eligible; equal results are the same set."""
        if (bits := self._bits(ticket)) == self._all:
            return None
        if bits not in self._kept:
            self._kept[bits] = _indexes(bits)
        return self._kept[bits]

    def _bits(self, ticket: Ticket) -> int:
        key = (ticket.skills, ticket.agents, ticket.not_agents)
        if key not in self._known:
            chosen = self._all if ticket.agents is None else _union(self._agent, ticket.agents)
            for skill in ticket.skills:
                chosen &= self._skilled.get(skill, 0)
            self._known[key] = chosen & ~_union(self._agent, ticket.not_agents)
        return self._known[key]


def _union(bits: Mapping[str, int], names: Iterable[str]) -> int:
    united = 0
    for name in names:
        united |= bits.get(name, 0)
    return united


def _indexes(bits: int) -> frozenset[int]:
    return frozenset(index for index, bit in enumerate(reversed(f"{bits:b}")) if bit == "1")
