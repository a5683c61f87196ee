"""The ids of further tours: `veh-3 tour 2` is the second tour of `veh-3`.

Owns the form of these ids. It imports nothing, so that whoever shows a plan need load no model of a scenario.
"""

import re
from typing import Final

_TOUR: Final = re.compile(r"(.+) tour (\d{1,3})", re.DOTALL)


def base_agent(agent_id: str) -> str:
    """Return the agent whose tour an id names; the id itself for a first tour."""
    found = _TOUR.fullmatch(agent_id)
    return found[1] if found else agent_id


def next_tour(agent_id: str) -> str:
    """Return the id of the tour after that of an id."""
    found = _TOUR.fullmatch(agent_id)
    return f"{agent_id} tour 2" if found is None else f"{found[1]} tour {int(found[2]) + 1}"
