"""Scalar types of a scenario: identifiers, numbers, amounts, times.

Owns how one JSON value is read, and the fault reported when it is invalid. Each reader takes any JSON value and returns
the plain value, or raises with `accepted` and `hint` for the fault. Nothing is coerced: a number in quotes is invalid.
Times become seconds after midnight of the planning date, which the validation context provides.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from itertools import islice
from typing import Annotated, Any, Final

from pydantic import PlainValidator, ValidationError, ValidationInfo, ValidatorFunctionWrapHandler, WithJsonSchema
from pydantic_core import InitErrorDetails, PydanticCustomError

from planner_mcp.errors import Fault

MAX_NUMBER: Final = 1e9
"""Largest amount, price or coordinate. Sums over 9000 tickets, in integers of 1/1000, then stay below 2^53."""
MAX_TIME_S: Final = 10_000_000
"""Latest time given as a number, in seconds; about four months, for benchmark instances without a calendar."""
WRITTEN_TIMES: Final = "written_times"
"""Key of the validation context under which `WrittenTimes` are collected."""
_OFFSET: Final = "offset"
"""Key under which the UTC offset is that times are written with; None where they may have none."""
SHOWS_NAMES: Final = "shows_names"
"""Key that says whether error messages may contain names of people."""
MAX_FREE_TEXT_LENGTH: Final = 500
"""Characters of free text: names, addresses, notes."""
MAX_ID_LENGTH: Final = 100
MAX_ROWS: Final = 20
"""Invalid rows of one matrix that are reported."""
NO_WAY: Final = "Where there is no way, give a large number."

POSITION_FIELD_NAMES: Final = frozenset({"lat", "lon", "lng", "latitude", "longitude", "coordinates", "x", "y"})
PLACE_HINT: Final = "Give the place an id with lat and lon under /locations and name it"
"""Hint for a position given where the id of a location is expected."""

_CLOCK = re.compile(r"([0-3]?\d|4[0-7]):([0-5]\d)(?::([0-5]\d))?", re.ASCII)
_UNQUOTED: Final = "Write the number without quotes."
_TIME_FORMS: Final = '"HH:MM", "HH:MM:SS" (hours up to 47), an ISO date-time from the planning date on, or seconds'


@dataclass(slots=True)
class WrittenTimes:
    """How the times of a scenario are written."""

    numbers: set[float] = field(default_factory=set)
    """Those written as non-zero numbers."""
    text_range: tuple[float, float] | None = None
    """The earliest and the latest written as text; None without any."""
    utc_offset: timedelta | None = None
    """The UTC offset they are written with; None without any."""
    has_clocks: bool = False
    """Whether one is written without a UTC offset."""


def field_error(problem: str, accepted: str, hint: str = "", kind: str = "invalid") -> PydanticCustomError:
    """Return the error a reader raises; `problem` must not quote the caller's value."""
    context = {"problem": problem, "accepted": accepted, "hint": hint, "kind": kind}
    return PydanticCustomError("reader", "{problem}", context)


def fault_at(path: str, error: PydanticCustomError) -> Fault:
    """Return what `field_error` says as a fault at a place."""
    context = error.context or {}
    return Fault(path, error.message(), context["accepted"], context["hint"])


def is_number(value: Any) -> bool:
    """Return whether a JSON value is a finite number; booleans are not."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or math.isfinite(value)


def _number(low: float, high: float, accepted: str = "", unquoted: str = _UNQUOTED) -> Callable[[Any], float]:
    """Return a reader of numbers.

    Args:
        low: The least.
        high: The most.
        accepted: Said in errors where a number is not all there is to say.
        unquoted: Hint where the value is text.
    """
    bounds = f" from {low:g} to {high:g}" if high < MAX_NUMBER else f", {low:g} or more" if low >= 0 else ""
    accepted = accepted or f"a number{bounds}"
    too_large = f"a number up to {high:.0f}" if high >= MAX_NUMBER else accepted

    def read(value: Any) -> float:
        if isinstance(value, str):
            hint = unquoted if any(map(str.isdecimal, value)) else ""
            raise field_error("The value is text, not a number.", accepted, hint)
        if not is_number(value):
            raise field_error("The value is not a finite number.", accepted)
        if not low <= value <= high:
            raise field_error("The number is out of range.", too_large if value > high else accepted)
        return float(value)

    return read


def _whole(low: int, high: int) -> Callable[[Any], int]:
    read_number = _number(low, high)

    def read(value: Any) -> int:
        number = read_number(value)
        if not number.is_integer():
            raise field_error("The number has a fraction.", f"a whole number from {low} to {high}")
        return int(number)

    return read


def read_id(value: Any) -> str:
    """Return an identifier: printable text of 1 to 100 characters."""
    accepted = f"text of 1 to {MAX_ID_LENGTH} characters"
    if not isinstance(value, str):
        raise field_error("The value is not text.", accepted, "Write it in quotes." if is_number(value) else "")
    if not 0 < len(value) <= MAX_ID_LENGTH:
        raise field_error(f"The text has {len(value)} characters.", accepted)
    if not value.isprintable() or value != value.strip():
        raise field_error("The text has control characters or blanks at its ends.", f"{accepted}, printable")
    return value


def read_location_id(value: Any) -> str:
    """Return the id of a location; for a position the error says where positions belong."""
    if isinstance(value, dict) and POSITION_FIELD_NAMES & value.keys():
        raise field_error("The value is not text.", f"text of 1 to {MAX_ID_LENGTH} characters", f"{PLACE_HINT} here.")
    return read_id(value)


def read_free_text(value: Any) -> str:
    """Return free text, which planning ignores. Unprintable characters are removed on display."""
    accepted = f"text of at most {MAX_FREE_TEXT_LENGTH} characters"
    if not isinstance(value, str):
        raise field_error("The value is not text.", accepted, "Write it in quotes." if is_number(value) else "")
    if len(value) > MAX_FREE_TEXT_LENGTH:
        raise field_error(f"The text has {len(value)} characters.", accepted)
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise field_error("The text holds half of a surrogate pair.", f"{accepted}, valid Unicode")
    return value


def read_date(value: Any) -> date:
    """Return a calendar date from `YYYY-MM-DD`."""
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value, re.ASCII):
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise field_error("There is no such date in the calendar.", "a date as YYYY-MM-DD") from None
    raise field_error("The value is not a date.", "a date as YYYY-MM-DD", 'Write it like "2025-07-15".')


def read_time(value: Any, info: ValidationInfo) -> float:
    """Return seconds after midnight of the planning date."""
    return moment(value, {} if info.context is None else info.context)


def moment(value: Any, context: dict[str, Any]) -> float:
    """Return seconds after midnight of the planning date, outside of model validation.

    Args:
        value: Any JSON value.
        context: May have the `planning_date`, and an `offset` that all times have; collects `WrittenTimes`.
    """
    written: WrittenTimes = context.get(WRITTEN_TIMES) or context.setdefault(WRITTEN_TIMES, WrittenTimes())
    if isinstance(value, str):
        seconds = _read_text(value, context, written)
        first, last = written.text_range or (seconds, seconds)
        written.text_range = (min(first, seconds), max(last, seconds))
        return seconds
    if not is_number(value):
        raise field_error("The value is not a time.", _TIME_FORMS)
    if not 0 <= value <= MAX_TIME_S:
        raise field_error("The time is out of range.", f"0 to {MAX_TIME_S} seconds after midnight of planning_date")
    if value:
        written.numbers.add(float(value))
    return float(value)


def _read_text(text: str, context: dict[str, Any], written: WrittenTimes) -> float:
    if match := _CLOCK.fullmatch(text):
        hours, minutes, seconds = (int(part or 0) for part in match.groups())
        written.has_clocks = True
        return float(hours * 3600 + minutes * 60 + seconds)
    return _read_iso(text, context, written)


def _read_iso(text: str, context: dict[str, Any], written: WrittenTimes) -> float:
    """Return the seconds of a local time. Its UTC offset is ignored, but two different offsets are an error."""
    try:
        moment = datetime.fromisoformat(text) if "T" in text or " " in text else None
    except ValueError:
        moment = None
    if moment is None:
        raise field_error("The text is not a time.", _TIME_FORMS)
    wall = moment.replace(tzinfo=None)
    midnight = datetime.combine(context.get("planning_date") or wall.date(), datetime.min.time())
    seconds = (wall - midnight).total_seconds()
    if not 0 <= seconds <= MAX_TIME_S:
        raise field_error("The date-time is before planning_date or too long after it.", _TIME_FORMS)
    offset = moment.utcoffset()
    if offset is None:
        written.has_clocks = True
        return seconds
    written.utc_offset = context.setdefault(_OFFSET, offset)
    if written.utc_offset != offset:
        problem = "The date-time has a different UTC offset than an earlier one."
        if written.utc_offset is None:
            problem = "The date-time has a UTC offset."
        raise field_error(problem, _TIME_FORMS, _with_offset(moment, written.utc_offset))
    return seconds


def _with_offset(moment: datetime, offset: timedelta | None) -> str:
    """Return a hint that writes a date-time with an offset; a fixed offset is exact also on days of clock changes."""
    if offset is None:  # local time of the planning date
        return "Write all times as local times of the planning date."
    try:
        written = moment.astimezone(timezone(offset))
    except OverflowError:  # at the limits of the calendar
        return "Write all with one offset."
    return f"Write all with one offset: {moment.isoformat()} as {written.isoformat()}."


_read_load = _number(-MAX_NUMBER, MAX_NUMBER, "a number, or an object of numbers by dimension")
_read_amount_of_dimension = _number(-MAX_NUMBER, MAX_NUMBER)


def read_amount(value: Any) -> dict[str, float]:
    """Return amounts by dimension; a bare number is the amount of dimension `load`."""
    if not isinstance(value, dict):
        return {"load": _read_load(value)}
    if not 0 < len(value) <= 10:
        raise field_error("The object has no dimensions or too many.", "a number, or an object of 1 to 10 numbers")
    return {read_id(name): _read_amount_of_dimension(amount) for name, amount in value.items()}


_AMOUNT_SCHEMA: Final = {
    "type": ["number", "object"],
    "minimum": 0,
    "maximum": MAX_NUMBER,
    "minProperties": 1,
    "maxProperties": 10,
    "additionalProperties": {"type": "number", "minimum": 0, "maximum": MAX_NUMBER},
}
"""`checks/amount_checks.py` refuses what is negative."""
_ID_SCHEMA: Final = {"type": "string", "minLength": 1, "maxLength": MAX_ID_LENGTH}

Identifier = Annotated[str, PlainValidator(read_id), WithJsonSchema(_ID_SCHEMA)]
LocationId = Annotated[str, PlainValidator(read_location_id), WithJsonSchema(_ID_SCHEMA)]
FreeText = Annotated[
    str, PlainValidator(read_free_text), WithJsonSchema({"type": "string", "maxLength": MAX_FREE_TEXT_LENGTH})
]
Amount = Annotated[dict[str, float], PlainValidator(read_amount), WithJsonSchema(_AMOUNT_SCHEMA)]
_TIME_SCHEMA: Final = {"type": ["string", "number"], "minimum": 0, "maximum": MAX_TIME_S}
Time = Annotated[float, PlainValidator(read_time), WithJsonSchema(_TIME_SCHEMA)]
CalendarDate = Annotated[date, PlainValidator(read_date), WithJsonSchema({"type": "string", "format": "date"})]


def _bounded(low: float, high: float) -> WithJsonSchema:
    return WithJsonSchema({"type": "number", "minimum": low, "maximum": high})


_read_duration = _number(
    0, MAX_TIME_S, f"seconds from 0 to {MAX_TIME_S}", "Write seconds without quotes, 600 for ten minutes."
)
Duration = Annotated[float, PlainValidator(_read_duration), _bounded(0, MAX_TIME_S)]
Price = Annotated[float, PlainValidator(_number(0, MAX_NUMBER)), _bounded(0, MAX_NUMBER)]
Length = Annotated[float, PlainValidator(_number(0, MAX_NUMBER)), _bounded(0, MAX_NUMBER)]
Coordinate = Annotated[float, PlainValidator(_number(-MAX_NUMBER, MAX_NUMBER)), _bounded(-MAX_NUMBER, MAX_NUMBER)]
Latitude = Annotated[float, PlainValidator(_number(-MAX_NUMBER, MAX_NUMBER)), _bounded(-90, 90)]
Longitude = Annotated[float, PlainValidator(_number(-MAX_NUMBER, MAX_NUMBER)), _bounded(-180, 180)]
"""`checks/position_checks.py` holds the bounds of both: it knows when they are swapped."""
Factor = Annotated[float, PlainValidator(_number(0.001, 1000)), _bounded(0.001, 1000)]
TravelTimeFactor = Annotated[float, PlainValidator(_number(0.1, 10)), _bounded(0.1, 10)]
Speed = Annotated[float, PlainValidator(_number(0.001, 1e6)), _bounded(0.001, 1e6)]
Share = Annotated[float, PlainValidator(_number(0, 1)), _bounded(0, 1)]
_COUNT_SCHEMA: Final = {"type": "integer", "minimum": 0, "maximum": 100_000}
Count = Annotated[int, PlainValidator(_whole(0, 100_000)), WithJsonSchema(_COUNT_SCHEMA)]
Priority = Annotated[int, PlainValidator(_whole(1, 9)), WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 9})]
Decimals = Annotated[int, PlainValidator(_whole(0, 3)), WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 3})]


@dataclass(slots=True)
class ErrorBudget:
    """The number of further faults of a scenario that are reported individually; part of the validation context."""

    left: int = 1000


def report_within_budget(value: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """Validate a part of a scenario; once the error budget is spent, its faults become one, to save memory."""
    try:
        return read(value)
    except ValidationError as error:
        error_budget = (info.context or {}).get("error_budget")
        if error_budget is None:
            raise
        if error_budget.left > 0:
            error_budget.left -= error.error_count()
            raise
        raise field_error("This part is invalid, as are many others.", "", "Correct the others first.") from None


def need_some(value: Any) -> Any:
    """Return the value unless it is an empty list."""
    if value == []:
        raise field_error("The list is empty.", "a list of 1 or more")
    return value


def need_pair(value: Any) -> Any:
    """Return the value if it has the form of a time window."""
    if not isinstance(value, list) or len(value) != 2:
        raise field_error("The window is not a pair of times.", "[open, close]", 'Write it like ["08:00", "12:00"].')
    return value


def need_pairs(value: Any) -> Any:
    """Return the value if it has the form of a list of windows, and not of a single one, the most common mistake."""
    if isinstance(value, list) and len(value) == 2 and not any(isinstance(item, list) for item in value):
        problem = "The value is a single window, not a list of windows."
        raise field_error(problem, "a list of [open, close] pairs", 'Write it like [["08:00", "12:00"]].')
    return value


def read_matrix(value: Any) -> tuple[tuple[float, ...], ...]:
    """Return rows of finite numbers. `scenario/checks/` checks shape and sign.

    Raises:
        PydanticCustomError: The value is not a matrix.
        ValidationError: Other values, the first of each row with its place.
    """
    if not isinstance(value, list) or not all(isinstance(row, list) for row in value):
        raise field_error("The matrix is not a list of lists.", "a list of rows, each a list of numbers")
    found = ((row, at) for row, cells in enumerate(value) if (at := first_beyond(cells, -MAX_NUMBER)) is not None)
    if wrong := list(islice(found, MAX_ROWS)):
        error = field_error("The value is not a distance or duration.", f"numbers up to {MAX_NUMBER:g}", NO_WAY)
        cell_errors: list[InitErrorDetails] = [{"type": error, "loc": place, "input": None} for place in wrong]
        raise ValidationError.from_exception_data("matrix", cell_errors)
    return tuple(tuple(row) for row in value)


def first_beyond(row: list[Any], least: float) -> int | None:
    """Return the place of the first cell of a row that is no number from `least` to `MAX_NUMBER`; None for none."""
    if set(map(type, row)) <= {int, float} and all(least <= cell <= MAX_NUMBER for cell in row):
        return None
    return next(at for at, cell in enumerate(row) if type(cell) not in (int, float) or not least <= cell <= MAX_NUMBER)


MatrixField = Annotated[
    tuple[tuple[float, ...], ...],
    PlainValidator(read_matrix),
    WithJsonSchema({"type": "array", "items": {"type": "array", "items": {"type": "number"}}}),
]
