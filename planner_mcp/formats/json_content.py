"""A JSON file, parsed once however often it is looked at (SPEC T5).

Owns the one parse: finding out which form a file has needs it, and so does reading the day.
"""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from planner_mcp.formats.text_tables import check_size


@dataclass(frozen=True)
class Content:
    """A file as it came."""

    data: bytes

    @cached_property
    def parsed(self) -> Any:
        """The value of the file as JSON; None where it is none.

        Raises:
            TooLargeError: It has more bytes than allowed.
        """
        check_size(self.data)
        try:
            return json.loads(self.data)
        except (ValueError, RecursionError):
            return None
