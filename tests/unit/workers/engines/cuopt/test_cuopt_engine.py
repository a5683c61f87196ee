"""The engine `cuopt` against a server that checks every request. No GPU takes part."""

import os
import signal
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planner_mcp.errors import EngineError, UnsupportedFeatureError
from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.problem import Candidate, Feature, Problem
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.engines.fake_cuopt import fake_cuopt
from tests.shared.scenarios.random_problems import random_problem
from tests.shared.scenarios.seeded_fleet import fleet
from workers.engines.cuopt import cuopt_engine, cuopt_model
from workers.engines.cuopt.cuopt_engine import CuoptEngine
from workers.engines.engine_interface import SearchLimits, StopReason
from workers.engines.selection import engine_registry
from workers.engines.selection.time_allocation import REMOTE_TICKETS, plan_rounds

SUPPORTED = sorted(CuoptEngine.features - {Feature.SHIPMENTS, Feature.MAX_DISTANCE})


def one_each(request: dict[str, Any]) -> dict[str, list[int]]:
    """Give each vehicle one task that it may serve."""
    fleet_data, tasks = request["fleet_data"], request["task_data"]
    matched = {each["order_id"]: each["vehicle_ids"] for each in tasks.get("order_vehicle_match") or ()}
    free = list(range(len(fleet_data["vehicle_ids"])))
    routes: dict[str, list[int]] = {}
    for task in range(len(tasks["task_ids"])):
        vehicle = next((each for each in free if each in matched.get(task, free)), None)
        if vehicle is not None:
            free.remove(vehicle)
            routes[str(vehicle)] = [task]
    return routes


def solved(problem: Problem, url: str, seconds: float = 2.0, start: Candidate | None = None) -> Candidate | None:
    """Solve with the engine alone."""
    limits = SearchLimits(time.monotonic() + seconds)
    return CuoptEngine(url).solve(problem, limits, lambda _: None, lambda: False, start).best


@pytest.mark.parametrize("feature", SUPPORTED)
def test_requests_of_every_feature_are_what_cuopt_takes(feature: Feature) -> None:
    """Our choice: the fake refuses what the published models do not allow."""
    problem = random_problem(3, tickets=12, features=frozenset({feature, Feature.TIME_WINDOWS}))
    assert not CuoptEngine().missing(problem)
    with fake_cuopt(one_each) as fake:
        solved(problem, fake.url)
    assert not fake.refused
    assert fake.requests


def test_shipments_are_pairs_whose_load_goes_up_and_down() -> None:
    """SPEC S1: pickup and delivery."""
    problem = random_problem(2, tickets=12, features=frozenset({Feature.SHIPMENTS}))
    paired = replace(
        problem,
        tickets=tuple(
            ticket if index in problem.partner_of else replace(ticket, demand=(0,) * len(ticket.demand))
            for index, ticket in enumerate(problem.tickets)
        ),
    )
    request = cuopt_model.request_of(paired, 1, None)
    for pickup, delivery in request["task_data"]["pickup_and_delivery_pairs"]:
        for demand in request["task_data"]["demand"]:
            assert demand[pickup] == -demand[delivery] >= 0
    assert not CuoptEngine().missing(paired)


def test_cost_leads_and_not_the_number_of_vehicles() -> None:
    """Our choice: by itself cuOpt takes as few vehicles as it can, at any cost."""
    request = cuopt_model.request_of(fleet(20), 1, None)
    assert request["solver_config"]["objectives"] == {"cost": 1, "vehicle_fixed_cost": 1, "travel_time": 0}
    assert request["fleet_data"]["vehicle_fixed_costs"] == [0.0] * len(fleet(20).agents)
    assert "min_vehicles" not in request["fleet_data"]


def test_what_legs_cost_is_what_agents_pay() -> None:
    """SPEC S1: fixed, distance and time costs."""
    problem = random_problem(1, tickets=8, features=frozenset({Feature.TIME_COST, Feature.HETEROGENEOUS}))
    request = cuopt_model.request_of(problem, 1, None)
    for number, agent in enumerate(problem.agents):
        kind = request["fleet_data"]["vehicle_types"][number]
        metres, seconds = (table[agent.profile] for table in (problem.distances, problem.durations))
        paid = agent.distance_cost * metres + agent.time_cost * seconds
        assert np.array_equal(request["cost_matrix_data"]["data"][str(kind)], paid)


def test_each_slice_starts_from_the_best_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S3: more time never returns a worse plan; a slice takes 10 s at most."""
    assert cuopt_engine.SLICE_S == 10
    monkeypatch.setattr(cuopt_engine, "SLICE_S", 0.7)
    problem = fleet(20)
    better = {str(agent): [agent] for agent in range(len(problem.agents))}
    plans = iter([{"0": [0]}, better, {"0": [1]}])
    with fake_cuopt(lambda _: next(plans, None)) as fake:
        best = solved(problem, fake.url, 5.0)
    assert best is not None
    assert best.tickets == set(range(len(problem.agents)))
    starts = [request.get("initial_solution") for request in fake.requests]
    assert starts[0] is None
    assert starts[1] == [{"0": {"task_id": ["Depot", "0", "Depot"], "type": ["Depot", "Delivery", "Depot"]}}]
    assert starts[2] == starts[3]
    assert len(starts[2][0]) == len(problem.agents)
    assert all(request["solver_config"]["time_limit"] <= 0.7 for request in fake.requests)


def test_a_plan_that_breaks_the_day_is_no_plan() -> None:
    """SPEC S2: what a server says is verified like everything else."""
    with fake_cuopt(lambda _: {"0": list(range(20))}) as fake:
        assert solved(fleet(20), fake.url, 1.5) is None


def test_a_stop_deletes_the_request() -> None:
    """Our choice: cancel by deletion."""
    began = time.monotonic()
    with fake_cuopt(one_each, takes_s=60) as fake:
        outcome = CuoptEngine(fake.url).solve(
            fleet(20), SearchLimits(began + 30), lambda _: None, lambda: time.monotonic() > began + 0.5
        )
        assert fake.deletion.wait(5)
    assert outcome.reason is StopReason.STOPPED
    assert fake.deleted == ["/cuopt/request/0?running=true&queued=true"]


def test_a_process_that_is_killed_deletes_its_request_too() -> None:
    """Our choice: a search of `auto` is killed when the solve ends; its GPU must not go on."""
    with fake_cuopt(one_each, takes_s=60) as fake:
        if (child := os.fork()) == 0:
            solved(fleet(20), fake.url, 30)
            os._exit(0)
        ends = time.monotonic() + 10
        while not fake.requests and time.monotonic() < ends:
            time.sleep(0.01)
        time.sleep(0.2)  # until the client has read the number of its request
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert fake.deletion.wait(5)
    assert fake.deleted == ["/cuopt/request/0?running=true&queued=true"]


@pytest.mark.parametrize("plan", [{"x": [0]}, {"0": [999]}])
def test_an_answer_that_is_no_plan_is_an_error_of_the_engine(plan: dict[str, list[int]]) -> None:
    """SPEC T8: what a server says wrong becomes an error of ours."""
    with fake_cuopt(lambda _: plan) as fake, pytest.raises(EngineError):
        solved(fleet(20), fake.url)


def test_a_server_that_is_away_or_refuses_is_an_error_of_the_engine() -> None:
    """SPEC T8: the message names no address."""
    with pytest.raises(EngineError, match="did not answer"):
        solved(fleet(20), "http://127.0.0.1:9")
    assert not CuoptEngine("http://127.0.0.1:9").is_available()
    assert not CuoptEngine().is_available()
    with pytest.raises(UnsupportedFeatureError, match="PLANNER_CUOPT_URL"):
        engine_registry.choose(fleet(20), "cuopt")


@pytest.mark.slow
def test_auto_asks_it_from_800_tickets_on_and_keeps_the_better_plan() -> None:
    """SPEC S2: part of `auto` where its server answers; a poor or silent one costs nothing."""
    small, large = fleet(20), fleet(REMOTE_TICKETS)
    with fake_cuopt(one_each) as fake:
        names = {engine.name for engine in engine_registry.choose(small, "auto", fake.url).capable}  # type: ignore[attr-defined]
        assert "cuopt" not in names
        auto: Any = engine_registry.choose(large, "auto", fake.url)
        assert {engines[-1].name for _, engines in plan_rounds(large, 2, auto.capable)} == {"cuopt"}
        outcome = auto.solve(large, SearchLimits(time.monotonic() + 6, cores=2), lambda _: None, lambda: False)
    assert outcome.best is not None
    assert len(outcome.best.tickets) == REMOTE_TICKETS
    assert not verify(large, build_plan(large, outcome.best))
    assert price(large, outcome.best) > 0
    assert fake.requests
    assert not fake.refused


def test_a_day_that_no_request_can_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC T7: named alone it says why; in `auto` it takes no part."""
    monkeypatch.setattr(cuopt_model, "MAX_CELLS", 100)
    with fake_cuopt(one_each) as fake:
        with pytest.raises(EngineError, match="too large"):
            solved(fleet(20), fake.url)
        capable = engine_registry.choose(fleet(REMOTE_TICKETS), "auto", fake.url).capable  # type: ignore[attr-defined]
        assert "cuopt" not in {engine.name for engine in capable}
