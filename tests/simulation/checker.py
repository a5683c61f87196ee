"""Judges one history: by the models, step by step, by what actors were told and by what the server holds at last."""

from collections import Counter, defaultdict
from typing import Any, Final

from planner_mcp.jobs.job_lifecycle import TERMINAL
from planner_mcp.jobs.store.record_codec import fields_of
from planner_mcp.jobs.store.store_keys import OWNED
from planner_mcp.settings import Settings
from tests.shared.store.store_audit import Audit, check_job
from tests.simulation.delivery_model import DeliveryModel
from tests.simulation.history import Answer, History
from tests.simulation.job_model import JobModel, ModelJob
from tests.simulation.scripted_server import ScriptedServer

STATES: Final = frozenset(state.value for state in TERMINAL)
EMPTY: Final = ("bl:", "out:", "queued", "solving", "turn", "wh:leases", "wh:q:", "wh:busy", "wh:load")
"""Beginnings of keys of which none is left when all has ended; `ready` and `outbox` are empty streams."""


def unfinished(server: ScriptedServer) -> int:
    """Return how much has not ended: jobs that wait or solve, seats, deliveries."""
    count, *lengths = server.ask_all(
        [("EXISTS", "{p0}:queued", "{p0}:solving", "{p0}:wh:leases"), ("XLEN", "{p0}:outbox"), ("XLEN", "{p0}:ready")]
        + [("ZCARD", f"{{p0}}:wh:{lane}") for lane in ("proven", "unproven")]
    )
    return int(count + sum(lengths))


def faults_of(history: History, server: ScriptedServer, settings: Settings) -> list[str]:
    """Return everything that is wrong with a history."""
    lease_ms = int(settings.lease_s * 1000)
    jobs, deliveries = JobModel(lease_ms, settings.max_queued_per_principal), DeliveryModel(lease_ms)
    for step in history.steps:
        if wrong := jobs.apply(step) or deliveries.apply(step):
            return [f"step {step.number}, {step.name} of {step.actor}: {wrong}"]
    found = _ends(history, server, jobs)
    found += [text for answer in history.answers if (text := _broken(answer, jobs))]
    return found + _remains(server)


def _broken(answer: Answer, model: JobModel) -> str:
    """Return how the end contradicts what an actor was told."""
    if (job := model.jobs.get(answer.job_id)) is None:
        return f"{answer.actor} was told of {answer.job_id}, which is lost"
    if answer.state in STATES and job.state != answer.state:
        return f"{answer.actor} saw {answer.job_id} {answer.state}; it ended {job.state}"
    if answer.kind == "cancelled" and answer.state not in STATES and job.state != "cancelled":
        return f"{answer.actor} cancelled {answer.job_id}; it ended {job.state}"
    if answer.kind == "complete" and job.state not in ("completed", "cancelled"):
        return f"{answer.actor} completed {answer.job_id}; it ended {job.state}"
    return ""


def _ends(history: History, server: ScriptedServer, model: JobModel) -> list[str]:
    """Compare each job, its events and its deliveries at the end with the model."""
    names, arrived, audit = list(model.jobs), _arrived(history), Audit()
    hashes = server.ask_all([("HGETALL", f"{{p0}}:job:{name}") for name in names])
    streams = server.ask_all([("XRANGE", f"{{p0}}:ev:{name}", "-", "+") for name in names])
    for name, flat, entries in zip(names, hashes, streams, strict=True):
        kept, events = fields_of(flat), [(event_id, fields_of(fields)) for event_id, fields in entries]
        check_job(audit, name, kept, events, Counter(arrived[name].keys()))
        audit.faults += _other_end(name, kept, model.jobs[name])
        audit.faults += _other_news(name, events, arrived[name], model.jobs[name])
        seen = history.events_seen.get(name, [])
        if seen != [event_id for event_id, _fields in events][: len(seen)]:
            audit.faults.append(f"{name} had other events for a reader")
    return audit.faults


def _other_end(name: str, kept: dict[str, str], expected: ModelJob) -> list[str]:
    is_so = bool(kept) and (kept["state"], int(kept["crashes"])) == (expected.state, expected.crashes)
    return [] if is_so else [f"{name} is {kept.get('state')}, not {expected.state}"]


def _other_news(name: str, events: list[Any], arrived: dict[str, str], expected: ModelJob) -> list[str]:
    """Return what hooks were told that is not the end of the job."""
    wanted = {f"{name}:{events[-1][0]}"} if events and expected.has_hook else set()
    found = [f"{name} had a delivery that is not of its end: {delivery}" for delivery in arrived.keys() - wanted]
    status = f'"status":"{expected.state.upper()}"'
    return found + [f"{name} was delivered as {body}" for body in arrived.values() if status not in body]


def _arrived(history: History) -> dict[str, dict[str, str]]:
    """Return what arrived about each job: delivery id and body; two bodies of one delivery are told apart."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for delivery, bodies in history.received.items():
        for body in set(bodies):
            name = delivery if body == bodies[0] else f"{delivery} with another body"
            found[delivery.partition(":")[0]][name] = body
    return found


def _remains(server: ScriptedServer) -> list[str]:
    """Return what is left where nothing may be, and keys without an end."""
    keys = sorted(server.ask("KEYS", "*"))
    lives = server.ask_all([("TTL", key) for key in keys])
    found = [f"{key} has no TTL" for key, ttl in zip(keys, lives, strict=True) if ttl == -1 and key[5:] not in OWNED]
    found += [f"{key} is left" for key in keys if key[5:].startswith(EMPTY)]
    streams = server.ask_all([("XLEN", "{p0}:ready"), ("XLEN", "{p0}:outbox")])
    return found + [f"{count} entries left in a stream" for count in streams if count]
