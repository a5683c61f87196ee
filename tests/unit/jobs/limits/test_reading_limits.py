"""What reading the inputs of one principal may cost (ADR 0036)."""

from collections.abc import Callable

import pytest

from planner_mcp.errors import InvalidParameterError, PlannerError, QuotaExceededError, RateLimitedError, TooLargeError
from planner_mcp.jobs.limits import reading_limits
from planner_mcp.jobs.limits.reading_limits import MEBIBYTE, BodyBudget, check_share, read_bounded
from planner_mcp.settings import Settings
from tests.unit.bounded_calls import bounded_functions


def test_open_bytes_are_bounded_by_principal() -> None:
    """SPEC A3, X3: one may be larger than all together may; others have their own."""
    budget = BodyBudget(Settings(max_open_body_bytes=2048))
    with budget.opened("ann", 4096):
        with pytest.raises(QuotaExceededError) as refused, budget.opened("ann", 1):
            pass
        assert refused.value.errors[0].accepted == "max_open_body_bytes is 2048"
        with budget.opened("bob", 2048):
            pass
    with budget.opened("ann", 1024), budget.opened("ann", 1024):
        pass


def test_a_body_that_came_counts_with_the_bytes_it_has() -> None:
    """SPEC A3: of unknown length it counts with the most it may have only while it comes, not while it is answered."""
    budget = BodyBudget(Settings(max_open_body_bytes=2048))
    with budget.opened("ann", 2000) as arrived:
        with pytest.raises(QuotaExceededError), budget.opened("ann", 100):
            pass
        arrived(10)
        with budget.opened("ann", 2000):
            pass
    with budget.opened("ann", 2048), pytest.raises(QuotaExceededError), budget.opened("ann", 1):
        pass


def test_bytes_that_came_are_paid_afterwards() -> None:
    """SPEC A3: where principals are told apart; none is refused for its size alone."""
    budget = BodyBudget(Settings(body_mb_per_s=0.001, auth_api_keys=True))
    with budget.opened("ann", 1) as arrived:
        arrived(8 * MEBIBYTE)
    with pytest.raises(RateLimitedError) as refused, budget.opened("ann", 1):
        pass
    assert refused.value.retry_after_s is not None
    with budget.opened("bob", 1):
        pass


@pytest.mark.anyio
async def test_cpu_of_bounded_calls_is_the_principals() -> None:
    """SPEC A3: who used up its share waits; others do not."""
    settings = Settings(read_share=0.37)
    shares = reading_limits._shares(settings.read_share)
    assert await read_bounded("ann", settings, abs, -1) == 1
    shares.spend("ann", 2 * reading_limits.BURST_S)
    with pytest.raises(RateLimitedError):
        await read_bounded("ann", settings, abs, -1)
    check_share("bob", settings)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("function", "error"),
    [(bounded_functions.refused_late, InvalidParameterError), (bounded_functions.killed, TooLargeError)],
    ids=["refused", "beyond its limits"],
)
async def test_an_input_that_is_refused_is_paid_like_any_other(
    function: Callable[[], None], error: type[PlannerError]
) -> None:
    """SPEC A4: whoever sent nothing but what is wrong could use all the CPU of a replica."""
    settings = Settings(read_share=0.0013)
    shares = reading_limits._shares(settings.read_share)
    principal = function.__name__
    shares.spend(principal, reading_limits.BURST_S * settings.read_share)  # nothing is saved up
    with pytest.raises(error):
        await read_bounded(principal, settings, function)
    with pytest.raises(RateLimitedError):
        await read_bounded(principal, settings, abs, -1)
