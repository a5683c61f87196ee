"""Small days, one or more for each rule of the model, in which ignoring the rule gives another plan."""

from tests.shared.agent_days import AGENT_DAYS
from tests.shared.ticket_days import TICKET_DAYS

DAYS = [*AGENT_DAYS, *TICKET_DAYS]
