"""The transition table alone."""

from planner_mcp.jobs.job_lifecycle import TERMINAL, TRANSITIONS, JobState


def test_terminal_states_have_no_exit() -> None:
    """SPEC J1."""
    assert not [state for state, _change in TRANSITIONS if state in TERMINAL]


def test_every_state_can_be_reached_from_queued() -> None:
    """SPEC J1."""
    reached = {JobState.QUEUED}
    for _round in JobState:
        reached |= {target for (state, _change), target in TRANSITIONS.items() if state in reached}
    assert reached == set(JobState)
