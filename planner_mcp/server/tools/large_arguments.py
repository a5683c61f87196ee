"""Arguments of a call that are still text, because decoding them would hold up everybody else (ADR 0036).

Owns how they stand in a request: as the one member of an object, under an empty name. JSON of a client has nothing of
this type, so no client can write it.
"""

import gc
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from planner_mcp.errors import Fault, TooLargeError
from planner_mcp.text import Json

MOST_VALUES: Final = 50_000
"""Values of arguments that are decoded for tools that take no text: some 20 ms."""


class LargeArguments(str):
    """The JSON object of the arguments, checked and written anew in ASCII."""

    values: int = 0
    """How many values it has, names aside."""
    complete: Callable[[Any], Any] | None = None
    """Makes the arguments of what is decoded, where a request says some of them elsewhere; None: they are all."""

    @staticmethod
    def of(arguments: Mapping[str, Any], count: Callable[[bytes], int]) -> "LargeArguments":
        """Return arguments as text, and their values counted."""
        large = LargeArguments(json.dumps(arguments, separators=(",", ":")))
        large.values = count(large.encode())
        return large

    def as_json(self) -> dict[str, "LargeArguments"]:
        """Return what stands for the arguments in a request."""
        return {"": self}

    def decoded(self) -> Any:
        """Return the arguments.

        Raises:
            TooLargeError: There are more values than a call of most tools may hold.
        """
        if self.values > MOST_VALUES:
            problem = f"The arguments have {self.values} values."
            fault = Fault("", problem, f"at most {MOST_VALUES}", "Change less in one call.")
            raise TooLargeError(problem, errors=[fault])
        was_collecting = gc.isenabled()
        gc.disable()  # a collection in the middle would walk over every new value
        try:
            arguments: Json = json.loads(self)
        finally:
            if was_collecting:
                gc.enable()
        return arguments if self.complete is None else self.complete(arguments)


def large_arguments_in(arguments: Any) -> LargeArguments | None:
    """Return what stands for arguments that are still text, None where they are decoded."""
    found = arguments.get("") if isinstance(arguments, Mapping) and len(arguments) == 1 else None
    return found if isinstance(found, LargeArguments) else None
