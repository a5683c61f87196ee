"""Tables of travel as they are kept: in memory, packed, and read a few rows at a time."""

import numpy as np

from planner_mcp.routing.scenario.travel_matrices import TravelMatrices, among, decimals_of

RNG = np.random.default_rng(1)


def test_a_packed_table_is_read_into_four_bytes_a_cell_and_packed_again_as_it_was() -> None:
    """SPEC O8: a table of 10,000 places is never whole as floats of twice the size."""
    metres = np.round(RNG.random((300, 300)) * 99_999, 3)
    packed = TravelMatrices(tuple(f"n{row}" for row in range(300)), metres).pack()
    read = TravelMatrices.unpack(packed)
    assert read.distances is not None
    assert read.distances.dtype == np.int32
    assert read.pack() == packed


def test_lengths_beyond_32_bits_are_kept() -> None:
    """Our choice: 2,147 km in thousandths of a metre are more than 32 bits hold."""
    metres = np.array([[0.0, 5.0], [3e9, 0.0]])
    read = TravelMatrices.unpack(TravelMatrices(("a", "b"), metres).pack())
    assert read.distances is not None
    assert (read.distances / 1000 == metres).all()


def test_rows_are_read_in_the_order_asked_with_nothing_from_a_place_to_itself() -> None:
    """SPEC T1: what the diagonal says is no travel, of any of the rows that are read together."""
    metres = RNG.random((300, 300)) + 1
    travel_matrices = TravelMatrices(tuple(f"n{row}" for row in range(300)), metres)
    chosen = travel_matrices.rows_of([f"n{row}" for row in range(299, 9, -1)])
    read = np.concatenate([part for _rows, part in among(metres, chosen)])
    expected = metres[np.ix_(chosen, chosen)]
    np.fill_diagonal(expected, 0)
    assert (read == expected).all()


def test_the_finest_row_decides_how_many_decimals_a_table_has() -> None:
    """SPEC S1: also where it is read after rows of whole numbers; rows that nobody asks for do not count."""
    metres = np.zeros((300, 300))
    metres[290, 3] = 1.25
    metres[291, 3] = 1.125
    rows = np.arange(300)
    assert decimals_of(metres, rows) == 3
    assert decimals_of(metres, rows[:291]) == 2
    assert decimals_of(metres, rows[:290]) == 0
