"""Small days, one or more for each rule of the model, in which ignoring the rule gives another plan."""

from tests.contract.agent_days import AGENT_DAYS
from tests.contract.day import TOUR, Day, abc, agent
from tests.contract.ticket_days import TICKET_DAYS

DAYS = [*AGENT_DAYS, *TICKET_DAYS]

__all__ = ["DAYS", "TOUR", "Day", "abc", "agent"]
