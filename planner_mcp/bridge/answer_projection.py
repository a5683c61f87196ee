"""Cuts the answer of a service to what a model is to see: a selection, within a number of tokens (SPEC O5, T9).

Owns reading the bytes and cutting them. Pure, so that a large answer can be read in a process of its own. What was left
out is counted, and the answer says how much.
"""

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import jmespath
from jmespath.exceptions import JMESPathError

from planner_mcp.bridge.secret_redaction import value_without
from planner_mcp.errors import BridgedServiceError, Fault, TooLargeError
from planner_mcp.server.tools.answers.token_estimates import estimated_tokens
from planner_mcp.text import compact, plain

MAX_DEPTH: Final = 60
"""Levels of an answer."""
MAX_TEXT: Final = 1000
"""Characters of one text."""
SHORT_TEXT: Final = 100
"""Characters of one text of an answer that does not fit with longer ones."""


@dataclass(frozen=True, slots=True)
class AnswerProjection:
    """What is handed over of an answer."""

    data: Any
    left_out: dict[str, int]
    """How many entries of which lists; `*` in a place stands for each entry."""


def projected(body: bytes, select: str, max_tokens: int, secrets: Sequence[str] = ()) -> AnswerProjection:
    """Return what is handed over of the JSON of an answer.

    Args:
        select: JMESPath expression; empty for everything.

    Raises:
        BridgedServiceError: The service sent no JSON, or the expression does not fit it.
        TooLargeError: It does not fit however much of it is left out.
    """
    return shortened(value_without(_selected(_decoded(body), select), secrets), max_tokens)


def shortened(value: Any, max_tokens: int) -> AnswerProjection:
    """Return a value within a number of tokens; of long lists the first entries stay."""
    for max_text in (MAX_TEXT, SHORT_TEXT):
        whole = _cut(value, max_tokens, max_text)  # an entry has a token at least
        if _fits(whole, max_tokens):
            return whole
        least, most = 0, min(max_tokens, _longest(whole.data))
        while least + 1 < most:  # `least` entries of each list fit, `most` do not
            middle = (least + most) // 2
            if _fits(_cut(value, middle, max_text), max_tokens):
                least = middle
            else:
                most = middle
        if least:
            return _cut(value, least, max_text)
    problem = f"The answer does not fit into {max_tokens} tokens."
    raise TooLargeError(problem, errors=[Fault("", problem, "a smaller answer", "Ask for less.")])


def _decoded(body: bytes) -> Any:
    if not body.strip():
        return None
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BridgedServiceError("The service answered with something that is not JSON.") from error
    _check_values(value)
    return value


def _selected(value: Any, select: str) -> Any:
    if not select:
        return value
    try:
        return jmespath.search(select, value)
    except JMESPathError as error:
        raise BridgedServiceError("The answer of the service is not what this tool expects of it.") from error


def _check_values(value: Any) -> None:
    """Check that a value is not too deep, and holds no number that JSON has not: Python reads and writes NaN."""
    pending = [(value, 1)]
    while pending:
        here, depth = pending.pop()
        if depth > MAX_DEPTH:
            raise BridgedServiceError("The answer of the service is nested too deeply.")
        if isinstance(here, float) and not math.isfinite(here):
            raise BridgedServiceError("The service answered with a number that is not finite.")
        if isinstance(here, dict | list):
            pending.extend((each, depth + 1) for each in (here.values() if isinstance(here, dict) else here))


def _fits(projection: AnswerProjection, max_tokens: int) -> bool:
    return estimated_tokens(compact(projection.data)) <= max_tokens


def _longest(value: Any) -> int:
    if isinstance(value, dict):
        return max(map(_longest, value.values()), default=0)
    return max(len(value), *map(_longest, value)) if isinstance(value, list) and value else 0


def _cut(value: Any, most: int, max_text: int) -> AnswerProjection:
    """Return a value of whose lists `most` entries stay, its texts on one line and without hidden characters."""
    left_out: Counter[str] = Counter()

    def cut(here: Any, place: str) -> Any:
        if isinstance(here, str):
            return plain(" ".join(here[: 4 * max_text].split()), max_text)
        if isinstance(here, list):
            if len(here) > most:
                left_out[place or "/"] += len(here) - most
            return [cut(each, f"{place}/*") for each in here[:most]]
        if isinstance(here, dict):
            return {plain(name): cut(each, f"{place}/{plain(name)}") for name, each in here.items()}
        return here

    return AnswerProjection(cut(value, ""), dict(left_out))
