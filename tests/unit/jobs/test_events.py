"""How positions in a job's stream compare."""

from itertools import pairwise

import pytest

from planner_mcp.errors import InputError
from planner_mcp.jobs.events import order_of


def test_positions_compare_as_the_stream_orders_them() -> None:
    """SPEC J4: by number, not by letter; without a count a position means the first of its millisecond."""
    line = ["0", "9-10", "10-2", "10-10", "1700000000000-0"]
    assert all(order_of(first) < order_of(then) for first, then in pairwise(line))
    assert order_of("10") == order_of("10-0") == (10, 0)


@pytest.mark.parametrize("text", ["", "-", "yesterday", "1-", "-1", "1-2-3", "1 ", "١-٢", "1" * 20])
def test_what_is_no_position_is_refused_where_it_was_given(text: str) -> None:
    """SPEC T7: with the path the caller knows."""
    with pytest.raises(InputError) as refused:
        order_of(text, "/since")
    assert [fault.path for fault in refused.value.errors] == ["/since"]
