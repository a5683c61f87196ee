"""Changes a day by a JSON merge patch (SPEC T5).

Owns the dialect: RFC 7396 word for word, save for three lists of a scenario. `agents`, `tickets` and `locations` may be
patched by id: an object in place of the list, keyed by id, whose values are merged into the entries of those ids; null
removes an entry, an unknown id adds one at the end. A list still replaces the whole list, as the RFC has it.

In such an entry of an agent, null for an end of its route does not remove the field but is its value, as in a scenario:
the route is open there. Who names the depot closes it again. Null for a name that no field has stays too, here and at
the top, so that it is refused instead of passed over. Whether the result makes sense is judged like any scenario, by
`scenario.py`; its faults are led back to the patch here.

Source: RFC 7396, section 2.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import BaseModel

from planner_mcp.errors import Fault
from planner_mcp.vrp.day.faults import pointer
from planner_mcp.vrp.day.model import NULLABLE, Agent, Location, Scenario, Ticket

BY_ID: Final[dict[str, type[BaseModel]]] = {"agents": Agent, "tickets": Ticket, "locations": Location}
"""Lists of a scenario that may be patched by id, and what they are of."""
Json = dict[str, Any]


def merge(target: Any, patch: Any) -> Any:
    """Return the target under a merge patch (RFC 7396); neither is changed."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(target) if isinstance(target, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge(merged.get(name), value)
    return merged


def revise(body: Mapping[str, Any], patch: Mapping[str, Any]) -> Json:
    """Return a scenario's body under a patch of this dialect; neither is changed.

    Call `misuses` first: a patch with faults there gives a body that says nothing.
    """
    by_id = {name: value for name, value in patch.items() if name in BY_ID and isinstance(value, Mapping)}
    rest = {name: value for name, value in patch.items() if name not in by_id}
    merged: Json = merge(body, rest) | _nulls(Scenario, body, rest)
    for name, entries in by_id.items():
        merged[name] = _merge_list(BY_ID[name], merged.get(name) or [], entries)
    return merged


def _nulls(model: type[BaseModel], target: Mapping[str, Any], change: Mapping[str, Any]) -> Json:
    """Return the nulls of a change that say something, or that no field stands for; the others remove what there is."""
    nulls = [name for name, value in change.items() if value is None]
    strange = {name for name in nulls if name not in model.model_fields and name not in target}
    says = strange | set(NULLABLE) if model is Agent else strange
    return {name: None for name in nulls if name in says}


def _merge_list(model: type[BaseModel], target: list[Json], entries: Mapping[str, Any]) -> list[Json]:
    known = {entry["id"]: entry for entry in target}
    for id_, change in entries.items():
        if change is None:
            known.pop(id_, None)
        else:
            old = known.get(id_, {})
            known[id_] = {"id": id_, **merge(old, change), **_nulls(model, old, change)}
    return list(known.values())


def misuses(body: Mapping[str, Any], patch: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what is wrong with a patch itself: entries that are no objects, strangers removed, ids changed."""
    for name in BY_ID:
        entries = patch.get(name)
        if not isinstance(entries, Mapping):
            continue
        known = {entry["id"] for entry in body.get(name) or ()}
        for id_, change in entries.items():
            place = pointer(("patch", name, id_))
            if change is None and id_ not in known:
                yield Fault(place, f"There is no {name[:-1]} with this id to remove.", "the id of one that exists")
            elif change is not None and not isinstance(change, Mapping):
                yield Fault(place, "The change is neither an object nor null.", "an object to merge, or null to remove")
            elif change is not None and change.get("id", id_) != id_:
                yield Fault(f"{place}/id", "The id differs from the key.", "the key, or no id", "Add under a new key.")


def led_back(fault: Fault, body: Mapping[str, Any]) -> Fault:
    """Return a fault of a revised body with list positions told as ids: `/tickets/3/demand` → `/tickets/t-4/demand`.

    A caller who wrote a patch knows ids and cannot count positions.
    """
    path = fault.path.split("/")
    if len(path) < 3 or path[1] not in BY_ID or not path[2].isdigit():
        return fault
    entries = body.get(path[1])
    position = int(path[2])
    if not isinstance(entries, list) or position >= len(entries):
        return fault
    entry = entries[position]
    if not isinstance(entry, Mapping) or not isinstance(entry.get("id"), str):
        return fault
    path[2] = pointer((entry["id"],))[1:]
    return replace(fault, path="/".join(path))


@dataclass(frozen=True, slots=True)
class Revision:
    """What a patch changed in one of the lists, by id."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Revision]:
    """Return what differs between two bodies, list by list; lists that are equal are left out."""
    found = {name: _compared(before.get(name) or [], after.get(name) or []) for name in BY_ID}
    return {name: each for name, each in found.items() if each.added or each.removed or each.changed}


def _compared(before: list[Json], after: list[Json]) -> Revision:
    old, new = ({entry["id"]: entry for entry in entries} for entries in (before, after))
    return Revision(
        added=tuple(id_ for id_ in new if id_ not in old),
        removed=tuple(id_ for id_ in old if id_ not in new),
        changed=tuple(id_ for id_ in new if id_ in old and new[id_] != old[id_]),
    )
