"""Nominatim: `GET /search` and `/reverse`, WGS-84, numbers as text. The public server takes one request a second.

Source: Nominatim manual, search and reverse, format jsonv2.
"""

from typing import Any, Final
from urllib.parse import urlsplit

from planner_mcp.addresses.structured_address import Accuracy, Evidence, StructuredAddress
from planner_mcp.geocoding.geocoder import MAX_PLACES, GeocodedPlace, GeocoderQuery, number_at, text_at
from planner_mcp.settings import GeocoderSettings

RANKS: Final = (
    (30, Accuracy.POINT, 50.0, 0.95),
    (26, Accuracy.STREET, 1_000.0, 0.88),
    (17, Accuracy.TOWN, 4_000.0, 0.82),
    (16, Accuracy.CITY, 15_000.0, 0.8),
    (13, Accuracy.CITY, 20_000.0, 0.75),
)
"""Least `place_rank`, with accuracy, radius in metres and certainty."""


class NominatimGeocoder:
    """One Nominatim server."""

    crs = "wgs84"

    def __init__(self, settings: GeocoderSettings) -> None:
        self.url = settings.url
        is_public = (urlsplit(settings.url).hostname or "").endswith("openstreetmap.org")
        self.interval_s = 1.0 if is_public else 0.0

    def query(self, text: str) -> GeocoderQuery:
        """Return how an address is asked for."""
        return GeocoderQuery(
            "/search", {"q": text, "format": "jsonv2", "addressdetails": "1", "limit": str(MAX_PLACES)}
        )

    def reverse_query(self, lat: float, lon: float) -> GeocoderQuery:
        """Return how a position is asked for."""
        asked = {"lat": f"{lat:.6f}", "lon": f"{lon:.6f}", "format": "jsonv2", "addressdetails": "1"}
        return GeocoderQuery("/reverse", asked)

    def places(self, payload: Any) -> list[GeocodedPlace]:
        """Return the places of an answer."""
        if isinstance(payload, dict) and "error" in payload:
            return []
        records = payload if isinstance(payload, list) else [payload]
        return [place for record in records[:MAX_PLACES] if (place := _place(record)) is not None]


def _place(record: Any) -> GeocodedPlace | None:
    rank = int(number_at(record, "place_rank"))
    found = next((each for each in RANKS if rank >= each[0]), None)
    if found is None:
        return None
    _least, accuracy, radius_m, certainty = found
    parts = record.get("address")
    names = ("city", "town", "municipality", "village")
    address = StructuredAddress(
        country=text_at(parts, "country_code").upper(),
        province=text_at(parts, "state"),
        city=next(filter(None, (text_at(parts, name) for name in names)), ""),
        district=text_at(parts, "city_district") or text_at(parts, "suburb"),
        road=text_at(parts, "road"),
        number=text_at(parts, "house_number"),
        postcode=text_at(parts, "postcode"),
    )
    signal = Evidence(f"Nominatim found a place of rank {rank}", certainty)
    lat, lon = number_at(record, "lat"), number_at(record, "lon")
    return GeocodedPlace(text_at(record, "display_name"), address, lat, lon, accuracy, radius_m, signal)
