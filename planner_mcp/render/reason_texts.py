"""The reasons of tickets that are not served, and the changes that would serve them, in the language of their reader.

Owns how these sentences, which a plan and `verified_fixes.py` have in English, are taken apart for the look-up.
"""

from collections.abc import Iterable
from typing import Final

from planner_mcp.routing.feasibility.unassigned_reasons import PROVED
from planner_mcp.routing.infeasibility_reasons import REASON_TEXTS, InfeasibilityReason
from planner_mcp.routing.plan import Unassigned
from planner_mcp.translation import Language, current_language, translated

_BETWEEN: Final = "; "


def reason_text(entry: Unassigned, language: Language | None = None) -> str:
    """Return why a ticket is not served, in the language of the running task where none is given."""
    language = language or current_language()
    if language == "en" or not entry.detail.startswith(PROVED):
        return translated(entry.detail, language)
    return translated(PROVED, language) + translated(REASON_TEXTS[InfeasibilityReason(entry.code)], language)


def changes_text(changes: Iterable[str]) -> str:
    """Return the changes of a fix as one text in the language of the running task."""
    return _BETWEEN.join(translated(part) for change in changes for part in change.split(_BETWEEN))
