"""Tencent: `GET /ws/geocoder/v1/`, GCJ-02. Its documentation calls `reliability` from 7 and `level` from 9 on usable.

Source: Tencent location service, geocoding and inverse geocoding, version 1.
"""

from typing import Any, Final

from planner_mcp.addresses.structured_address import Accuracy, Evidence
from planner_mcp.geocoding.chinese_answers import address_of, location_of, named_position, result_of
from planner_mcp.geocoding.geocoder import GeocodedPlace, GeocoderQuery, number_at, text_at
from planner_mcp.routing.scenario.coordinates import from_wgs84
from planner_mcp.settings import GeocoderSettings

LEVELS: Final = {
    1: (Accuracy.CITY, 50_000.0),
    2: (Accuracy.DISTRICT, 20_000.0),
    3: (Accuracy.TOWN, 6_000.0),
    4: (Accuracy.TOWN, 2_000.0),
    5: (Accuracy.TOWN, 3_000.0),
    6: (Accuracy.TOWN, 1_500.0),
    7: (Accuracy.STREET, 2_000.0),
    8: (Accuracy.STREET, 150.0),
    9: (Accuracy.POINT, 50.0),
    10: (Accuracy.POINT, 200.0),
    11: (Accuracy.POINT, 200.0),
}
"""What the service matched, from a city to a point of interest."""


class TencentGeocoder:
    """Tencent with one key."""

    crs = "gcj02"
    interval_s = 0.2

    def __init__(self, settings: GeocoderSettings) -> None:
        self.url = settings.url or "https://apis.map.qq.com"
        self._key = settings.key.get_secret_value()

    def query(self, text: str) -> GeocoderQuery:
        """Return how an address is asked for, also one that names no city."""
        return GeocoderQuery("/ws/geocoder/v1/", {"key": self._key, "address": text, "policy": "1"})

    def reverse_query(self, lat: float, lon: float) -> GeocoderQuery:
        """Return how a position is asked for."""
        north, east = from_wgs84(lat, lon, self.crs)
        return GeocoderQuery("/ws/geocoder/v1/", {"key": self._key, "location": f"{north:.6f},{east:.6f}"})

    def places(self, payload: Any) -> list[GeocodedPlace]:
        """Return the place of an answer."""
        if (result := result_of(payload, nothing_found=347)) is None:
            return []
        where, adcode = location_of(result), text_at(result, "ad_info", "adcode")
        if "address_component" in result:
            address = address_of(result["address_component"], adcode)
            return [named_position("Tencent", text_at(result, "address"), address, where)]
        level, reliability = int(number_at(result, "level")), number_at(result, "reliability")
        accuracy, radius_m = LEVELS.get(level, (Accuracy.CITY, 50_000.0))
        signal = Evidence(
            f"Tencent states reliability {reliability:g} of 10, level {level} of 11",
            0.95 if reliability >= 7 and level >= 9 else 0.85 if reliability >= 7 else 0.6,
        )
        address = address_of(result.get("address_components"), adcode)
        return [GeocodedPlace(text_at(result, "title"), address, *where, accuracy, radius_m, signal)]
