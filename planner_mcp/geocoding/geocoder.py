"""What a geocoding service is: how it is asked, and what it answers in our words.

Owns the interface and reading hostile JSON. A service's own coordinate system stays in its answer;
`geocoding_service.py` converts it, once.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from planner_mcp.addresses.structured_address import Accuracy, Evidence, StructuredAddress

MAX_PLACES: Final = 5
"""Places read of one answer."""
MAX_FIELD: Final = 200
"""Characters of one field that are taken."""


@dataclass(frozen=True, slots=True)
class GeocoderQuery:
    """One GET request below the URL of a service."""

    path: str
    params: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class GeocodedPlace:
    """One place of an answer."""

    label: str
    address: StructuredAddress
    lat: float
    lon: float
    """In the coordinate system of the service."""
    accuracy: Accuracy
    radius_m: float
    signal: Evidence
    """What the service says of its answer."""


class RefusedQuestionError(ValueError):
    """The service refused the question; the text says with which code and nothing else of the answer."""

    def __init__(self, code: str) -> None:
        is_code = code.isascii() and code.isdecimal() and len(code) <= len("10001000")
        super().__init__(f"refused the question with its code {code if is_code else 'unknown'}")


class Geocoder(Protocol):
    """One geocoding service."""

    url: str
    crs: str
    """Of the positions in its answers: `wgs84`, `gcj02` or `bd09`."""
    interval_s: float
    """Least time between two requests."""

    def query(self, text: str) -> GeocoderQuery:
        """Return how an address is asked for."""
        ...

    def reverse_query(self, lat: float, lon: float) -> GeocoderQuery:
        """Return how a position in WGS-84 is asked for."""
        ...

    def places(self, payload: Any) -> list[GeocodedPlace]:
        """Return the places of an answer to either question, the best first; none where there are none.

        Raises:
            RefusedQuestionError: The service refused; the text may be shown.
            ValueError: The answer has another shape.
        """
        ...


def text_at(record: Any, *path: str) -> str:
    """Return a text of nested JSON; empty where something else stands there (AMap writes [] for nothing)."""
    found = _value_at(record, path)
    return found[:MAX_FIELD] if isinstance(found, str) else ""


def number_at(record: Any, *path: str) -> float:
    """Return a finite number of nested JSON, also one written as text.

    Raises:
        ValueError: There is none.
    """
    found = _value_at(record, path)
    if isinstance(found, bool) or not isinstance(found, int | float | str):
        raise ValueError("the answer has no number where one belongs")
    number = float(found)
    if not math.isfinite(number):
        raise ValueError("the answer has no finite number where one belongs")
    return number


def records_at(payload: Any, name: str) -> list[Any]:
    """Return a list of an answer, cut to the places that are read."""
    found = _value_at(payload, (name,))
    return found[:MAX_PLACES] if isinstance(found, list) else []


def _value_at(record: Any, path: Sequence[str]) -> Any:
    for name in path:
        record = record.get(name) if isinstance(record, dict) else None
    return record
