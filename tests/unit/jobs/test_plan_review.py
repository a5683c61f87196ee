"""The transition table of reviews alone."""

import pytest

from planner_mcp.jobs.plan_review import REVIEWS, ReviewState, ReviewStep, next_steps


@pytest.mark.parametrize(
    ("state", "steps"),
    [
        ("draft", ["propose"]),
        ("proposed", ["propose", "approve", "reject"]),
        ("approved", ["publish"]),
        ("rejected", ["propose"]),
        ("published", []),
    ],
)
def test_each_state_allows_its_steps(state: str, steps: list[str]) -> None:
    """SPEC A5: draft → proposed → approved | rejected → published; a rejected plan may be proposed again."""
    assert next_steps(ReviewState(state)) == [ReviewStep(step) for step in steps]


def test_nothing_is_published_that_was_not_approved() -> None:
    """SPEC A5."""
    assert [state for (state, step) in REVIEWS if step is ReviewStep.PUBLISH] == [ReviewState.APPROVED]
    assert [state for (state, step) in REVIEWS if step is ReviewStep.APPROVE] == [ReviewState.PROPOSED]
