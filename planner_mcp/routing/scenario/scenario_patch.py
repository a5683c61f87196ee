"""Changes a scenario by a JSON merge patch (SPEC T5).

Owns the patch dialect: RFC 7396, with an extension for three lists. `agents`, `tickets` and `locations` may be patched
by id: an object in place of the list, keyed by id, whose values are merged into the entries with those ids. Null
removes an entry; an unknown id adds one at the end. A list still replaces the whole list, as the RFC defines.

In an agent's entry, null for an end of the route does not remove the field but is its value, as in a scenario: the
route is open at that end. Naming the depot closes it again. Null for an unknown field is kept as well, here and at the
top level, so that it is refused instead of ignored. The result is validated like any scenario, by
`scenario/scenario_parsing.py`; this module maps its faults back to the patch.

A patch may also change the meaning of fields it does not name. Rows of matrices in the order of the locations get
explicit ids when locations are added or removed by id. An agent removed by id is no longer preferred or forbidden by
any ticket, and a ticket removed by id is no longer locked, in a group or incompatible. A pickup may not lose its
delivery unless the patch redefines it. The frozen prefix counts from midnight of the planning date, so it is dropped
when the date changes.

Source: RFC 7396, section 2.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from planner_mcp.errors import Fault
from planner_mcp.routing.scenario.checks.reference_checks import did_you_mean, near_names
from planner_mcp.routing.scenario.scenario_body import ScenarioBody, ScenarioPatch
from planner_mcp.routing.scenario.scenario_model import BY_ID, NULLABLE, Agent, Scenario
from planner_mcp.routing.scenario.schema_faults import pointer
from planner_mcp.routing.scenario.travel_matrices import NAMES
from planner_mcp.text import Json, plain


def merge(target: Any, patch: Any) -> Any:
    """Return the target under a merge patch (RFC 7396); neither argument is changed."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(target) if isinstance(target, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge(merged.get(name), value)
    return merged


def revise(body: ScenarioBody, patch: ScenarioPatch) -> ScenarioBody:
    """Return a scenario's body under a patch of this dialect; neither argument is changed.

    Call `patch_faults` first: the result for a patch with faults is undefined.
    """
    by_id = {name: value for name, value in patch.items() if name in BY_ID and isinstance(value, Mapping)}
    rest = {name: value for name, value in patch.items() if name not in by_id}
    own = {name: value for name, value in body.items() if name != "held"} if drops_held(body, patch) else body
    own = without_tickets_named(_without_mentions_of(own, removed_agents(patch)), removed_tickets(patch))
    merged: ScenarioBody = merge(own, rest) | _nulls(Scenario, own, rest)
    for name, entries in by_id.items():
        merged[name] = _merge_list(BY_ID[name], merged.get(name) or [], entries)
    return _with_named_rows(body, merged) if "locations" in by_id else merged


def drops_held(body: ScenarioBody, patch: ScenarioPatch) -> bool:
    """Return whether a patch changes the planning date without setting `held`, so that the frozen prefix is dropped."""
    has_held = body.get("held") is not None and "held" not in patch
    return has_held and patch.get("planning_date", body.get("planning_date")) != body.get("planning_date")


def removed_agents(patch: ScenarioPatch) -> list[str]:
    """Return the agents a patch removes by id. Omission from a replaced list does not count: it may be a mistake."""
    return _removed(patch, "agents")


def removed_tickets(patch: ScenarioPatch) -> list[str]:
    """Return the tickets a patch removes by id; of a replaced list as for agents."""
    return _removed(patch, "tickets")


def _removed(patch: ScenarioPatch, section: str) -> list[str]:
    entries = patch.get(section)
    return [id_ for id_, change in entries.items() if change is None] if isinstance(entries, Mapping) else []


def named_beside(body: ScenarioBody, tickets: Collection[str]) -> list[str]:
    """Return those of some tickets that locks, groups or lists of incompatible tickets name."""
    lists = [agent.get("locked_tickets") or () for agent in body["agents"]]
    lists += [group["tickets"] for group in body.get("groups") or ()]
    found = {name for names in (*lists, *(body.get("incompatible") or ())) for name in names}
    return [name for name in tickets if name in found]


def without_tickets_named(body: ScenarioBody, gone: Collection[str | None]) -> ScenarioBody:
    """Return a scenario whose locks, groups and lists of incompatible tickets do not name some tickets."""
    if not gone:
        return dict(body)

    def remaining(names: Iterable[str]) -> list[str]:
        return [name for name in names if name not in gone]

    agents = [
        {**agent, "locked_tickets": remaining(agent["locked_tickets"])} if agent.get("locked_tickets") else agent
        for agent in body["agents"]
    ]
    changed: ScenarioBody = {"agents": agents}
    if body.get("incompatible"):
        changed["incompatible"] = [names for each in body["incompatible"] if len(names := remaining(each)) > 1]
    if body.get("groups"):
        groups = ({**group, "tickets": remaining(group["tickets"])} for group in body["groups"])
        changed["groups"] = [group for group in groups if group["tickets"]]
    return {**body, **changed}


def tickets_naming(body: ScenarioBody, agents: Collection[str]) -> list[str]:
    """Return the tickets that lose a name where some agents are removed."""
    gone = frozenset(agents)
    return [entry["id"] for entry in body["tickets"] if _mentions_of(entry, gone)]


def _mentions_of(ticket: Json, agents: frozenset[str]) -> list[str]:
    """Return those of some agents that a ticket prefers, forbids, or allows beside others that stay."""
    allowed = ticket.get("agents") or ()
    named = [ticket.get("preferred_agent"), *(ticket.get("not_agents") or ())]
    if not agents.issuperset(allowed):
        named += allowed
    return [name for name in named if name in agents]


def _without_mentions_of(body: ScenarioBody, agents: Collection[str]) -> ScenarioBody:
    """Return a scenario in which no ticket names any of some agents, save those that nobody else may serve."""
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
    if remaining := [name for name in ticket.get("agents") or () if name not in agents]:
        freed["agents"] = remaining
    return freed


def _with_named_rows(body: ScenarioBody, merged: ScenarioBody) -> ScenarioBody:
    """Return the merged scenario with explicit matrix row ids, where its locations changed and its matrices did not."""
    travel, before = merged.get("travel"), body.get("travel")
    if not (isinstance(travel, Mapping) and isinstance(before, Mapping)):
        return merged
    tables = [name for name in NAMES if travel.get(name) is not None]
    is_by_order = before.get("matrix_locations") is None and travel.get("matrix_locations") is None
    is_old = all(travel[name] is before.get(name) for name in tables)  # who brings new ones has their order in mind
    order, now = ([place["id"] for place in each.get("locations") or ()] for each in (body, merged))
    if not (tables and is_by_order and is_old and order) or order == now:
        return merged
    return {**merged, "travel": {**travel, "matrix_locations": order}}


def _nulls(model: type[BaseModel], target: Mapping[str, Any], change: Mapping[str, Any]) -> Json:
    """Return the nulls of a change to keep: values of nullable fields, and unknown fields, which are refused later."""
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


def patch_faults(body: ScenarioBody, patch: ScenarioPatch) -> Iterator[Fault]:
    """Yield the faults of a patch itself: entries that are no objects, unknown ids, changed ids, orphaned pickups."""
    for name in BY_ID:
        entries = patch.get(name)
        if not isinstance(entries, Mapping):
            continue
        known = {entry["id"] for entry in body.get(name) or ()}
        near = near_names((id_ for id_, change in entries.items() if change is None and id_ not in known), known)
        for id_, change in entries.items():
            place = pointer(("patch", name, id_))
            if change is None and id_ not in known:
                problem = f"There is no {name[:-1]} with this id to remove."
                yield Fault(place, problem, "the id of one that exists", did_you_mean(near.get(id_)))
            elif change is not None and not isinstance(change, Mapping):
                yield Fault(place, "The change is neither an object nor null.", "an object to merge, or null to remove")
            elif change is not None and change.get("id", id_) != id_:
                yield Fault(f"{place}/id", "The id differs from the key.", "the key, or no id", "Add under a new key.")
    yield from _pickups_left_alone(body, patch.get("tickets"))


def _pickups_left_alone(body: ScenarioBody, entries: Any) -> Iterator[Fault]:
    """Yield deliveries whose pickup the patch would leave behind undefined, so that it became a delivery."""
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
            yield Fault(place, problem, "a change of both tickets", "Remove the pickup too, or give it kind pickup.")


def _drops_pickup(change: Any) -> bool:
    """Return whether a change of a delivery separates it from its pickup."""
    return change is None or (isinstance(change, Mapping) and "pickup" in change)


def _redefines_pickup(change: Any) -> bool:
    """Return whether a change of a pickup removes it, sets its kind, or makes it a delivery."""
    return not isinstance(change, Mapping) or any(change.get(name) is not None for name in ("kind", "pickup"))


def with_id_path(fault: Fault, body: ScenarioBody) -> Fault:
    """Return a fault of a merged body with list positions replaced by ids: `/tickets/3/demand` → `/tickets/t-4/demand`.

    The caller of a patch knows ids, not positions.
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
    """The changes of one list, by id."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]


def changes(before: ScenarioBody, after: ScenarioBody) -> dict[str, ListChange]:
    """Return the differences between two bodies, by list; equal lists are left out."""
    found = {name: _compared(before.get(name) or [], after.get(name) or []) for name in BY_ID}
    return {name: each for name, each in found.items() if each.added or each.removed or each.changed}


def _compared(before: list[Json], after: list[Json]) -> ListChange:
    old, new = ({entry["id"]: entry for entry in entries} for entries in (before, after))
    return ListChange(
        added=tuple(id_ for id_ in new if id_ not in old),
        removed=tuple(id_ for id_ in old if id_ not in new),
        changed=tuple(id_ for id_ in new if id_ in old and new[id_] != old[id_]),
    )
