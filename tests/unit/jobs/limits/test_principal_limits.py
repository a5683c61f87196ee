"""What a deployment allows one principal, and what each of its shards does (SPEC J8)."""

from planner_mcp.jobs.limits.principal_limits import SHARDED_LIMITS, limit_per_shard, limit_text, limits_of
from planner_mcp.settings import Settings


def test_one_pool_allows_the_whole_limit() -> None:
    """SPEC J8."""
    alone = Settings(max_share=0.3, submit_rate_per_s=0.5)
    assert [limit_per_shard(alone, name) for name in SHARDED_LIMITS] == [
        getattr(alone, name) for name in SHARDED_LIMITS
    ]
    assert limit_text(alone, "submit_rate_per_s") == "submit_rate_per_s is 0.5"
    assert not [name for name in limits_of(alone) if "pool" in name]


def test_each_of_several_shards_allows_a_stated_part() -> None:
    """SPEC J8: whole numbers are rounded up, so that each shard allows at least one; a share of 1 is no limit."""
    wide = Settings(pools=6, max_queued_per_principal=12, max_matrices=20, max_share=0.3, submit_burst=1)
    limits = limits_of(wide)
    per_shard = {
        name: limits[f"{name}_in_pool"] for name in ("max_queued_per_principal", "max_matrices", "submit_burst")
    }
    assert (limits["pools"], per_shard) == (6, {"max_queued_per_principal": 2, "max_matrices": 4, "submit_burst": 1})
    assert limits["max_share_in_pool"] == 0.3 / 6
    assert limit_per_shard(Settings(pools=6), "max_share") == 1
    assert limit_text(wide, "max_matrices") == "max_matrices is 20, 4 in each of 6 pools"
    assert limit_text(wide, "max_scenarios") == "max_scenarios is 100000 in each of 6 pools"
