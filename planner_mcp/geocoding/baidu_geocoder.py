"""Baidu: `GET /geocoding/v3/`, BD-09 unless asked otherwise. An address may have 84 bytes; the answer has no parts.

Source: Baidu web service, geocoding and inverse geocoding, version 3.
"""

from typing import Any, Final

from planner_mcp.addresses.structured_address import Accuracy, Evidence, StructuredAddress
from planner_mcp.geocoding.chinese_answers import address_of, location_of, named_position, result_of
from planner_mcp.geocoding.geocoder import GeocodedPlace, GeocoderQuery, number_at, text_at
from planner_mcp.settings import GeocoderSettings

MAX_BYTES: Final = 84
RADII: Final = (
    (100, 20.0), (90, 50.0), (80, 100.0), (75, 200.0), (70, 300.0), (60, 500.0), (50, 1_000.0), (40, 2_000.0),
    (30, 5_000.0), (25, 8_000.0), (20, 10_000.0),
)  # fmt: skip
"""Least value of the answer's `confidence`, with the error that it stands for in metres."""


class BaiduGeocoder:
    """Baidu with one key."""

    crs = "bd09"
    interval_s = 0.04

    def __init__(self, settings: GeocoderSettings) -> None:
        self.url = settings.url or "https://api.map.baidu.com"
        self._key = settings.key.get_secret_value()

    def query(self, text: str) -> GeocoderQuery:
        """Return how an address is asked for; one that is too long loses its end."""
        short = text.encode()[:MAX_BYTES].decode(errors="ignore")
        return GeocoderQuery("/geocoding/v3/", {"ak": self._key, "address": short, "output": "json"})

    def reverse_query(self, lat: float, lon: float) -> GeocoderQuery:
        """Return how a position is asked for."""
        asked = {"ak": self._key, "location": f"{lat:.6f},{lon:.6f}", "coordtype": "wgs84ll", "output": "json"}
        return GeocoderQuery("/reverse_geocoding/v3/", asked)

    def places(self, payload: Any) -> list[GeocodedPlace]:
        """Return the place of an answer."""
        if (result := result_of(payload, nothing_found=1)) is None:
            return []
        where = location_of(result)
        if isinstance(result, dict) and "addressComponent" in result:
            parts = result["addressComponent"]
            label = text_at(result, "formatted_address")
            return [named_position("Baidu", label, address_of(parts, text_at(parts, "adcode")), where)]
        confidence = number_at(result, "confidence")
        radius_m = next((metres for least, metres in RADII if confidence >= least), 30_000.0)
        understood = number_at(result, "comprehension") / 100 if "comprehension" in result else 0.8
        signal = Evidence(
            f"Baidu states confidence {confidence:g}, comprehension {100 * understood:g}",
            round(min(0.98, 0.6 + 0.4 * max(0.0, understood)), 2),
        )
        return [GeocodedPlace("", StructuredAddress(), *where, _accuracy(radius_m), radius_m, signal)]


def _accuracy(radius_m: float) -> Accuracy:
    steps = (
        (100.0, Accuracy.POINT),
        (1_000.0, Accuracy.STREET),
        (5_000.0, Accuracy.TOWN),
        (20_000.0, Accuracy.DISTRICT),
    )
    return next((accuracy for most, accuracy in steps if radius_m <= most), Accuracy.CITY)
