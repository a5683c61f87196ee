"""Which agents could take a ticket along at all: all of its amounts at once, and as many tickets as it brings.

Owns that one relation, of the ticket alone; what else is on the route only takes room. Skills and names are checked by
`scenario/agent_eligibility.py`, travel and hours by `feasibility/unservable_tickets.py`.
"""

from functools import lru_cache
from typing import Final

from planner_mcp import arrays as np
from planner_mcp.routing.scenario.scenario_model import Scenario, Ticket

AMOUNT_TOLERANCE: Final = 1e-6
"""Above a capacity a demand is too large only by more than this: sums of decimals such as 0.1 are not exact."""
_Asked = tuple[tuple[str, float], ...]


class AgentCapability:
    """The relation of one scenario."""

    def __init__(self, scenario: Scenario) -> None:
        names = dict.fromkeys(name for agent in scenario.agents for name in agent.capacity)
        self._column = {name: index for index, name in enumerate(names)}
        self._capacities = np.array([[agent.capacity.get(name, 0.0) for name in names] for agent in scenario.agents])
        self._most = np.array([np.inf if a.max_tickets is None else a.max_tickets for a in scenario.agents])
        self._shipped = {ticket.pickup for ticket in scenario.tickets}
        self._among = lru_cache(maxsize=256)(self._chosen)

    def with_capacity(self, ticket: Ticket, agents: frozenset[int]) -> tuple[int, ...]:
        """Return those of the agents that have the capacity for the ticket, in order."""
        return self._among(agents, tuple(ticket.demand.items()), 0)

    def capable(self, ticket: Ticket, agents: frozenset[int]) -> tuple[int, ...]:
        """Return those who may serve as many tickets, too: two where it is half of a shipment."""
        count = 1 + (ticket.pickup is not None or ticket.id in self._shipped)
        return self._among(agents, tuple(ticket.demand.items()), count)

    def _chosen(self, agents: frozenset[int], demand: _Asked, count: int) -> tuple[int, ...]:
        asked = np.array(sorted(agents), dtype=np.intp)
        is_capable = self._most[asked] >= count
        for name, amount in demand:
            least = amount - AMOUNT_TOLERANCE
            is_capable &= self._capacities[asked, self._column[name]] >= least if name in self._column else amount <= 0
        return tuple(asked[is_capable].tolist())
