"""A published instance as a day of work (SPEC T5).

Owns what its words are here: a node is a location, a visit the ticket of its number, a vehicle an agent, and the cost
of a plan the objective of the set in the units of the file. Lengths are rounded by the usual rule of the dialect; a set
that rounds otherwise is served by revising `travel`.
"""

from planner_mcp.formats.instances.published_instance import InstanceVisit, PublishedInstance, Vehicle
from planner_mcp.routing.scenario.scenario_body import ScenarioBody
from planner_mcp.text import Json

_PRICE_UNIT = 1000
"""Prices of a scenario are those of a thousand units of length."""


def as_scenario(
    instance: PublishedInstance, *, name: str, planning_date: str, max_agents: int
) -> tuple[ScenarioBody, list[str]]:
    """Return the scenario, and what had to be assumed for it."""
    vehicles = instance.vehicles if instance.is_fleet_given else instance.vehicles[:max_agents]
    day: ScenarioBody = {
        "name": name,
        "planning_date": planning_date,
        "agents": [_agent(instance, number, vehicle) for number, vehicle in enumerate(vehicles, 1)],
        "tickets": [_ticket(instance, visit) for visit in instance.visits],
        "travel": _travel(instance),
    }
    if instance.places:
        day["locations"] = [
            {"id": node, "x": x, "y": y} for node, (x, y) in zip(instance.nodes, instance.places, strict=True)
        ]
    if instance.backhaul:
        day["options"] = {"backhaul": True}
    if instance.choices:
        names = [instance.nodes[visit.node] for visit in instance.visits]
        day["groups"] = [{"kind": "one_of", "tickets": [names[visit] for visit in each]} for each in instance.choices]
    return day, _notices(instance, len(vehicles))


def _notices(instance: PublishedInstance, agents: int) -> list[str]:
    notices = []
    if not instance.is_fleet_given:
        notices.append(f"The file limits no fleet: there are {agents} agents.")
    if instance.choices:
        notices.append("Of each cluster one ticket is served: the file is read as a generalized problem.")
    if instance.backhaul:
        notices.append("Routes of pickups alone are allowed here, though sets with backhauls forbid them.")
    return notices


def _agent(instance: PublishedInstance, number: int, vehicle: Vehicle) -> Json:
    depot = instance.nodes[vehicle.depot]
    capacity = sum(visit.demand for visit in instance.visits) if vehicle.capacity is None else vehicle.capacity
    agent: Json = {"id": f"v{number}", "capacity": capacity, "start_location": depot, "end_location": depot}
    if instance.shift is not None:
        agent |= {"shift_start": instance.shift[0], "shift_end": instance.shift[1]}
    if vehicle.max_duration is not None:
        agent["max_duration_s"] = vehicle.max_duration
    if _is_priced(instance):
        agent |= {"fixed_cost": vehicle.fixed_cost, "cost_per_km": vehicle.distance_cost * _PRICE_UNIT}
    if vehicle.reloads:
        stops = list(dict.fromkeys(instance.nodes[node] for node in vehicle.reloads))
        agent |= {"reload_locations": stops, "max_reloads": len(instance.visits)}
    return agent


def _is_priced(instance: PublishedInstance) -> bool:
    """Return whether cost is more than the length of the routes."""
    kinds = {(vehicle.fixed_cost, vehicle.distance_cost) for vehicle in instance.vehicles}
    return kinds != {(0, 1)} or any(visit.prize is not None for visit in instance.visits)


def _ticket(instance: PublishedInstance, visit: InstanceVisit) -> Json:
    node = instance.nodes[visit.node]
    ticket: Json = {"id": node, "location": node, "demand": visit.demand}
    optional: Json = {
        "service_time_s": visit.service,
        "release_time": visit.release,
        "kind": "pickup" if visit.is_pickup else "",
    }
    ticket |= {name: value for name, value in optional.items() if value}
    if visit.window is not None:
        ticket["time_windows"] = [list(visit.window)]
    if visit.prize is not None:
        ticket["penalty"] = visit.prize
    if visit.pickup is not None:
        ticket["pickup"] = instance.nodes[instance.visits[visit.pickup].node]
    if visit.vehicles is not None:
        ticket["agents"] = [f"v{number + 1}" for number in sorted(visit.vehicles)]
    return ticket


def _travel(instance: PublishedInstance) -> Json:
    rounding: Json = {"rounding": instance.rounding, "decimals": instance.decimals}
    if instance.table is None:
        return {"plane_speed": 1, **rounding}
    rows = [list(row) for row in instance.table]
    is_whole = all(length.is_integer() for row in rows for length in row)
    decimals = {} if is_whole else {"decimals": 3}
    return {"distances": rows, "durations": rows, "matrix_locations": list(instance.nodes), **rounding, **decimals}
