"""Names carry their shard and cannot be guessed."""

import pytest

from planner_mcp.errors import NotFoundError
from planner_mcp.jobs import ids


def test_an_id_names_its_pool_and_carries_130_random_bits() -> None:
    """Our choice: ids carry at least 122 random bits."""
    names = {ids.random_id("job", 7) for _ in range(1000)}
    assert len(names) == 1000
    assert {len(name.rpartition("-")[2]) for name in names} == {26}
    assert {ids.shard_of("job", name) for name in names} == {7}


@pytest.mark.parametrize(
    "name", ["", "job", "job-0-short", "scn-0-" + "a" * 26, "job-00-" + "a" * 26, "job-0-" + "A" * 26]
)
def test_a_malformed_name_is_answered_like_an_unknown_one(name: str) -> None:
    """SPEC A2."""
    with pytest.raises(NotFoundError) as caught:
        ids.shard_of("job", name)
    assert caught.value.as_json("t") == NotFoundError().as_json("t")


def test_a_plan_is_named_after_its_job() -> None:
    """Our choice: the best plan of a job is found without looking it up."""
    job_id = ids.random_id("job", 0)
    assert ids.job_of(ids.plan_of(job_id)) == job_id
    assert ids.shard_of("plan", ids.plan_of(job_id)) == 0


def test_pools_are_drawn_from_those_there_are() -> None:
    """Our choice: new scenarios spread over all shards."""
    assert {ids.random_shard(4) for _ in range(200)} == {0, 1, 2, 3}


def test_a_name_is_found_in_a_handle_and_in_a_uri() -> None:
    """SPEC A3: the audit log tells what was read; anything that is no name is left out."""
    plan_id = ids.random_id("plan", 3)
    assert ids.id_in(f"plan://{plan_id}/map.svg") == ids.id_in(plan_id) == plan_id
    assert ids.id_in("plan-03-" + "a" * 26) == ids.id_in("") == ""
