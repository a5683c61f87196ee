"""Which agents may serve which ticket, by skills and by name.

Owns that one relation, for checks and compilation alike. Names that do not exist are passed over: `checks/logic.py` has
said so already. Tickets that ask the same share one answer.
"""

from planner_mcp.vrp.day.model import Scenario, Ticket


class Eligible:
    """The relation of one scenario."""

    def __init__(self, scenario: Scenario) -> None:
        self._skills = [frozenset(agent.skills) for agent in scenario.agents]
        self._index = {agent.id: index for index, agent in enumerate(scenario.agents)}
        self._known: dict[tuple[object, ...], frozenset[int]] = {}

    def agents(self, ticket: Ticket) -> frozenset[int]:
        """Return the indexes of the agents that may serve the ticket."""
        key = (ticket.skills, ticket.agents, ticket.not_agents)
        if key not in self._known:
            needed = set(ticket.skills)
            named = self._index if ticket.agents is None else ticket.agents
            chosen = {self._index[name] for name in named if name in self._index}
            barred = {self._index[name] for name in ticket.not_agents if name in self._index}
            self._known[key] = frozenset(agent for agent in chosen - barred if needed <= self._skills[agent])
        return self._known[key]

    def restriction(self, ticket: Ticket) -> frozenset[int] | None:
        """Return the same, or None where every agent may."""
        agents = self.agents(ticket)
        return None if len(agents) == len(self._skills) else agents
