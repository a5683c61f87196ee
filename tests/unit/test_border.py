"""What passes the border of the store, and as what."""

import pytest

from planner_mcp.errors import StoreUnavailableError
from planner_mcp.store.border import border


def test_a_connection_lost_while_it_is_opened_is_an_outage() -> None:
    """SPEC J7: the client library then stumbles over a writer that is gone; callers are told to come back."""
    writer = None
    with pytest.raises(StoreUnavailableError), border():
        writer.writelines([b""])  # type: ignore[attr-defined]


def test_a_mistake_of_ours_is_no_outage() -> None:
    """Our choice: what is wrong in the code must not look like a store that is away."""
    with pytest.raises(AttributeError), border():
        "text".no_such_method()  # type: ignore[attr-defined]
