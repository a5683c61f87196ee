"""The MCP App: one HTML page that draws a job inside a chat (`io.modelcontextprotocol/ui`, revision 2026-01-26).

Owns how the page is put together: once, in memory, from the view modules of the dashboard and those in `plan_app`. They
follow each other in one function, so what a module names at its top no other may name; no build step and nothing from
elsewhere. The page holds nothing of any principal; what it shows comes from the tool `read_view`.

Hosts keep a page by its URI, so the URI names the page's content. A replica of another version answers the URI with
its own page, which understands the same tool.
"""

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
from planner_mcp.text import digest_of

MIME_TYPE: Final = "text/html;profile=mcp-app"
DOMAINS: Final = ("connectDomains", "resourceDomains", "frameDomains", "baseUriDomains")
META: Final[Mapping[str, Any]] = {"ui": {"csp": {name: [] for name in DOMAINS}, "prefersBorder": True}}
"""The page asks for no origin at all; some hosts want that said."""
_ROOT: Final = files("planner_mcp.server")
_APP: Final = "resources/plan_app"
_STYLES: Final = ("http/dashboard/view/view.css", f"{_APP}/plan_app.css")
_IMPORT: Final = re.compile(r'^import \{[^}]*\} from "([^"]+)";\n', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=(?:const|class|function|async function|function\*) \w)", re.MULTILINE)
_NAMED: Final = re.compile(r"^(?:const|let|class|(?:async )?function\*?) (\w+)", re.MULTILINE)
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
<script>"use strict";(()=>{
{script}})();</script>
</body>
</html>
"""


@cache
def page() -> str:
    """Return the page."""
    style = "".join(map(_text, _STYLES))
    modules = dict[str, str]()
    _add_module(f"{_APP}/plan_app.js", modules)
    script = "".join(modules.values())
    return _PAGE.replace("{style}", style).replace("{script}", script)


@cache
def page_uri() -> str:
    """Return the URI of the page, which changes with its content."""
    return f"ui://planner/plan-{digest_of(page())[:12]}.html"


def _add_module(path: str, modules: dict[str, str]) -> None:
    """Add a module to those by path, behind those it imports that are not among them yet.

    Raises:
        ValueError: An import or export in another form than ours, or a name that another module has.
    """
    text = _text(path)
    for source in _IMPORT.findall(text):
        imported = posixpath.normpath(posixpath.join(posixpath.dirname(path), source))
        if imported not in modules:
            _add_module(imported, modules)
    body = _EXPORT.sub("", _IMPORT.sub("", text))
    if re.search(r"^(?:import|export)\b", body, re.MULTILINE) or "</" in body:
        raise ValueError(f"{path} cannot be put into a page")
    if twice := set(_NAMED.findall(body)) & set(_NAMED.findall("".join(modules.values()))):
        raise ValueError(f"{path} cannot be put into a page: another module has {', '.join(sorted(twice))}")
    modules[path] = body


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
