"""Small days, one or more for each rule of the model, in which ignoring the rule gives another plan."""

from tests.shared.scenarios.agent_rule_cases import AGENT_RULE_CASES
from tests.shared.scenarios.ticket_rule_cases import TICKET_RULE_CASES

RULE_CASES = [*AGENT_RULE_CASES, *TICKET_RULE_CASES]
