"""What resolving an address gives: its parts, where it is and how exactly, how sure that is and why.

Owns the types alone. Positions are WGS-84 whatever a provider's own coordinate system is.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

MAX_CANDIDATES: Final = 3
"""Places offered where a text fits several."""
SURE: Final = 0.8
"""Confidence from which an address is used without asking."""


class Accuracy(StrEnum):
    """What a position stands for."""

    POINT = "point"
    """The building or the door."""
    INTERPOLATED = "interpolated"
    """Between two known house numbers."""
    STREET = "street"
    TOWN = "town"
    """A township, a subdistrict or a quarter."""
    DISTRICT = "district"
    CITY = "city"
    NONE = "none"
    """No position."""


class AddressStatus(StrEnum):
    """What became of a text."""

    RESOLVED = "resolved"
    AMBIGUOUS = "ambiguous"
    """It fits several places, which are the candidates."""
    PARTIAL = "partial"
    """Some parts were understood, too little or too contradictory to be used unasked."""
    NOT_FOUND = "not_found"


@dataclass(frozen=True, slots=True)
class StructuredAddress:
    """The parts of an address as far as they are known; empty text for the others.

    In China a part has the official name of today, `number` keeps 号 or 弄, and municipalities are province and city.
    Elsewhere `province` is the code of a state (US, CA, AU) and `city` the name that GeoNames lists first.
    """

    country: str = ""
    """ISO 3166-1 alpha-2."""
    province: str = ""
    city: str = ""
    district: str = ""
    town: str = ""
    zone: str = ""
    """A development zone that is no division."""
    road: str = ""
    number: str = ""
    building: str = ""
    unit: str = ""
    floor: str = ""
    room: str = ""
    poi: str = ""
    """Name of an estate, a building or a firm."""
    postcode: str = ""
    adcode: str = ""
    """Of the deepest Chinese division: 2, 4, 6 or 9 digits."""

    @property
    def label(self) -> str:
        """The address on one line, in the order of its country."""
        if self.country == "CN":
            area = (self.province, self.city, self.district, self.town, self.zone, self.road, self.number)
            inside = (self.poi, self.building, self.unit, self.floor, self.room)
            return "".join(dict.fromkeys(filter(None, (*area, *inside))))
        street = " ".join(filter(None, (self.road, self.number)))
        place = " ".join(filter(None, (self.postcode, self.city)))
        return ", ".join(filter(None, (street, self.unit, self.poi, place, self.province, self.country)))


@dataclass(frozen=True, slots=True)
class PlacePosition:
    """A position in WGS-84 degrees."""

    lat: float
    lon: float
    accuracy: Accuracy
    radius_m: float
    """The place lies within this distance of the position, as far as is known."""
    crs: str = "wgs84"
    source_crs: str = "wgs84"
    """What the position was converted from."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One reason for or against an answer."""

    text: str
    factor: float
    """What it multiplies the confidence by: 1 for what supports the answer fully."""


ROAD_AS_WRITTEN: Final = Evidence("the road is as written: no register of streets is at hand", 0.98)
POST_BOX: Final = Evidence("a post office box is no place to drive to", 0.7)
BY_SIZE: Final = "the largest city of this name, chosen by its size"
"""Text of the evidence that nothing but its size speaks for a city."""
CENTRE_NOTE: Final = "Coordinates are"
"""How a note begins that says which centre a position is."""


@dataclass(frozen=True, slots=True)
class AddressCandidate:
    """One place that a text may mean."""

    label: str
    address: StructuredAddress
    position: PlacePosition | None
    confidence: float


@dataclass(frozen=True, slots=True)
class ResolvedAddress:
    """What one text was resolved to."""

    text: str
    status: AddressStatus
    address: StructuredAddress
    position: PlacePosition | None
    evidence: tuple[Evidence, ...]
    source: str = "offline"
    candidates: tuple[AddressCandidate, ...] = ()
    notes: tuple[str, ...] = ()
    confidence: float = field(init=False)
    """From 0 to 1: the product of the evidence, rounded down to hundredths."""

    def __post_init__(self) -> None:
        """Compute the confidence."""
        object.__setattr__(self, "confidence", confidence_of(self.evidence))

    @property
    def is_sure(self) -> bool:
        """Whether it may be used without asking."""
        return self.status is AddressStatus.RESOLVED and self.confidence >= SURE

    @property
    def corrected_text(self) -> str:
        """Its text, the postcode with the zero before it that a spreadsheet takes from a number."""
        code = self.address.postcode
        if not code.startswith("0") or code in self.text:
            return self.text
        return re.sub(rf"\b{re.escape(code[1:])}\b", code, self.text)

    @property
    def postcode_notes(self) -> tuple[str, ...]:
        """What is to be said of a postcode that was read in another way than it is written."""
        is_read_so = self.corrected_text != self.text
        return (f"The postcode is read as {self.address.postcode}: its zero was lost.",) if is_read_so else ()

    @property
    def accuracy(self) -> Accuracy:
        """What its position stands for."""
        return Accuracy.NONE if self.position is None else self.position.accuracy


@dataclass(frozen=True, slots=True)
class AddressCounts:
    """How many of some addresses can be used."""

    total: int
    sure: int
    """May be used unasked."""
    missing: int
    """Were not found."""

    @classmethod
    def of(cls, resolved: Sequence[ResolvedAddress]) -> "AddressCounts":
        """Return the counts of addresses."""
        missing = sum(each.status is AddressStatus.NOT_FOUND for each in resolved)
        return cls(len(resolved), sum(each.is_sure for each in resolved), missing)


def confidence_of(evidence: tuple[Evidence, ...]) -> float:
    """Return the product of the factors, rounded down to hundredths; 0 without evidence."""
    product = math.prod(each.factor for each in evidence) if evidence else 0.0
    return int(product * 100 + 1e-9) / 100
