"""The logging of a test process, which commands that run in it replace by their own."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def logging_restored() -> Iterator[None]:
    """Restore handlers and level afterwards: those of a command write to a file that is closed with it."""
    root, shown = logging.getLogger(), warnings.showwarning
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        logging.captureWarnings(False)
        warnings.showwarning = shown
