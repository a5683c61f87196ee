"""How many examples a property test tries: a part of them in `make test`, all of them in `make test-all`.

`make test-all` names the profile with Hypothesis's own option, `--hypothesis-profile=thorough`. Both profiles are
registered in `tests/conftest.py`.
"""

from typing import Any, Final

from hypothesis import settings

QUICK: Final = "quick"
THOROUGH: Final = "thorough"
QUICK_PART: Final = 10
"""The quick suite tries one example of so many."""
FEWEST: Final = 12
"""Examples that the quick suite tries of every property that has as many."""


def is_thorough() -> bool:
    """Return whether this run tries all examples."""
    return settings.get_current_profile_name() == THOROUGH


def example_count(thorough: int) -> int:
    """Return how many examples this run tries of a property that the thorough run tries so often."""
    return thorough if is_thorough() else min(thorough, max(FEWEST, thorough // QUICK_PART))


def examples(thorough: int, **further: Any) -> settings:
    """Return the settings of a property test.

    Args:
        thorough: Examples of the thorough run.
        further: Other settings of Hypothesis.
    """
    return settings(max_examples=example_count(thorough), **further)
