"""AMap: `GET /v3/geocode/geo`, GCJ-02. Errors have HTTP status 200; empty values are `[]`.

Source: AMap web service, geocoding and inverse geocoding, version 3.
"""

from typing import Any, Final

from planner_mcp.addresses.structured_address import Accuracy, Evidence, StructuredAddress
from planner_mcp.geocoding.chinese_answers import named_position
from planner_mcp.geocoding.geocoder import GeocodedPlace, GeocoderQuery, RefusedQuestionError, records_at, text_at
from planner_mcp.routing.scenario.coordinates import from_wgs84
from planner_mcp.settings import GeocoderSettings

LEVELS: Final = {
    "单元号": (Accuracy.POINT, 30.0, 0.99),
    "门牌号": (Accuracy.POINT, 50.0, 0.98),
    "门址": (Accuracy.POINT, 50.0, 0.98),
    "兴趣点": (Accuracy.POINT, 200.0, 0.92),
    "道路交叉路口": (Accuracy.STREET, 150.0, 0.9),
    "公交地铁站点": (Accuracy.STREET, 300.0, 0.85),
    "道路": (Accuracy.STREET, 2_000.0, 0.85),
    "热点商圈": (Accuracy.TOWN, 1_500.0, 0.8),
    "村庄": (Accuracy.TOWN, 2_000.0, 0.85),
    "乡镇": (Accuracy.TOWN, 6_000.0, 0.85),
    "开发区": (Accuracy.DISTRICT, 10_000.0, 0.8),
    "区县": (Accuracy.DISTRICT, 20_000.0, 0.8),
    "市": (Accuracy.CITY, 50_000.0, 0.75),
}
"""What the service matched: accuracy, radius in metres, certainty."""


class AmapGeocoder:
    """AMap with one key."""

    crs = "gcj02"
    interval_s = 0.34

    def __init__(self, settings: GeocoderSettings) -> None:
        self.url = settings.url or "https://restapi.amap.com"
        self._key = settings.key.get_secret_value()

    def query(self, text: str) -> GeocoderQuery:
        """Return how an address is asked for."""
        return GeocoderQuery("/v3/geocode/geo", {"key": self._key, "address": text})

    def reverse_query(self, lat: float, lon: float) -> GeocoderQuery:
        """Return how a position is asked for."""
        north, east = from_wgs84(lat, lon, self.crs)
        return GeocoderQuery("/v3/geocode/regeo", {"key": self._key, "location": f"{east:.6f},{north:.6f}"})

    def places(self, payload: Any) -> list[GeocodedPlace]:
        """Return the places of an answer."""
        if text_at(payload, "status") != "1":
            raise RefusedQuestionError(text_at(payload, "infocode"))
        if isinstance(payload.get("regeocode"), dict):
            return [self._named(payload["regeocode"])]
        return [place for record in records_at(payload, "geocodes") if (place := self._place(record)) is not None]

    def _place(self, record: Any) -> GeocodedPlace | None:
        level = text_at(record, "level")
        accuracy, radius_m, certainty = LEVELS.get(level, (Accuracy.NONE, 0.0, 0.0))
        if accuracy is Accuracy.NONE:
            return None
        lon, lat = (float(part) for part in text_at(record, "location").split(","))
        address = _address(record, text_at(record, "street"), text_at(record, "number"))
        signal = Evidence(f"AMap matched the level {level}", certainty)
        return GeocodedPlace(text_at(record, "formatted_address"), address, lat, lon, accuracy, radius_m, signal)

    def _named(self, record: Any) -> GeocodedPlace:
        parts = record.get("addressComponent")
        street = text_at(parts, "streetNumber", "street"), text_at(parts, "streetNumber", "number")
        address = _address(parts, *street, town=text_at(parts, "township"))
        return named_position("AMap", text_at(record, "formatted_address"), address, (0.0, 0.0))


def _address(record: Any, road: str, number: str, town: str = "") -> StructuredAddress:
    province, city = text_at(record, "province"), text_at(record, "city")
    return StructuredAddress(
        country="CN",
        province=province,
        city=city or (province if province.endswith("市") else ""),
        district=text_at(record, "district"),
        town=town,
        road=road,
        number=number,
        adcode=text_at(record, "adcode"),
    )
