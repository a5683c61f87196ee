"""What the benchmarks make of their samples."""

from benchmarks.result_files import spread


def test_percentiles_are_nearest_ranks() -> None:
    """Our choice: p50 of ten samples is the fifth, p99 of a hundred the ninety-ninth; neither is made up."""
    ten = spread("x", [number / 1000 for number in range(1, 11)], "")
    hundred = spread("x", [number / 1000 for number in range(1, 101)], "")
    assert (ten.p50, ten.p99) == (5.0, 10.0)
    assert (hundred.p50, hundred.p99) == (50.0, 99.0)
