"""What answers of Chinese services have in common: a status, one result with its location, parts of an address.

Owns reading these; what a service says of its certainty is its own module's.
"""

from typing import Any

from planner_mcp.addresses.structured_address import Accuracy, Evidence, StructuredAddress
from planner_mcp.geocoding.geocoder import GeocodedPlace, RefusedQuestionError, number_at, text_at


def result_of(payload: Any, *, nothing_found: int) -> Any:
    """Return the result of an answer; None where the service found nothing.

    Args:
        nothing_found: The status that says so.

    Raises:
        RefusedQuestionError: The service refused.
    """
    status = payload.get("status") if isinstance(payload, dict) else None
    if status == nothing_found:
        return None
    if status != 0:
        raise RefusedQuestionError(str(status))
    return payload.get("result")


def location_of(result: Any) -> tuple[float, float]:
    """Return (lat, lon) in the coordinate system of the service."""
    return number_at(result, "location", "lat"), number_at(result, "location", "lng")


def named_position(service: str, label: str, address: StructuredAddress, where: tuple[float, float]) -> GeocodedPlace:
    """Return the place that a service calls a position."""
    signal = Evidence(f"{service} names the position", 0.95)
    return GeocodedPlace(label, address, *where, Accuracy.POINT, 100.0, signal)


def address_of(parts: Any, adcode: str) -> StructuredAddress:
    """Return the parts that an answer lists."""
    return StructuredAddress(
        country="CN",
        province=text_at(parts, "province"),
        city=text_at(parts, "city"),
        district=text_at(parts, "district"),
        town=text_at(parts, "town"),
        road=text_at(parts, "street"),
        number=text_at(parts, "street_number"),
        adcode=adcode,
    )
