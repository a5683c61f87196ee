"""The MCP App: one HTML page that draws a job inside a chat (`io.modelcontextprotocol/ui`, revision 2026-01-26).

Owns how the page is put together: once, in memory, from the view modules of the dashboard and those in `plan_app`. Each
module becomes a function of its own, so names never meet; no build step and nothing from elsewhere. The page holds
nothing of any principal; what it shows comes from the tool `read_view`.

Hosts keep a page by its URI, so the URI names the page's content. A replica of another version answers the URI with
its own page, which understands the same tool.
"""

import hashlib
import posixpath
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from planner_mcp.server.resources.resource_definition import (
    LONG_MS,
    Contents,
    ReadContext,
    ResourceMetadata,
    Template,
)

MIME_TYPE: Final = "text/html;profile=mcp-app"
DOMAINS: Final = ("connectDomains", "resourceDomains", "frameDomains", "baseUriDomains")
META: Final[Mapping[str, Any]] = {"ui": {"csp": {name: [] for name in DOMAINS}, "prefersBorder": True}}
"""The page asks for no origin at all; some hosts want that said."""
_ROOT: Final = files("planner_mcp.server")
_APP: Final = "resources/plan_app"
_STYLES: Final = ("http/dashboard/view/view.css", f"{_APP}/plan_app.css")
_IMPORT: Final = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=(?:const|class|function|async function|function\*) (\w+))", re.MULTILINE)
_COMMENT: Final = re.compile(r"^ *//.*\n", re.MULTILINE)
_LITERAL: Final = (
    r'"(?:[^"\\\n]|\\.)*"'
    r"|`(?:[^`$\\]|\\.|\$(?!\{)|\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\})*`"
    r"|/(?![ /*])(?:[^/\\\n]|\\.)+/[a-z]*"
)
"""Texts, templates with one level of templates in them, and patterns. A division stands between blanks."""
_BLANKS: Final = re.compile("(" + _LITERAL + r")|^ +| *([{([,;])\s*| *([})\]:?=<>&|]) *", re.MULTILINE)
"""Literals stay; lines end in a `}`, `)` or `]` where a statement may end without a semicolon."""
_STYLE_BLANKS: Final = re.compile(r"/\*.*?\*/\n|\s*([{};,])\s*|(:) +")
_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>planner-mcp</title>
<style>{style}</style>
</head>
<body>
<main id="app"></main>
<script>"use strict";
{script}</script>
</body>
</html>
"""


@cache
def page() -> str:
    """Return the page."""
    style = _STYLE_BLANKS.sub(r"\1\2", "".join(map(_text, _STYLES)))
    script = "".join(_modules(f"{_APP}/plan_app.js", {}))
    return _PAGE.replace("{style}", style).replace("{script}", script)


@cache
def page_uri() -> str:
    """Return the URI of the page, which changes with its content."""
    return f"ui://planner/plan-{hashlib.sha256(page().encode()).hexdigest()[:12]}.html"


def _modules(path: str, numbers: dict[str, int]) -> list[str]:
    """Return a module as a constant, behind those it imports that are not numbered yet.

    Raises:
        ValueError: An import or export in another form than ours, or a circle of imports.
    """
    found: list[str] = []
    text = _COMMENT.sub("", _text(path))
    for _names, source in _IMPORT.findall(text):
        imported = _resolved(path, source)
        if imported not in numbers:
            found += _modules(imported, numbers)
    body = _IMPORT.sub(lambda each: f"const {{{each[1]}}} = m{numbers[_resolved(path, each[2])]};\n", text)
    names, body = _EXPORT.findall(body), _EXPORT.sub("", body)
    if re.search(r"^(?:import|export)\b", body, re.MULTILINE) or "</" in body:
        raise ValueError(f"{path} cannot be put into a page")
    if "`" in re.sub(_LITERAL, "", body):
        raise ValueError(f"{path} cannot be put into a page: a template lies in a template of a template")
    body = _squeezed(body)
    numbers[path] = len(numbers)
    return [*found, f"const m{numbers[path]} = (() => {{\n{body}return {{ {', '.join(names)} }};\n}})();\n"]


def _squeezed(body: str) -> str:
    """Return a module without the blanks that mean nothing."""
    return _BLANKS.sub(lambda found: found[1] or found[2] or found[3] or "", body)


def _resolved(path: str, source: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), source))


def _text(path: str) -> str:
    return _ROOT.joinpath(*path.split("/")).read_text("utf-8")


async def _read(_reading: ReadContext, _variables: Mapping[str, str]) -> Contents:
    return Contents(MIME_TYPE, page(), ttl_ms=LONG_MS, is_public=True, meta=META)


APP: Final = Template(
    "ui://planner/plan-{digest}.html",
    ResourceMetadata(
        "plan-app",
        "Plan in a chat",
        "A job with map, timeline and stops, drawn by the host.",
        MIME_TYPE,
        ("user",),
        0.2,
    ),
    _read,
)
