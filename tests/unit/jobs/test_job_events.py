"""How positions in a job's stream compare."""

from itertools import pairwise

import pytest

from planner_mcp.errors import InputError
from planner_mcp.jobs.job_events import position_key


def test_positions_compare_as_the_stream_orders_them() -> None:
    """SPEC J4: by number, not by letter; without a count a position means the first of its millisecond."""
    line = ["0", "9-10", "10-2", "10-10", "1700000000000-0"]
    assert all(position_key(first) < position_key(then) for first, then in pairwise(line))
    assert position_key("10") == position_key("10-0") == (10, 0)


@pytest.mark.parametrize("text", ["", "-", "yesterday", "1-", "-1", "1-2-3", "1 ", "١-٢", "1" * 20])
def test_what_is_no_position_is_refused_where_it_was_given(text: str) -> None:
    """SPEC T7: with the path the caller knows."""
    with pytest.raises(InputError) as refused:
        position_key(text, "/since")
    assert [fault.path for fault in refused.value.errors] == ["/since"]
