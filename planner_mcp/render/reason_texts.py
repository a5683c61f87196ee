"""The reasons of tickets that are not served, and the changes that would serve them, in the language of their reader.

Owns how these sentences, which a plan and `verified_fixes.py` have in English, are taken apart for the look-up.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from planner_mcp.routing.feasibility.unassigned_reasons import PROVED
from planner_mcp.routing.infeasibility_reasons import NO_POSITION_FIX, REASON_TEXTS, InfeasibilityReason
from planner_mcp.routing.plan import Plan, Unassigned
from planner_mcp.translation import Language, current_language, translated

_BETWEEN: Final = "; "


def reason_text(entry: Unassigned, language: Language) -> str:
    """Return why a ticket is not served."""
    if language == "en":
        return entry.detail
    if entry.code == InfeasibilityReason.NO_POSITION:
        reason = REASON_TEXTS[InfeasibilityReason.NO_POSITION]
        return translated(reason, language) + translated(NO_POSITION_FIX, language)
    if not entry.detail.startswith(PROVED):
        return translated(entry.detail, language)
    return translated(PROVED, language) + translated(REASON_TEXTS[InfeasibilityReason(entry.code)], language)


def plan_in_words(plan: Plan, language: Language | None = None) -> Plan:
    """Return a plan whose reasons and assumptions are in a language, that of the running task where none is given."""
    language = language or current_language()
    if language == "en":
        return plan
    return replace(
        plan,
        unassigned=tuple(replace(each, detail=reason_text(each, language)) for each in plan.unassigned),
        assumptions=tuple(translated(each, language) for each in plan.assumptions),
    )


def changes_text(changes: Iterable[str]) -> str:
    """Return the changes of a fix as one text in the language of the running task."""
    return _BETWEEN.join(translated(part) for change in changes for part in change.split(_BETWEEN))
