"""The HTTP status of each error."""

from planner_mcp.errors import FourEyesError, RoutingProviderUnavailableError, error_classes
from planner_mcp.server.http.responses.http_responses import refusal, status_of


def test_a_refusal_of_the_caller_is_never_500() -> None:
    """SPEC T7, T8: by its code; a proposer that reviews its own plan under four eyes too."""
    statuses = {code: status_of(cls()) for code, cls in error_classes().items()}
    assert [code for code, status in statuses.items() if (code < 5000) != (status < 500)] == []
    assert statuses[FourEyesError.code] == 403


def test_a_road_engine_that_is_away_is_worth_another_try() -> None:
    """RFC 9110, 15.6.4: 503, and when to come back."""
    answer = refusal(RoutingProviderUnavailableError())
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
