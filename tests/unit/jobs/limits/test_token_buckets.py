"""Token buckets in memory."""

import pytest

from planner_mcp.jobs.limits import token_buckets
from planner_mcp.jobs.limits.token_buckets import TokenBuckets, client_address


class Clock:
    """Seconds that pass when told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_tokens_come_back_and_names_do_not_share_them() -> None:
    """SPEC A3: a burst, then a steady rate; one name's refusals are counted once."""
    clock = Clock()
    few = TokenBuckets(rate_per_s=0.5, burst=2, clock=clock)
    assert [few.take("a"), few.take("a"), few.take("a"), few.take("a")] == [0, 0, 2, 2]
    assert (few.wait_s("a"), few.wait_s("b"), few.take("b")) == (2, 0, 0)
    assert (few.refused("a"), few.refused("a")) == (2, 0)
    clock.now = 2.0
    assert (few.take("a"), few.take("a")) == (0, 2)
    clock.now = 1000.0
    assert [few.take("a"), few.take("a"), few.take("a")] == [0, 0, 2], "no more than a burst is saved up"


def test_a_crowd_of_names_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC A3: those not heard of for longest are forgotten."""
    monkeypatch.setattr(token_buckets, "MAX_NAMES", 3)
    few = TokenBuckets(rate_per_s=1, burst=1, clock=Clock())
    for name in ("a", "b", "c", "a", "d"):
        few.take(name)
    assert [few.wait_s(name) for name in ("a", "c", "d")] == [1, 1, 1]
    assert few.wait_s("b") == 0


@pytest.mark.parametrize(
    ("client", "name"),
    [
        (("192.0.2.7", 5), "192.0.2.7"),
        (("2001:db8:1:2:3:4:5:6", 5), "2001:db8:1:2::/64"),
        (("fe80::1%eth0", 5), "fe80::/64"),
        (("testclient", 5), "testclient"),
        (None, ""),
    ],
)
def test_strangers_are_counted_by_address(client: tuple[str, int] | None, name: str) -> None:
    """SPEC A3: of IPv6 by the network one customer has, else there would be 2^64 bursts."""
    assert client_address({"client": client}) == name
