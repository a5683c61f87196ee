"""Makes the HTTP request of a bridged call from its arguments.

Owns how values are written into path, query, headers and body (OpenAPI, "Parameter Object": style and explode). What a
caller says can change neither the host nor the path beyond the one segment its parameter stands for; a constant is the
operator's, and is encoded as it is.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, unquote

from planner_mcp.bridge.operation_arguments import RequestArgument
from planner_mcp.errors import Fault, input_error
from planner_mcp.text import compact, figure

SEPARATORS: Final = {"form": ",", "spaceDelimited": "%20", "pipeDelimited": "%7C", "simple": ","}
"""Between the items of a list that is one value."""
_SLASH: Final = re.compile("%2F|%5C")
"""Most services decode a path before they look at it, and a slash would lead to another of their operations."""


@dataclass(slots=True)
class BridgeRequest:
    """One request as it is sent."""

    method: str
    path: str
    """With its parameters filled in, and the query."""
    headers: dict[str, str] = field(default_factory=dict)
    """By name in lower case."""
    body: bytes = b""


def bridge_request(
    method: str, path: str, values: Iterable[tuple[RequestArgument, Any]], query_names: Collection[str] = ()
) -> BridgeRequest:
    """Return the request of a call.

    Args:
        method: In capitals.
        path: With its parameters in braces.
        values: What goes where: constants first, then arguments that were checked.
        query_names: Names in the query that no key of a caller's object can take: constants and what is hidden stay so.

    Raises:
        InputError: A value that cannot be written where it goes.
    """
    request = BridgeRequest(method, path)
    query: list[str] = []
    taken = {*query_names}
    body: Any = None
    for argument, value in values:
        if argument.place == "path":
            text = quote(_simple(argument, value), safe=",")
            if text in ("", ".", "..") or (_SLASH.search(text) and not argument.is_constant):
                raise _unwritable(argument, "one segment of a path, without slashes")
            request.path = request.path.replace("{" + argument.target[0] + "}", text)
        elif argument.place == "query":
            pairs = [*_query_pairs(argument, value)]
            written = {unquote(name) for name, _ in pairs}
            written |= {name.partition("[")[0] for name in written}  # `a[]` is `a` to many services
            if argument.is_constant:
                taken |= written
            elif not written.isdisjoint(taken - {argument.target[0]}):
                raise _unwritable(argument, "keys that are not names of other parameters")
            query += [f"{name}={text}" for name, text in pairs]
        elif argument.place == "header":
            request.headers[argument.target[0].lower()] = _header_text(argument, value)
        else:
            body = _placed(body, argument.target, value)
    if query:
        request.path += "?" + "&".join(query)
    if body is not None:
        request.headers["content-type"] = "application/json"
        request.body = compact(body).encode()
    return request


def _placed(body: Any, target: tuple[str, ...], value: Any) -> Any:
    """Return a body with a value at its place."""
    if not target:
        return value
    body = body if isinstance(body, dict) else {}
    here = body
    for name in target[:-1]:
        here = here.setdefault(name, {})
    here[target[-1]] = value
    return body


def _query_pairs(argument: RequestArgument, value: Any) -> Iterator[tuple[str, str]]:
    """Yield names and texts, both encoded."""
    name = quote(argument.target[0], safe="")
    if argument.is_json:
        yield name, quote(compact(value), safe="")
    elif value is None:
        return
    elif argument.style == "deepObject" and isinstance(value, Mapping):
        yield from _deep(name, value)
    elif argument.is_exploded and isinstance(value, Mapping):
        yield from ((quote(key, safe=""), quote(_scalar(argument, each), safe="")) for key, each in value.items())
    elif argument.is_exploded and isinstance(value, list):
        yield from ((name, quote(_scalar(argument, each), safe="")) for each in value)
    else:
        separator = SEPARATORS.get(argument.style, ",")
        yield name, separator.join(quote(each, safe="") for each in _items(argument, value))


def _deep(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield `filter[status]=open`; of objects within, and lists, a pair for each value."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _deep(f"{name}%5B{quote(key, safe='')}%5D", each)
    elif isinstance(value, list):
        for each in value:
            yield from _deep(name, each)
    elif value is not None:
        yield name, quote(_text(value), safe="")


def _simple(argument: RequestArgument, value: Any) -> str:
    return compact(value) if argument.is_json else ",".join(_items(argument, value))


def _header_text(argument: RequestArgument, value: Any) -> str:
    text = _simple(argument, value)
    if not (text.isascii() and text.isprintable()):
        raise _unwritable(argument, "printable ASCII")
    return text


def _items(argument: RequestArgument, value: Any) -> list[str]:
    if isinstance(value, list):
        return [_scalar(argument, each) for each in value]
    if isinstance(value, Mapping):
        return [part for key, each in value.items() for part in (key, _scalar(argument, each))]
    return [_scalar(argument, value)]


def _scalar(argument: RequestArgument, value: Any) -> str:
    if isinstance(value, list | Mapping):
        raise _unwritable(argument, "texts, numbers and booleans, with nothing nested in them")
    return _text(value)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return figure(value) if isinstance(value, float) else str(value)


def _unwritable(argument: RequestArgument, accepted: str) -> Exception:
    problem = f"The parameter {argument.name} cannot be sent as it is."
    return input_error([Fault(f"/{argument.name}", problem, accepted)])
