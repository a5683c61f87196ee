"""What a logic fault may depend on beside the entry it stands in.

Where a mistake of schema makes that unsure, `error_recovery.py` keeps the fault back until the mistake is gone
(SPEC T7).
"""

from enum import StrEnum


class FaultDependency(StrEnum):
    """One such thing; a fault names its own in `Fault.needs`."""

    AGENTS = "agents"
    """The set of agent ids."""
    TICKETS = "tickets"
    """The set of ticket ids."""
    LOCATIONS = "locations"
    """The set of location ids."""
    ELIGIBILITY = "carriers"
    """Who may serve what: what agents carry, can do and reload."""
    AMOUNTS = "amounts"
    """What other tickets bring, and which way it goes."""
