"""Which of two plans of a team is better."""

from workers.attempts.attempt import is_better


def test_a_plan_is_reported_again_with_what_is_proved_of_it() -> None:
    """SPEC S2, O8: a team keeps the plan of whoever found it first, but not without its proof."""
    plan = {"penalty": 0.0, "cost": 12.5}
    bounded = plan | {"proof": {"lower_bound": 12.5, "is_optimal": False}}
    proved = plan | {"proof": {"lower_bound": 12.5, "is_optimal": True}}
    ranked = [{"penalty": 1.0, "cost": 1.0}, {"penalty": 0.0, "cost": 13.0}, plan, bounded, proved]
    for place, one in enumerate(ranked):
        assert [is_better(one, other) for other in ranked] == [place > at for at in range(len(ranked))]
