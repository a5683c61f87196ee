"""Photon and Pelias: GeoJSON in WGS-84, longitude first. Pelias says how sure it is, Photon only what it found.

Source: photon.komoot.io, README of the API; Pelias documentation, search, reverse and result quality.
"""

from typing import Any, Final

from planner_mcp.addresses.structured_address import Accuracy, Evidence, StructuredAddress
from planner_mcp.geocoding.geocoder import MAX_PLACES, GeocodedPlace, GeocoderQuery, number_at, records_at, text_at
from planner_mcp.settings import GeocoderSettings

PHOTON_TYPES: Final = {
    "house": (Accuracy.POINT, 50.0, 0.92),
    "street": (Accuracy.STREET, 1_000.0, 0.85),
    "locality": (Accuracy.TOWN, 3_000.0, 0.8),
    "district": (Accuracy.TOWN, 4_000.0, 0.8),
    "city": (Accuracy.CITY, 15_000.0, 0.75),
}
PELIAS_LAYERS: Final = {
    "address": (Accuracy.POINT, 50.0),
    "venue": (Accuracy.POINT, 150.0),
    "street": (Accuracy.STREET, 1_000.0),
    "neighbourhood": (Accuracy.TOWN, 3_000.0),
    "borough": (Accuracy.TOWN, 5_000.0),
    "localadmin": (Accuracy.CITY, 15_000.0),
    "locality": (Accuracy.CITY, 15_000.0),
}


class PhotonGeocoder:
    """One Photon server."""

    crs = "wgs84"
    interval_s = 0.0

    def __init__(self, settings: GeocoderSettings) -> None:
        self.url = settings.url

    def query(self, text: str) -> GeocoderQuery:
        """Return how an address is asked for."""
        return GeocoderQuery("/api", {"q": text, "limit": str(MAX_PLACES)})

    def reverse_query(self, lat: float, lon: float) -> GeocoderQuery:
        """Return how a position is asked for."""
        return GeocoderQuery("/reverse", {"lat": f"{lat:.6f}", "lon": f"{lon:.6f}", "limit": "1"})

    def places(self, payload: Any) -> list[GeocodedPlace]:
        """Return the places of an answer."""
        found = []
        for record in records_at(payload, "features"):
            facts = record.get("properties") if isinstance(record, dict) else None
            if (kind := PHOTON_TYPES.get(text_at(facts, "type"))) is None:
                continue
            address = StructuredAddress(
                country=text_at(facts, "countrycode").upper(),
                province=text_at(facts, "state"),
                city=text_at(facts, "city") or (text_at(facts, "name") if text_at(facts, "type") == "city" else ""),
                district=text_at(facts, "district"),
                road=text_at(facts, "street") or (text_at(facts, "name") if text_at(facts, "type") == "street" else ""),
                number=text_at(facts, "housenumber"),
                postcode=text_at(facts, "postcode"),
            )
            signal = Evidence(f"Photon found a {text_at(facts, 'type')}", kind[2])
            found.append(_place(record, address, _label(address), (kind[0], kind[1]), signal))
        return found


class PeliasGeocoder:
    """One Pelias server."""

    crs = "wgs84"
    interval_s = 0.0

    def __init__(self, settings: GeocoderSettings) -> None:
        self.url = settings.url
        key = settings.key.get_secret_value()
        self._key = {"api_key": key} if key else {}

    def query(self, text: str) -> GeocoderQuery:
        """Return how an address is asked for."""
        return GeocoderQuery("/v1/search", {"text": text, "size": str(MAX_PLACES), **self._key})

    def reverse_query(self, lat: float, lon: float) -> GeocoderQuery:
        """Return how a position is asked for."""
        asked = {"point.lat": f"{lat:.6f}", "point.lon": f"{lon:.6f}", "size": "1", **self._key}
        return GeocoderQuery("/v1/reverse", asked)

    def places(self, payload: Any) -> list[GeocodedPlace]:
        """Return the places of an answer."""
        found = []
        for record in records_at(payload, "features"):
            facts = record.get("properties") if isinstance(record, dict) else None
            if (kind := PELIAS_LAYERS.get(text_at(facts, "layer"))) is None:
                continue
            match = text_at(facts, "match_type")
            accuracy = Accuracy.INTERPOLATED if match == "interpolated" else kind[0]
            stated = number_at(facts, "confidence") if isinstance(facts, dict) and "confidence" in facts else 0.8
            certainty = max(0.0, min(0.98, stated)) * (0.7 if match == "fallback" else 1.0)
            address = StructuredAddress(
                country=text_at(facts, "country_code") or _country_code(text_at(facts, "country")),
                province=text_at(facts, "region_a") or text_at(facts, "region"),
                city=text_at(facts, "locality"),
                district=text_at(facts, "borough"),
                road=text_at(facts, "street"),
                number=text_at(facts, "housenumber"),
                postcode=text_at(facts, "postalcode"),
            )
            signal = Evidence(f"Pelias states confidence {stated:g}, match {match or 'unknown'}", round(certainty, 2))
            found.append(_place(record, address, text_at(facts, "label"), (accuracy, kind[1]), signal))
        return found


def _place(
    record: Any, address: StructuredAddress, label: str, kind: tuple[Accuracy, float], signal: Evidence
) -> GeocodedPlace:
    """Return a feature as a place; an answer with one that has no position is of another form than documented."""
    geometry = record.get("geometry")
    where = geometry.get("coordinates") if isinstance(geometry, dict) else None
    if not isinstance(where, list) or len(where) < 2:
        raise ValueError("the answer has a place without a position")
    lon, lat = number_at({"lon": where[0]}, "lon"), number_at({"lat": where[1]}, "lat")
    return GeocodedPlace(label, address, lat, lon, kind[0], kind[1], signal)


def _country_code(name: str) -> str:
    """Return the code of a country by its English name: older servers tell beside it three letters (AUT) alone."""
    from planner_mcp.addresses.western_addresses import country_named  # grammars, with the first address

    return country_named(name)


def _label(address: StructuredAddress) -> str:
    street = " ".join(filter(None, (address.road, address.number)))
    return ", ".join(filter(None, (street, address.postcode, address.city, address.country)))
