"""The colours of routes, the same in print as in `view.css` of the live view.

A plan of more routes than colours begins again with the first; the further lines are dashed, then dotted.
"""

from typing import Final

ROUTE_COLOURS: Final = (
    ("#0b5cad", "#7db8f2"),
    ("#b3261e", "#ff8a80"),
    ("#116b3a", "#6fd49b"),
    ("#7a3e9d", "#d0a1ec"),
    ("#945200", "#f0b060"),
    ("#00707a", "#5fd0dc"),
    ("#a1246b", "#f495c8"),
    ("#4a5a00", "#c3d35a"),
    ("#3b4cc0", "#aab6ff"),
    ("#7d4a3a", "#dca893"),
    ("#006d52", "#58d6b0"),
    ("#5b5b5b", "#c2c2c2"),
)
"""On light and on dark ground; white numbers can be read on the first of each, black ones on the second."""
_DASHES: Final = ("none", "8 3", "2 3")
"""Dashes of the lines of routes, one for each round of colours in turn."""


def colours_of(index: int) -> tuple[str, str]:
    """Return the colours of a route on light and on dark ground, as `#rrggbb`."""
    return ROUTE_COLOURS[index % len(ROUTE_COLOURS)]


def dash_of(index: int) -> str:
    """Return the `stroke-dasharray` of the line of a route."""
    return _DASHES[index // len(ROUTE_COLOURS) % len(_DASHES)]
