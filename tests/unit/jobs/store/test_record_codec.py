"""What Redis holds, read as records."""

import json

import pytest

from planner_mcp.jobs.store.record_codec import event_data_of
from planner_mcp.text import compact

SUMMARY = '{"status":"partial","cost":7.5,"cost_in":"EUR","unassigned":1,"unassigned_reasons":{"NO_SKILL":1}}'


@pytest.mark.parametrize(
    "text",
    [
        '{"status":"QUEUED","progress":0}',
        '{"status":"SOLVING","progress":0,"attempt":1}',
        '{"status":"SOLVING","progress":57,"cost":7,"tickets_served":3,"tickets_total":4,"improvements":0,"elapsed_s":0.0}',
        '{"status":"QUEUED","progress":57,"reason":"crash","crashes":1}',
        '{"status":"COMPLETED","progress":100,"result":{"plan_id":"plan-0-a",' + SUMMARY[1:] + "}",
        '{"status":"CANCELLED","progress":57,"cancelled_at":"2026-01-01T00:00:00.000Z","plan_id":"plan-0-a","summary":'
        + SUMMARY
        + "}",
        '{"status":"FAILED","progress":57,"error":{"code":5015,"type":"PoisonedJob","message":"It died."}}',
        '{"status":"FAILED","progress":9,"plan_id":"plan-0-a","summary":{"status":"partial"},'
        '"error":{"code":4001,"type":"X","message":"m","traceId":"t","errors":[{"path":"/a"}],"retryable":false}}',
        '{"status":"COMPLETED","progress":100,"plan_id":"plan-0-a","review":{"state":"rejected","reason":"late"},"summary":{}}',
    ],
)
def test_what_an_event_says_is_sent_as_it_was_stored(text: str) -> None:
    """SPEC J3: the same fields in the same order, whether or not they say 0."""
    assert compact(event_data_of(json.loads(text)).as_json()) == text


def test_an_event_of_another_version_is_read() -> None:
    """SPEC J7: while a deployment rolls, a newer process writes fields that this one does not know."""
    stored = {"status": "FAILED", "new": 1, "summary": {"cost": 1, "new": 2}, "error": {"message": "m"}}
    found = event_data_of(stored)
    assert found.summary is not None and found.error is not None
    assert (found.progress, found.summary.cost, found.error.message, found.error.code) == (0, 1, "m", 5000)
    assert "new" not in found.as_json()


def test_an_event_says_no_more_of_a_review_than_this_version_writes() -> None:
    """SPEC J7: a newer process may write its times there, as text; what is null is not said."""
    review = {"state": "approved", "reviewed_at": "2026-01-01T00:00:00Z", "new": 1}
    stored = {"status": "COMPLETED", "progress": 100, "review": review, "summary": None, "error": None}
    assert event_data_of(stored).as_json() == {"status": "COMPLETED", "progress": 100, "review": {"state": "approved"}}
