"""A reader of Chinese texts."""

from collections.abc import Iterator
from contextlib import contextmanager

from planner_mcp.translation import use_language


@contextmanager
def in_chinese() -> Iterator[None]:
    """Have the texts of the running task in Chinese for the length of the block."""
    use_language("zh")
    try:
        yield
    finally:
        use_language("en")
