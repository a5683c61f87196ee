"""The one reader of JSON bodies: limits, decoding, Unicode, and what of a large body the server holds.

Owns every rule for the text of a body. Number and depth of its values are bounded before it is decoded, because
decoding takes memory and recurses. Half of a surrogate pair is refused by I-JSON (RFC 7493 §2.1): the escape is valid
JSON, but it is no Unicode text and cannot be written as UTF-8 again, neither in an answer that repeats an id nor in a
log line. An object that names a member twice is refused too (§2.3): the last of both would count without a word. Such
names, and NaN, are listed with their places: in a day of a thousand tickets nobody finds them by eye.

A small body is read at once (`read_json`). A large one is read in a process of its own (`outline_json`), and its caller
gets an outline in which the arguments of tools are still text (`server/tools/large_arguments.py`).
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from planner_mcp.errors import Fault, InvalidMessageError, TooLargeError
from planner_mcp.routing.scenario.schema_faults import pointer
from planner_mcp.server.tools.large_arguments import LargeArguments
from planner_mcp.text import LONG_NUMBER, Json, plain

LONE_SURROGATE: Final = "The body holds half of a surrogate pair."
NOT_JSON: Final = "The body is not JSON."
NOT_UTF_8: Final = "The body is not in UTF-8."
LARGE_BYTES: Final = 16 * 1024
"""Bodies above this leave the event loop; at this size the worst takes 5 ms."""
LARGE_ARGUMENTS: Final = 1024
"""Characters of arguments that stay text in the outline of a large body."""
MOST_OUTLINE: Final = 64 * 1024
"""Characters of a large body beside the arguments of its calls."""
_MOST_FAULTS: Final = 8
_NOT_FINITE: Final = Fault("", "JSON has neither NaN nor Infinity.", "a finite number")
_ANY_HALF: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_ONE_STRING: Final = rb'"(?:[^"\\]++|\\.)*+"?+'  # possessive: it never goes back
_STRING: Final = re.compile(_ONE_STRING, re.DOTALL)
_PART: Final = re.compile(rb'(?:[^"]++|' + _ONE_STRING + rb"){1,8192}+", re.DOTALL)
"""So much of a text as holds a few thousand strings, each of them whole."""
_OTHERS: Final = bytes(set(range(256)) - set(b"[]{}"))
_ONE_KIND: Final = bytes.maketrans(b"{}", b"[]")


@dataclass(frozen=True, slots=True)
class JsonLimits:
    """How much a JSON text may hold."""

    nesting: int
    values: int
    """Without the names of members."""


class UnreadableJsonError(InvalidMessageError):
    """The text is not JSON, names a member twice, or has a number that Python does not read."""


@dataclass(frozen=True, slots=True)
class DecodedBody:
    """A body that was read."""

    _value: Any
    _fault: UnreadableJsonError | None = None
    outline: bytes | None = None
    """Of a large body, in JSON: the same without arguments, or its digest where it is nothing but arguments."""

    @property
    def value(self) -> Any:
        """Its value; large arguments stand in it as text.

        Raises:
            UnreadableJsonError: It is not JSON; the endpoint decides what it refuses first.
        """
        if self._fault is not None:
            raise self._fault
        return self._value


Outline = Callable[[bytes | bytearray, JsonLimits], DecodedBody]
"""Reads a large body."""


def read_json(body: bytes | bytearray, limits: JsonLimits) -> Any:
    """Return the value of a JSON text in UTF-8.

    Raises:
        TooLargeError: It has more values than allowed.
        UnreadableJsonError: It is not JSON.
        InvalidMessageError: It nests deeper than allowed, or is no Unicode text.
    """
    if b"\0" in body:  # in UTF-16 or UTF-32, in which what follows would overlook all it looks for (RFC 8259 §8.1)
        raise InvalidMessageError(NOT_UTF_8)
    _check_size(body, limits)
    value = decode_json(body)
    if _ANY_HALF.search(body) is not None and has_lone_surrogate(value):
        raise InvalidMessageError(LONE_SURROGATE)
    return value


def decode_json(body: bytes | bytearray) -> Any:
    """Return the value of a JSON text in UTF-8, of whatever size and depth.

    Raises:
        UnreadableJsonError: It is not JSON.
    """
    try:
        return decode_text(body.decode("utf-8-sig"))  # editors on Windows write a mark before it
    except UnreadableJsonError:
        raise
    except json.JSONDecodeError as error:
        raise UnreadableJsonError(f"The body is not JSON: line {error.lineno}, column {error.colno}.") from error
    except UnicodeError as error:
        raise UnreadableJsonError(NOT_UTF_8) from error
    except RecursionError as error:
        raise UnreadableJsonError(NOT_JSON) from error
    except ValueError as error:
        raise UnreadableJsonError(LONG_NUMBER) from error


def decode_text(text: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        UnreadableJsonError: It names members twice, or has NaN or an infinity; `errors` has their places.
        ValueError: It is not JSON, or has a number that Python does not read.
        RecursionError: It nests too deep.
    """
    misread = _Misread()
    value = json.loads(text, parse_constant=misread.constant, object_pairs_hook=misread.members)
    if misread.is_any:
        faults = list(islice(misread.faults(value, ()), _MOST_FAULTS))
        raise UnreadableJsonError(faults[0].problem, errors=faults)
    return value


class _Misread:
    """What Python reads though I-JSON has it not: its fault takes the place of each such value, to be found there."""

    def __init__(self) -> None:
        self.is_any = False

    def constant(self, _name: str) -> Fault:
        """Return what stands for NaN or an infinity."""
        self.is_any = True
        return _NOT_FINITE

    def members(self, members: list[tuple[str, Any]]) -> Json:
        """Return the object of some members, in which the fault stands for what was named twice."""
        found = dict(members)
        if len(found) < len(members):
            self.is_any = True
            twice = [name for name, count in Counter(name for name, _ in members).items() if count > 1]
            found |= {name: Fault("", f'"{plain(name, 40)}" stands twice in one object.') for name in twice}
        return found

    def faults(self, value: Any, place: tuple[str | int, ...]) -> Iterator[Fault]:
        """Yield the faults that stand in a value, with their places."""
        if isinstance(value, Fault):
            yield replace(value, path=pointer(place))
        elif isinstance(value, dict | list):
            for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
                yield from self.faults(inner, (*place, name))


def decoded_body(body: bytes | bytearray, limits: JsonLimits) -> DecodedBody:
    """Return a body that was read; that it is not JSON is reported when its value is asked for, the rest is raised."""
    try:
        return DecodedBody(read_json(body, limits))
    except UnreadableJsonError as error:
        return DecodedBody(None, error)


def outline_json(body: bytes | bytearray, limits: JsonLimits) -> DecodedBody:
    """Return a large body with the arguments of tools as text; for a process of its own.

    Raises:
        TooLargeError: It has more values than allowed, or is large elsewhere than in arguments.
        InvalidMessageError: As `read_json`, except that it is not JSON.
    """
    decoded = decoded_body(body, limits)
    try:
        value = decoded.value
    except UnreadableJsonError:
        return decoded
    outlines = [_without_arguments(message) for message in (value if isinstance(value, list) else [value])]
    outline = json.dumps([bare for bare, _ in outlines] if isinstance(value, list) else outlines[0][0])
    if len(outline) > MOST_OUTLINE:
        raise TooLargeError(f"Only the arguments of a tool may be larger than {MOST_OUTLINE} bytes.")
    messages = [message for _, message in outlines]
    return DecodedBody(messages if isinstance(value, list) else messages[0], None, outline.encode())


def outline_arguments(body: bytes | bytearray, limits: JsonLimits) -> DecodedBody:
    """Return a large body that is the arguments of one tool, as text; for a process of its own.

    Its outline is the digest of the body, by which one request with a key is distinguished from another.

    Raises:
        TooLargeError, InvalidMessageError: As `outline_json`.
    """
    decoded = decoded_body(body, limits)
    try:
        value = decoded.value
    except UnreadableJsonError:
        return decoded
    if not isinstance(value, dict):
        return DecodedBody([], None, b"[]")  # whatever it is, it is no object
    outline = json.dumps({"sha256": hashlib.sha256(body).hexdigest()}).encode()
    return DecodedBody(LargeArguments.of(value, values_in).as_json(), None, outline)


def has_lone_surrogate(value: Any) -> bool:
    """Return whether a text of a JSON value holds half a pair whose other half does not follow."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def too_deep(limit: int) -> str:
    """Return how the refusal of a body that nests deeper is put."""
    return f"The body nests deeper than {limit} levels."


def values_in(text: bytes) -> int:
    """Return how many values a JSON text has at most; those in texts count for nothing, empty lists for two."""
    return _values(_without_strings(text))


def _check_size(body: bytes | bytearray, limits: JsonLimits) -> None:
    opening = body.count(b"[") + body.count(b"{")
    if opening <= limits.nesting and _values(body) <= limits.values:
        return
    bare = _without_strings(body)
    if (count := _values(bare)) > limits.values:
        raise TooLargeError(f"The body has {count} values; {limits.values} are accepted.")
    if _is_deeper(bare, limits.nesting):
        raise InvalidMessageError(too_deep(limits.nesting))


def _without_strings(text: bytes | bytearray) -> bytes:
    """Return a JSON text without its strings, made part by part: each piece between two strings takes memory."""
    return b"".join(_STRING.sub(b"", part[0]) for part in _PART.finditer(text))


def _values(bare: bytes | bytearray) -> int:
    return bare.count(b",") + bare.count(b"[") + bare.count(b"{") + 1


def is_deeper(body: bytes, limit: int) -> bool:
    """Return whether brackets of a JSON text nest deeper than a limit; those in texts count for nothing."""
    if body.count(b"[") + body.count(b"{") <= limit:
        return False
    return _is_deeper(_without_strings(body), limit)


def _is_deeper(bare: bytes, limit: int) -> bool:
    """Return whether brackets of a text without its strings nest deeper than a limit.

    Each pass takes the innermost pairs away, all at once. What is left after `limit` passes was deeper, or no JSON.
    """
    rest = bare.translate(_ONE_KIND, _OTHERS)
    for _ in range(limit):
        fewer = rest.replace(b"[]", b"")
        if len(fewer) == len(rest):
            break
        rest = fewer
    opening = rest.count(b"[")
    return opening > limit or (opening > 0 and 2 * opening == len(rest))


def _without_arguments(message: Any) -> tuple[Any, Any]:
    """Return a message without the arguments of its call, and with them as text where they are large.

    A JSON-RPC request has them in its `params`, a call of the dashboard beside the tool's name.
    """
    params = message.get("params") if isinstance(message, dict) else None
    if isinstance(params, dict):
        bare, full = _without_large(params)
        return {**message, "params": bare}, {**message, "params": full}
    return _without_large(message) if isinstance(message, dict) else (message, message)


def _without_large(call: Json) -> tuple[Json, Json]:
    if not isinstance(arguments := call.get("arguments"), dict):
        return call, call
    large = LargeArguments.of(arguments, values_in)
    bare = {**call, "arguments": {}}
    return bare, call if len(large) <= LARGE_ARGUMENTS else {**call, "arguments": large.as_json()}
