"""Resolved addresses as results of tools: rows with position, confidence and reasons, and a line of text for each."""

from dataclasses import asdict
from typing import ClassVar, Final

from pydantic import Field

from planner_mcp.addresses.structured_address import (
    AddressCandidate,
    AddressCounts,
    PlacePosition,
    ResolvedAddress,
    StructuredAddress,
)
from planner_mcp.server.tools.tool_output import Number, ToolOutput
from planner_mcp.text import number, plain
from planner_mcp.translation import phrase, translated

MAX_LABEL: Final = 120
MAX_NOTE: Final = 200


class AddressParts(ToolOutput):
    """The parts of an address that are known."""

    country: str | None = Field(None, description="ISO 3166-1 alpha-2")
    province: str | None = Field(None, description="in China; elsewhere the code of a state")
    city: str | None = None
    district: str | None = None
    town: str | None = Field(None, description="town or subdistrict")
    zone: str | None = Field(None, description="development zone that is no division")
    road: str | None = None
    number: str | None = None
    building: str | None = None
    unit: str | None = None
    floor: str | None = None
    room: str | None = None
    poi: str | None = Field(None, description="name of an estate, a building or a firm")
    postcode: str | None = None
    adcode: str | None = Field(None, description="of the deepest Chinese division")

    @staticmethod
    def of(address: StructuredAddress) -> "AddressParts":
        """Return the parts that are not empty."""
        return AddressParts(**{part: plain(value, MAX_LABEL) for part, value in asdict(address).items() if value})


class AddressPosition(ToolOutput):
    """Where an address is."""

    lat: Number
    lon: Number
    crs: str = Field(description="always wgs84")
    source_crs: str | None = Field(None, description="coordinate system it was converted from")
    accuracy: str = Field(description="point, interpolated, street, town, district or city")
    radius_m: Number = Field(description="the place lies within so many metres of it")

    @staticmethod
    def of(position: PlacePosition | None) -> "AddressPosition | None":
        """Return a position for a result."""
        if position is None:
            return None
        return AddressPosition(
            lat=round(position.lat, 6),
            lon=round(position.lon, 6),
            crs=position.crs,
            source_crs=position.source_crs if position.source_crs != position.crs else None,
            accuracy=position.accuracy.value,
            radius_m=number(position.radius_m),
        )


class AddressChoice(ToolOutput):
    """One place that a text may mean."""

    choice: int = Field(description="for confirm_address")
    label: str
    confidence: Number
    position: AddressPosition | None = None
    adcode: str | None = None

    @staticmethod
    def of(index: int, candidate: AddressCandidate) -> "AddressChoice":
        """Return a candidate for a result."""
        return AddressChoice(
            choice=index,
            label=plain(candidate.label, MAX_LABEL),
            confidence=candidate.confidence,
            position=AddressPosition.of(candidate.position),
            adcode=candidate.address.adcode or None,
        )


class AddressRow(ToolOutput):
    """What became of one text."""

    status: str = Field(description="resolved, ambiguous, partial or not_found")
    confidence: Number = Field(description="0 to 1; use without asking from 0.8 on")
    label: str
    position: AddressPosition | None = None
    address: AddressParts | None = None
    source: str
    candidates: list[AddressChoice] | None = None
    evidence: list[str] | None = Field(None, description="reasons below 1, each with its factor")
    notes: list[str] | None = None

    @staticmethod
    def of(resolved: ResolvedAddress, *, is_detailed: bool) -> "AddressRow":
        """Return a row.

        Args:
            resolved: What the text was resolved to.
            is_detailed: With parts, candidates, reasons and notes.
        """
        row = AddressRow(
            status=resolved.status.value,
            confidence=resolved.confidence,
            label=plain(resolved.address.label, MAX_LABEL),
            position=AddressPosition.of(resolved.position),
            source=resolved.source,
        )
        if not is_detailed:
            return row
        doubts = [f"{plain(each.text, MAX_NOTE)}: {each.factor:.2g}" for each in resolved.evidence if each.factor < 1]
        return row.model_copy(
            update={
                "address": AddressParts.of(resolved.address),
                "candidates": [AddressChoice.of(at, each) for at, each in enumerate(resolved.candidates, 1)] or None,
                "evidence": doubts or None,
                "notes": [plain(note, MAX_NOTE) for note in resolved.notes] or None,
            }
        )


class AddressResult(ToolOutput):
    """Result of `confirm_address` and `reverse_address`."""

    listed: ClassVar[tuple[str, ...]] = ("row",)
    row: AddressRow


def row_text(index: int, resolved: ResolvedAddress, *, is_detailed: bool = True) -> str:
    """Return a row as a line: number, status, confidence, position, what it was read as, and its candidates."""
    where = translated("no position")
    if (position := resolved.position) is not None:
        where = f"{position.lat:.5f},{position.lon:.5f} ±{position.radius_m / 1000:.3g} km {position.accuracy.value}"
    label = plain(resolved.address.label, MAX_LABEL) or "-"
    line = f"{index} {resolved.status.value} {resolved.confidence:.2f} {where}: {label}"
    if resolved.candidates and is_detailed:
        choices = "; ".join(f"{at} {plain(each.label, MAX_LABEL)}" for at, each in enumerate(resolved.candidates, 1))
        line += f" | choices: {choices}"
    return line


def counts_text(counts: AddressCounts) -> str:
    """Return how many of some rows may be used unasked, and how many were not found."""
    return phrase("{} of {} can be used unasked, {} not found", counts.sure, counts.total, counts.missing)
