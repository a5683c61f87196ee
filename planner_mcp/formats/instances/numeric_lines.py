"""Lines of numbers as people exchange them: decoding, limits, and a fault for whatever is no number.

Owns the bytes up to words and numbers; what they mean is each dialect's. A fault names the line of the file.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from planner_mcp.errors import MAX_FAULTS, Fault, InputError, input_error
from planner_mcp.formats.tables.sheets.text_tables import check_size, too_large

LARGEST: Final = 1e9
"""Largest number of a scenario."""
WordLine = tuple[int, list[str]]
"""Its number in the file, and its words."""
NumberLine = tuple[int, list[float]]
"""Its number in the file, and its words as numbers."""


def word_lines(data: bytes) -> list[WordLine]:
    """Return the lines that are not empty.

    Raises:
        TooLargeError: There are more bytes than allowed.
        InputError: It is no text in UTF-8, or there is nothing in it.
    """
    check_size(data)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise input_error([Fault(f"/{line}", "The line is not UTF-8.", "text", "Save it as UTF-8.")]) from None
    if "\0" in text:
        raise input_error([Fault("", "The file is no text.", "an instance as text")])
    lines = [(number, words) for number, line in enumerate(text.split("\n"), 1) if (words := line.split())]
    if not lines:
        raise input_error([Fault("", "The file is empty.", "an instance as text")])
    return lines


@dataclass(slots=True)
class FaultCollector:
    """The faults of one file."""

    faults: list[Fault] = field(default_factory=list)
    """The first of those that were found."""
    found: int = 0

    def note(self, line: int | None, problem: str, accepted: str = "", hint: str = "") -> None:
        """Keep a fault of a line; one of the whole file has none."""
        self.keep(Fault("" if line is None else f"/{line}", problem, accepted, hint))

    def keep(self, fault: Fault) -> None:
        """Keep a fault, as long as there are not too many."""
        self.found += 1
        if self.found <= MAX_FAULTS:
            self.faults.append(fault)

    def settle(self) -> None:
        """Raise `InputError` with all faults where there are any."""
        if self.faults:
            raise self._error()

    def stop(self, line: int | None, problem: str, accepted: str = "", hint: str = "") -> Exception:
        """Return the error of a file that cannot be read on from here."""
        self.note(line, problem, accepted, hint)
        return self._error()

    def _error(self) -> InputError:
        return input_error(self.faults, found=self.found)

    def row(self, line: int, words: Sequence[str]) -> list[float]:
        """Return words as numbers; what is no number is a fault and counts 0."""
        numbers = []
        for word in words:
            number = number_of(word)
            if number is None:
                self.note(line, "A value is not a number.", f"numbers up to {LARGEST:g}")
            numbers.append(number or 0.0)
        return numbers

    def count(self, line: int, number: float, *, most: int) -> int:
        """Return a number that counts something.

        Raises:
            TooLargeError: It is above `most`.
            InputError: It is not a whole number from 1 on.
        """
        if number > most:
            raise too_large(f"/{line}", f"Line {line} counts more than {most}.", f"at most {most}")
        if number < 1 or not number.is_integer():
            raise self.stop(line, "A count is not a whole number from 1 on.", f"a whole number from 1 to {most}")
        return int(number)

    def check_least(self, rows: Iterable[NumberLine], columns: Sequence[tuple[int, str]]) -> None:
        """Note each negative value in the columns that are named."""
        for line, row in rows:
            for column, what in columns:
                if row[column] < 0:
                    self.note(line, f"The {what} is negative.", "0 or more")


def number_of(word: str) -> float | None:
    """Return the number a word is; None where it is none, not finite or beyond measure."""
    try:
        number = float(word) if word.isascii() and "_" not in word else math.nan
    except ValueError:
        return None
    return number if abs(number) <= LARGEST else None  # comparing with NaN is false, too
