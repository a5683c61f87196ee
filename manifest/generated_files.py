"""Files that the project writes and keeps: written anew, or compared with what would be written."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path


def stale(texts: Mapping[Path, str]) -> list[str]:
    """Return the names of the files that differ from what would be written."""
    return [path.name for path, text in texts.items() if not path.exists() or path.read_text("utf-8") != text]


def write_or_check(texts: Mapping[Path, str], arguments: Sequence[str], *, command: str) -> int:
    """Write the files, or with `--check` say which are stale and by which command they are written; return the exit
    status.
    """
    if "--check" in arguments:
        if found := stale(texts):
            sys.stderr.write(f"stale: {', '.join(found)}; run `{command}`\n")
        return 1 if found else 0
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0
