"""Media types, and the choice among them by `Accept` (RFC 9110, 12.5.1)."""

from collections.abc import Iterator, Sequence
from typing import Final

from starlette.requests import Request

from planner_mcp.errors import Fault, NotAcceptableError

JSON: Final = "application/json"
EVENTS: Final = "text/event-stream"
CSV: Final = "text/csv"
GEOJSON: Final = "application/geo+json"
GPX: Final = "application/gpx+xml"
SVG: Final = "image/svg+xml"
PNG: Final = "image/png"
HTML: Final = "text/html"


def chosen(request: Request, offered: Sequence[str]) -> str:
    """Return the media type that a request prefers; among equals one that it names, then the one that is offered first.

    Raises:
        NotAcceptableError: It takes none of them.
    """
    accept = ", ".join(request.headers.getlist("accept"))
    if not accept.strip():
        return offered[0]
    ranges = list(_ranges(accept))
    best = max(offered, key=lambda each: _preference(each, ranges))
    if _preference(best, ranges)[0] > 0:
        return best
    problem = "Accept names no media type that is offered here."
    raise NotAcceptableError(problem, errors=[Fault("/Accept", problem, ", ".join(offered))])


def _ranges(accept: str) -> Iterator[tuple[str, float]]:
    for entry in accept.split(","):
        name, *parameters = (part.strip().lower() for part in entry.split(";"))
        weights = [part[2:] for part in parameters if part.startswith("q=")]
        yield name, _weight(weights[0]) if weights else 1.0


def _weight(text: str) -> float:
    """Return a weight; 0 for what is none."""
    try:
        weight = float(text)
    except ValueError:
        return 0.0
    return weight if 0 <= weight <= 1 else 0.0


def _preference(media_type: str, ranges: Sequence[tuple[str, float]]) -> tuple[float, int]:
    """Return the weight of the most specific range that names a media type, and how specific that is."""
    for specificity, pattern in ((2, media_type), (1, f"{media_type.partition('/')[0]}/*"), (0, "*/*")):
        weights = [weight for name, weight in ranges if name == pattern]
        if weights:
            return max(weights), specificity
    return 0.0, 0
