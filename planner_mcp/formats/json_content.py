"""A JSON file, parsed once however often it is looked at (SPEC T5).

Owns the one parse: finding out which form a file has needs it, and so does reading the day.
"""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from planner_mcp.errors import Fault, input_error
from planner_mcp.formats.tables.sheets.text_tables import check_size
from planner_mcp.text import LONG_NUMBER


@dataclass(frozen=True)
class Content:
    """A file as it came."""

    data: bytes

    @cached_property
    def parsed(self) -> Any:
        """The value of the file as JSON; None where it is none.

        Raises:
            TooLargeError: It has more bytes than allowed.
            InputError: A number in it is too long to be read.
        """
        check_size(self.data)
        try:
            return json.loads(self.data)
        except (json.JSONDecodeError, UnicodeError, RecursionError):
            return None
        except ValueError:  # the one other reason that Python has
            raise input_error([Fault("", LONG_NUMBER, "numbers of a usual length")]) from None
