"""The table of paired runs, on runs written here."""

from benchmarks.paired_search import SIDES, SideRun, table


def side_run(side: str, kind: str, cost: int) -> SideRun:
    return SideRun(side, "C1_10_2", kind, 1, 5.0, cost, 2, 10, 5.0, [(1.0, cost)], 0.0)


def test_instances_of_one_name_in_two_sets_are_two_instances() -> None:
    """SPEC S3: each has its own pairs, and its excess is over its own best plan."""
    runs = [side_run(side, kind, cost) for kind, cost in (("homberger", 100), ("other", 1000)) for side in SIDES]
    rows = {row.split(" | ")[0]: row.split(" | ")[1:4] for row in table(runs).splitlines()[2:]}
    for name in ("homberger C1_10_2", "other C1_10_2", "**homberger**", "**other**"):
        assert rows[f"| {name}"] == ["1", "0.00", "0.00"]
