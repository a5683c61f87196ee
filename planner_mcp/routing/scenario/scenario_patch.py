"""Changes a day by a JSON merge patch (SPEC T5).

Owns the dialect: RFC 7396 word for word, save for three lists of a scenario. `agents`, `tickets` and `locations` may be
patched by id: an object in place of the list, keyed by id, whose values are merged into the entries of those ids; null
removes an entry, an unknown id adds one at the end. A list still replaces the whole list, as the RFC has it.

In such an entry of an agent, null for an end of its route does not remove the field but is its value, as in a scenario:
the route is open there. Naming the depot closes it again. Null for an unknown name stays too, here and at the top, so
that it is refused instead of ignored. Whether the result makes sense is judged like any scenario, by
`scenario.py`; its faults are led back to the patch here.

A change may also alter the meaning of what it does not name; that is seen to here as well. Rows of matrices that follow
the order of the locations get their names when locations are added or removed by id. An agent removed by id is no
longer preferred or forbidden by any ticket. A pickup is not left without its delivery unless the patch says what
becomes of it. What is held of an earlier plan counts from the midnight of its date, so it is dropped when the date
changes.

Source: RFC 7396, section 2.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import BaseModel

from planner_mcp.errors import Fault
from planner_mcp.routing.scenario.scenario_model import NULLABLE, Agent, Location, Scenario, Ticket
from planner_mcp.routing.scenario.schema_faults import pointer
from planner_mcp.text import plain

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
    own = {name: value for name, value in body.items() if name != "held"} if drops_held(body, patch) else body
    merged: Json = merge(_without_mentions_of(own, removed_agents(patch)), rest) | _nulls(Scenario, own, rest)
    for name, entries in by_id.items():
        merged[name] = _merge_list(BY_ID[name], merged.get(name) or [], entries)
    return _with_named_rows(body, merged) if "locations" in by_id else merged


def drops_held(body: Mapping[str, Any], patch: Mapping[str, Any]) -> bool:
    """Return whether a patch leads a day to another date and says nothing of what was held on the one before."""
    has_held = body.get("held") is not None and "held" not in patch
    return has_held and patch.get("planning_date", body.get("planning_date")) != body.get("planning_date")


def removed_agents(patch: Mapping[str, Any]) -> list[str]:
    """Return the agents a patch removes by id. Who leaves them out of a whole list may have mistyped them."""
    entries = patch.get("agents")
    return [id_ for id_, change in entries.items() if change is None] if isinstance(entries, Mapping) else []


def tickets_naming(body: Mapping[str, Any], agents: Collection[str]) -> list[str]:
    """Return the tickets of a day that prefer or forbid one of some agents."""
    gone = frozenset(agents)
    return [entry["id"] for entry in body["tickets"] if _mentions_of(entry, gone)]


def _mentions_of(ticket: Json, agents: frozenset[str]) -> list[str]:
    """Return the agents among some that a ticket prefers or forbids."""
    return [name for name in (ticket.get("preferred_agent"), *(ticket.get("not_agents") or ())) if name in agents]


def _without_mentions_of(body: Mapping[str, Any], agents: Collection[str]) -> Json:
    """Return a day in which no ticket prefers or forbids some agents."""
    if not (gone := frozenset(agents)):
        return dict(body)
    return {**body, "tickets": [_ticket_without_mentions(entry, gone) for entry in body["tickets"]]}


def _ticket_without_mentions(ticket: Json, agents: frozenset[str]) -> Json:
    if not _mentions_of(ticket, agents):
        return ticket
    gone = ("preferred_agent", "switch_cost") if ticket.get("preferred_agent") in agents else ()
    freed = {name: value for name, value in ticket.items() if name not in gone}
    if ticket.get("not_agents"):
        freed["not_agents"] = [name for name in ticket["not_agents"] if name not in agents]
    return freed


def _with_named_rows(body: Mapping[str, Any], merged: Json) -> Json:
    """Return a revised day whose old matrices keep their rows, by name, where its locations are others now."""
    travel, before = merged.get("travel"), body.get("travel")
    if not (isinstance(travel, Mapping) and isinstance(before, Mapping)):
        return merged
    tables = [name for name in ("distances", "durations") if travel.get(name) is not None]
    is_by_order = before.get("matrix_locations") is None and travel.get("matrix_locations") is None
    is_old = all(travel[name] is before.get(name) for name in tables)  # who brings new ones has their order in mind
    order, now = ([place["id"] for place in day.get("locations") or ()] for day in (body, merged))
    if not (tables and is_by_order and is_old and order) or order == now:
        return merged
    return {**merged, "travel": {**travel, "matrix_locations": order}}


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


def patch_faults(body: Mapping[str, Any], patch: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what is wrong with a patch itself: no objects, strangers removed, ids changed, pickups left alone."""
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
    yield from _pickups_left_alone(body, patch.get("tickets"))


def _pickups_left_alone(body: Mapping[str, Any], entries: Any) -> Iterator[Fault]:
    """Yield deliveries that leave a pickup behind of which the patch says nothing: it would be one more delivery."""
    if not isinstance(entries, Mapping):
        return
    tickets = {entry["id"]: entry for entry in body["tickets"]}
    named = (change.get("pickup") for change in entries.values() if isinstance(change, Mapping))
    taken = {name for name in named if isinstance(name, str)}
    for id_, change in entries.items():
        pickup = tickets.get(id_, {}).get("pickup")
        if pickup is None or pickup in taken or not _drops_pickup(change):
            continue
        if not _redefines_pickup(entries.get(pickup, {})) and tickets[pickup].get("kind") != "pickup":
            place = pointer(("patch", "tickets", id_)) + ("" if change is None else "/pickup")
            problem = f"Its pickup {plain(pickup, 40)} would stay as a delivery from the depot."
            yield Fault(place, problem, "a word on both halves", "Remove the pickup too, or give it kind pickup.")


def _drops_pickup(change: Any) -> bool:
    """Return whether a change of a delivery parts it from its pickup."""
    return change is None or (isinstance(change, Mapping) and "pickup" in change)


def _redefines_pickup(change: Any) -> bool:
    """Return whether a change of a pickup says what it is from now on: nothing, of some kind, or a delivery itself."""
    return not isinstance(change, Mapping) or any(change.get(name) is not None for name in ("kind", "pickup"))


def with_id_path(fault: Fault, body: Mapping[str, Any]) -> Fault:
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
class ListChange:
    """What a patch changed in one of the lists, by id."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, ListChange]:
    """Return what differs between two bodies, list by list; lists that are equal are left out."""
    found = {name: _compared(before.get(name) or [], after.get(name) or []) for name in BY_ID}
    return {name: each for name, each in found.items() if each.added or each.removed or each.changed}


def _compared(before: list[Json], after: list[Json]) -> ListChange:
    old, new = ({entry["id"]: entry for entry in entries} for entries in (before, after))
    return ListChange(
        added=tuple(id_ for id_ in new if id_ not in old),
        removed=tuple(id_ for id_ in old if id_ not in new),
        changed=tuple(id_ for id_ in new if id_ in old and new[id_] != old[id_]),
    )
