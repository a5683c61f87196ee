"""Log lines and trace ids.

Owns the one form a log line has, on stderr (stdout belongs to the stdio transport): a JSON object a line, in which no
text of a caller can break out of its string or start a line of its own. What is worth a line is decided where it
happens; further fields come by `extra=`.
"""

import json
import logging
import math
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final, TextIO

from planner_mcp.settings import Settings
from planner_mcp.text import Json

MAX_MESSAGE: Final = 2000
"""Characters of a message that are kept."""
MAX_FIELD: Final = 500
"""Characters of one further field that are kept."""
MAX_STACK: Final = 8000
"""Characters of a traceback that are kept, from its end, where the cause stands."""

_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}
_ENCODER: Final = json.JSONEncoder(ensure_ascii=True, allow_nan=False)
_trace_id: ContextVar[str] = ContextVar("trace_id", default="")


def new_trace_id() -> str:
    """Return a fresh trace id: 32 hexadecimal digits, as in W3C Trace Context."""
    return secrets.token_hex(16)


def trace_id() -> str:
    """Return the trace id of what is going on, `""` outside of `trace_context`."""
    return _trace_id.get()


@contextmanager
def trace_context(value: str) -> Iterator[str]:
    """Put a trace id on every log line written inside the block."""
    token = _trace_id.set(value)
    try:
        yield value
    finally:
        _trace_id.reset(token)


class JsonFormatter(logging.Formatter):
    """Formats a record as one line of JSON: `time, level, logger, message[, trace_id][, stack]` and extra fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, pure ASCII, without its line end."""
        line: Json = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _cut(record.getMessage(), MAX_MESSAGE),
        }
        if current := _trace_id.get():
            line["trace_id"] = current
        for name, value in vars(record).items():
            if name not in _STANDARD and name not in line:
                line[name] = _plain(value)
        if record.exc_info:
            line["stack"] = self.formatException(record.exc_info)[-MAX_STACK:]
        return _ENCODER.encode(line)


def configure_logging(settings: Settings, stream: TextIO | None = None) -> None:
    """Send every logger, uvicorn's too, through one handler; calling it again replaces the handler.

    Args:
        settings: Names the least severe level.
        stream: Where lines go; stderr when None.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    logging.getLogger("uvicorn.access").setLevel(max(root.level, logging.WARNING))
    logging.getLogger("httpx2").setLevel(max(root.level, logging.WARNING))  # it writes URLs, which hold positions
    logging.captureWarnings(True)
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False  # in no line


def _plain(value: Any) -> Any:
    """Return a field as a JSON scalar; anything else as its text."""
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return _cut(str(value), MAX_FIELD)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
