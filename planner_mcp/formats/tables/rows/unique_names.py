"""Names that no other part of a day has (SPEC T5).

Owns the numbers behind names that are wanted more than once: `at A1`, `at A1 (2)`.
"""

from collections import Counter
from collections.abc import Collection


class UniqueNames:
    """Names that were given away. However often one name is wanted, each further one costs the same."""

    def __init__(self) -> None:
        self._given: set[str] = set()
        self._wanted: Counter[str] = Counter()

    def unused(self, name: str, taken: Collection[str] = ()) -> str:
        """Return a name, with a number behind it where it was given before or is among those `taken`."""
        while True:
            self._wanted[name] += 1
            number = self._wanted[name]
            unused = name if number == 1 else f"{name} ({number})"
            if unused not in self._given and unused not in taken:
                self._given.add(unused)
                return unused
