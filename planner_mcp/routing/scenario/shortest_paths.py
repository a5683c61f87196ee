"""Shortest paths in a travel matrix, where the direct leg need not be the shortest.

Owns the search alone, for matrices of floats and of integers; callers limit its cost.
"""

from planner_mcp import arrays as np
from planner_mcp.arrays import Array, Floats, Indices

Table = Array
"""(L, L) distances or times, row from, column to."""
Stops = Indices
"""(s,) rows of the locations that a path may pass."""


def shortest_paths(table: Table, origin: int, stops: Stops) -> Table:
    """Return the (L,) shortest paths from a place to all others over stops.

    Takes s · L steps for s stops. Source: Dijkstra (1959).
    """
    lengths: Table = table[origin].copy()
    lengths[origin] = 0
    closed = np.full(len(table), np.inf)
    closed[stops] = 0.0
    for _ in range(len(stops)):
        nearest = int((lengths + closed).argmin())
        closed[nearest] = np.inf
        np.minimum(lengths, table[nearest] + lengths[nearest], out=lengths)
    return lengths


def least_incoming_legs(table: Table, stops: Stops) -> Floats:
    """Return the (L,) shortest legs to each place from any other stop; infinite where there is none."""
    least = np.full(len(table), np.inf)
    for stop in stops:
        here, least[stop] = least[stop], np.inf
        np.minimum(least, table[stop], out=least)
        least[stop] = here
    return least
