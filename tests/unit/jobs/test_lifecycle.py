"""The transition table alone."""

import json

import pytest

from planner_mcp.errors import IllegalTransitionError
from planner_mcp.jobs.lifecycle import TERMINAL, TRANSITIONS, Change, JobState, advance, table_json


def test_terminal_states_have_no_exit() -> None:
    """SPEC J1."""
    assert not [state for state, _change in TRANSITIONS if state in TERMINAL]


def test_every_state_can_be_reached_from_queued() -> None:
    """SPEC J1."""
    reached = {JobState.QUEUED}
    for _round in JobState:
        reached |= {target for (state, _change), target in TRANSITIONS.items() if state in reached}
    assert reached == set(JobState)


@pytest.mark.parametrize("state", JobState)
@pytest.mark.parametrize("change", Change)
def test_advance_follows_the_table_and_refuses_the_rest(state: JobState, change: Change) -> None:
    """SPEC J1."""
    if (state, change) in TRANSITIONS:
        assert advance(state, change) is TRANSITIONS[state, change]
    else:
        with pytest.raises(IllegalTransitionError):
            advance(state, change)


def test_lua_is_given_the_same_table() -> None:
    """Our choice: the table lives once."""
    told = {tuple(pair.split(":")): target for pair, target in json.loads(table_json()).items()}
    assert told == TRANSITIONS
