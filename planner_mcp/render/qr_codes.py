"""QR codes of printed pages: where a stop is, and the way along several.

Owns the links in them and how they are drawn. A stop has a `geo:` link (RFC 5870), which every phone opens in its own
map. No such link holds several places, so a route has links of a public map, which learns the places only when a driver
scans one: AMap for pages in Chinese, else Google Maps. Positions are WGS-84.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from planner_mcp.render.page_words import CHINESE, Words
from planner_mcp.routing.scenario.coordinates import Position

MOST_PLACES: Final = 10
"""Places of one link: the public maps take no more."""
_MASK: Final = 2
"""One pattern of the eight (ISO/IEC 18004, section 7.8); comparing them all takes five times as long."""


def geo_link(place: Position) -> str:
    """Return the link to a place, to about a metre."""
    return f"geo:{place[0]:.5f},{place[1]:.5f}"


def route_links(places: Sequence[Position], words: Words) -> list[tuple[int, int, str]]:
    """Return the links along places: number of the first and of the last, from 0 on, and the link.

    Each link begins where the one before ends.
    """
    starts = range(0, max(len(places) - 1, 0), MOST_PLACES - 1)
    parts = [(start, places[start : start + MOST_PLACES]) for start in starts]
    return [(start, start + len(part) - 1, _route_link(part, words)) for start, part in parts]


def _route_link(places: Sequence[Position], words: Words) -> str:
    if words is CHINESE:
        marks = "%7C".join(f"{lon:.5f},{lat:.5f},{number}" for number, (lat, lon) in enumerate(places, 1))
        return f"https://uri.amap.com/marker?coordinate=wgs84&markers={marks}"
    return "https://www.google.com/maps/dir/" + "/".join(f"{lat:.5f},{lon:.5f}" for lat, lon in places)


@lru_cache(maxsize=1000)
def qr_svg(text: str) -> str:
    """Return the code of a text as an SVG element without a size, with the quiet zone that readers need."""
    import segno

    code = segno.make(text, error="m", micro=False, mask=_MASK)
    return str(code.svg_inline(border=4, omitsize=True, svgclass="code", lineclass=None))
