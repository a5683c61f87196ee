"""Reads a URI by a template, exactly or not at all.

Owns the grammar of every variable. A URI that is merely similar (another case, an encoded letter, a query twice) names
nothing.
"""

import re
from functools import cache
from typing import Final
from urllib.parse import parse_qsl

from planner_mcp.server.resources.resource_definition import Template

MAX_LENGTH: Final = 2048
_NAME: Final = "(?:0|[1-9][0-9]?)-[a-z2-7]{26}"
VARIABLES: Final = {
    "scenario_id": f"scn-{_NAME}",
    "job_id": f"job-{_NAME}",
    "plan_id": f"plan-{_NAME}",
    "route": "[1-9][0-9]{0,3}",
    "status": "[A-Za-z]{1,20}",
    "page": "[1-9][0-9]{0,5}",
    "size": "[1-9][0-9]?",
    "file": "[a-z]{1,20}[.][a-z]{1,10}",
    "skill": "[a-z0-9-]{1,64}",
    "skill_file": "[A-Za-z0-9_-]{1,64}[.][a-z]{1,10}",
    "date": "[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "digest": "[0-9a-f]{12}",
    "after": "[0-9]{1,19}(?:-[0-9]{1,19})?",
}
"""The form of each variable."""
_VARIABLE: Final = re.compile(r"\{(\w+)\}")


def variables_of(template: Template, uri: str) -> dict[str, str] | None:
    """Return the variables of a URI, None if the template does not name it."""
    if len(uri) > MAX_LENGTH:
        return None
    path, mark, query = uri.partition("?")
    if (match := _pattern(template.uri_template.partition("?")[0]).fullmatch(path)) is None:
        return None
    asked = _query(query) if mark else {}
    if asked is None or not asked.keys() <= template.optional | _shown(template):
        return None
    if not _shown(template) - template.optional <= asked.keys():
        return None
    return {**match.groupdict(), **asked}


def _query(text: str) -> dict[str, str] | None:
    """Return a query whose variables come once each and in their form; None for any other."""
    try:
        pairs = parse_qsl(text, keep_blank_values=True, strict_parsing=True, max_num_fields=8)
    except ValueError:
        return None
    found = dict(pairs)
    if not pairs or len(found) != len(pairs) or "%" in text or "+" in text:
        return None
    is_known = all(name in VARIABLES and re.fullmatch(VARIABLES[name], value) for name, value in pairs)
    return found if is_known else None


def _shown(template: Template) -> frozenset[str]:
    return frozenset(_VARIABLE.findall(template.uri_template.partition("?")[2]))


@cache
def _pattern(path: str) -> re.Pattern[str]:
    parts = _VARIABLE.split(path)
    literal, named = parts[::2], parts[1::2]
    filled = [f"(?P<{name}>{VARIABLES[name]})" for name in named]
    return re.compile("".join(re.escape(text) + hole for text, hole in zip(literal, [*filled, ""], strict=True)))
