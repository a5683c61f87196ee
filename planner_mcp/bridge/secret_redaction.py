"""Takes the secret of a bridge out of what its service answers (SPEC O5, T8): services repeat credentials in errors.

Owns the spellings in which a secret comes back. A service that hides what it repeats is not stopped by this.
"""

import base64
import html
import json
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote

REDACTED: Final = "[redacted]"


def spellings(secret: str, *, is_basic: bool) -> tuple[str, ...]:
    """Return the texts that give a secret away, the longest first.

    Args:
        secret: As the environment has it.
        is_basic: Whether it is `name:password`, of which the password alone is one too.
    """
    password = secret.partition(":")[2] if is_basic else ""
    plain_forms = filter(None, (secret, base64.b64encode(secret.encode()).decode(), password))
    written = {
        text
        for each in plain_forms
        for text in (
            each,
            quote(each, safe=""),
            quote(each),
            html.escape(each),
            json.dumps(each)[1:-1],
            each.replace("/", "\\/"),
        )
    }
    return tuple(sorted(written, key=lambda text: (-len(text), text)))


def without(text: str, secrets: Sequence[str]) -> str:
    """Return a text without secrets."""
    for each in secrets:
        text = text.replace(each, REDACTED)
    return text


def value_without(value: Any, secrets: Sequence[str]) -> Any:
    """Return decoded JSON without secrets, in its keys and numbers too."""
    if isinstance(value, str):
        return without(value, secrets)
    if isinstance(value, dict):
        return {without(name, secrets): value_without(each, secrets) for name, each in value.items()}
    if isinstance(value, list):
        return [value_without(each, secrets) for each in value]
    if isinstance(value, int | float) and not isinstance(value, bool) and str(value) in secrets:
        return REDACTED
    return value
