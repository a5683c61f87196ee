"""Teams: a job with seats on several workers (SPEC O8, ADR 54)."""

from typing import Any

import pytest

from planner_mcp.errors import LeaseLostError
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_ports import Claim, SeatClaim
from tests.integration.jobs.conftest import HALF, PLAN, StoreHarness

pytestmark = pytest.mark.anyio


def costing(cost: float, penalty: float = 0.0) -> dict[str, Any]:
    """Return a plan of a cost."""
    return PLAN | {"cost": cost, "penalty": penalty}


async def team(harness: StoreHarness, cores: int = 2, workers: int = 2, **args: Any) -> tuple[Claim, list[SeatClaim]]:
    """Return the claims of an owner and of the seats that workers took."""
    for number in range(1, workers + 1):
        await harness.workers(name=f"w{number}")
    await harness.submit(cores=cores, **args)
    owner = await harness.claim("w1")
    assert type(owner) is Claim
    seats = [await harness.store.claim(f"w{number}", 0.0) for number in range(2, workers + 1)]
    return owner, [seat for seat in seats if isinstance(seat, SeatClaim)]


async def test_a_job_of_more_cores_than_a_worker_has_is_searched_by_several_workers(harness: StoreHarness) -> None:
    """SPEC O8: the first claim owns the job, the others have seats; what no worker is free for waits."""
    owner, seats = await team(harness, cores=4, workers=3)
    assert [(seat.job.id, seat.number, seat.job.fence) for seat in seats] == [
        (owner.job.id, 2, owner.job.fence),
        (owner.job.id, 3, owner.job.fence),
    ]
    assert (await harness.store.stats()).solving == 1
    await harness.workers(name="w4")
    late = await harness.store.claim("w4", 0.0)
    assert isinstance(late, SeatClaim) and late.number == 4
    assert await harness.kinds(owner.job.id) == ["queued", "started"]


async def test_members_of_a_team_get_the_best_plan_of_all(harness: StoreHarness) -> None:
    """SPEC O8: penalty first, then cost; only what is better is sent."""
    owner, (seat,) = await team(harness)
    store = harness.store
    assert (await store.exchange(seat, costing(8.0), is_new=True)).plan is None
    assert (await store.exchange(owner, costing(9.0))).plan == costing(8.0)
    assert (await store.exchange(owner, costing(8.0))).plan is None
    await store.report(owner, HALF, costing(10.0, 0.0) | {"cost": HALF.cost})
    assert (await store.exchange(seat, costing(5.0, 1.0), is_new=True)).plan == costing(8.0)
    assert (await store.exchange(seat, None)).plan == costing(8.0)


async def test_a_seat_changes_nothing_of_the_job(harness: StoreHarness) -> None:
    """SPEC J6: the owner alone writes; the plan of a seat reaches the job by it."""
    owner, (seat,) = await team(harness)
    before = await harness.store.get_job("ann", owner.job.id)
    await harness.store.exchange(seat, costing(8.0), is_new=True, leaves=True)
    assert await harness.store.get_job("ann", owner.job.id) == before
    assert (await harness.store.exchange(owner, None)).plan == costing(8.0)


@pytest.mark.parametrize("ending", ["complete", "cancel", "hand_back"])
async def test_seats_end_with_the_claim_they_serve(harness: StoreHarness, ending: str) -> None:
    """SPEC O8, T4: workers of seats hear of it at once, and give their slots back."""
    owner, (seat,) = await team(harness)
    store = harness.store
    assert await store.wait_control(0.0) == ()
    if ending == "complete":
        await store.complete(owner, HALF, dict(PLAN))
    elif ending == "cancel":
        await store.cancel("ann", owner.job.id, keep_best=True)
    else:
        await store.hand_back(owner)
    assert owner.job.id in await store.wait_control(1.0)
    assert not (await store.exchange(seat, costing(1.0), is_new=True)).is_held
    assert [row.solving for row in await store.workers() if row.name == "w2"] == [0]
    if ending == "hand_back":
        again = await harness.claim("w2")
        assert type(again) is Claim and again.job.fence == owner.job.fence + 1
        assert isinstance(await store.claim("w1", 0.0), SeatClaim)


async def test_a_dead_seat_costs_its_seat_alone(harness: StoreHarness) -> None:
    """SPEC O8: its lease ends, no crash is counted, and the job goes on."""
    owner, (seat,) = await team(harness)
    await harness.let_lease_lapse(seat)
    await harness.store.reap()
    assert not (await harness.store.exchange(seat, costing(1.0), is_new=True)).is_held
    job = await harness.store.get_job("ann", owner.job.id)
    assert (job.state, job.crashes) == (JobState.SOLVING, 0)
    await harness.store.complete(owner, HALF, dict(PLAN))
    assert await harness.state(owner.job.id) is JobState.COMPLETED


async def test_the_death_of_the_owner_ends_the_seats_and_the_next_claim_has_a_new_team(harness: StoreHarness) -> None:
    """SPEC J6: a seat never becomes the owner; the plans that seats have found stay."""
    owner, (seat,) = await team(harness)
    await harness.store.exchange(seat, costing(8.0), is_new=True)
    await harness.let_lease_lapse(owner)
    await harness.store.reap()
    assert not (await harness.store.exchange(seat, None)).is_held
    with pytest.raises(LeaseLostError):
        await harness.store.complete(owner, HALF, dict(PLAN))
    again = await harness.claim("w2")
    assert type(again) is Claim
    assert (await harness.store.exchange(again, None)).plan == costing(8.0)


async def test_seats_take_their_turn_among_the_jobs_of_other_principals(harness: StoreHarness) -> None:
    """SPEC J8: a team is served as a principal with as many jobs would be."""
    await harness.workers(3, "w1")
    await harness.submit("ann", cores=3)
    await harness.submit("bob")
    claims = [await harness.store.claim("w1", 0.0) for _ in range(4)]
    assert [claim and (claim.job.principal, type(claim)) for claim in claims] == [
        ("ann", Claim),
        ("bob", Claim),
        ("ann", SeatClaim),
        None,
    ]


async def test_seats_count_against_the_quota_of_their_principal(harness: StoreHarness) -> None:
    """SPEC J8: with a seat held and its job over, nothing of it is left in the queue."""
    owner, seats = await team(harness, cores=3, workers=2)
    redis = harness.store.redis
    assert await redis.scard("{p0}:out:ann") == 2
    assert await redis.zcard("{p0}:bl:ann") == 1
    await harness.store.complete(owner, HALF, dict(PLAN))
    assert await redis.zcard("{p0}:bl:ann") == 0
    await harness.store.exchange(seats[0], None)
    assert await redis.scard("{p0}:out:ann") == 0
    assert await redis.xlen("{p0}:ready") == 0
    assert not await redis.exists(f"{{p0}}:team:{owner.job.id}")
