"""REST on a deployment with API keys: the life of a job by HTTP alone, and what else HTTP asks of it."""

import json
import re
from typing import Any

import anyio
import httpx2 as httpx
import pytest

from planner_mcp.jobs.principals import READ, SENSITIVE, WRITE
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.server.http.rest.rest_operations import OPERATIONS
from tests.integration.server.auth.conftest import Key, Served
from tests.shared.scenarios.stored_plans import finish

pytestmark = pytest.mark.anyio
DAY = {
    "name": "Day",
    "planning_date": "2026-11-23",
    "agents": [{"id": "van", "capacity": 5, "start_location": "d", "end_location": "d"}],
    "tickets": [{"id": "t1", "location": "p", "demand": 1}],
    "locations": [{"id": "d", "lat": 52.5213, "lon": 13.4131}, {"id": "p", "lat": 52.5311, "lon": 13.4231}],
}
PLAN_FORMS = {
    "application/json": b'{"plan_id":',
    "text/csv": b"agent_id",
    "application/geo+json": b"FeatureCollection",
    "application/gpx+xml": b"<gpx",
    "image/svg+xml": b"<svg",
    "image/png": b"\x89PNG",
    "text/html": b"<!doctype html",
}
JSON_BODY = {"content-type": "application/json"}


@pytest.fixture
async def http(served: Served) -> Any:
    """A client of the app."""
    async with served() as http:
        yield http


@pytest.fixture
async def ann(key: Key) -> dict[str, str]:
    """The headers of a principal that may do everything a dispatcher does."""
    return {"authorization": await key("ann", READ, WRITE, SENSITIVE)}


async def stored(http: httpx.AsyncClient, headers: dict[str, str]) -> str:
    """Return the id of a stored day."""
    return str((await http.post("/v1/scenarios", json=DAY, headers=headers)).json()["scenario_id"])


async def queued(http: httpx.AsyncClient, headers: dict[str, str]) -> str:
    """Return the id of a queued job."""
    body = {"scenario_id": await stored(http, headers)}
    return str((await http.post("/v1/jobs", json=body, headers=headers)).json()["job_id"])


async def test_a_day_is_planned_and_changed_by_http_alone(
    http: httpx.AsyncClient, ann: dict[str, str], store: RedisStore
) -> None:
    """SPEC O5: create, solve, look, read the plan, revise, solve again, cancel; each answer says where the next is."""
    created = await http.post("/v1/scenarios", json=DAY, headers=ann)
    assert (created.status_code, created.json()["tickets"]) == (201, 1)
    day = created.headers["location"]
    assert (await http.get(day, headers=ann)).json()["scenario"]["name"] == "Day"
    queued = await http.post("/v1/jobs", json={"scenario_id": created.json()["scenario_id"]}, headers=ann)
    assert (queued.status_code, queued.json()["status"]) == (202, "QUEUED")
    job = queued.headers["location"]
    assert (await http.get(f"{job}/plan", headers=ann)).json()["name"] == "PlanNotReady"
    await finish(store, ["t1"])
    seen = await http.get(job, headers=ann)
    assert (seen.status_code, seen.json()["status"]) == (200, "COMPLETED")
    table = (await http.get(f"{job}/plan/table", params={"view": "visits", "fields": "ticket_id"}, headers=ann)).json()
    assert table["rows"] == [["t1"]]
    patch = {"tickets": {"t2": {"location": "p", "demand": 1}}}
    revised = await http.patch(day, json=patch, headers={**ann, "content-type": "application/merge-patch+json"})
    assert (revised.status_code, revised.json()["revision"]) == (201, 2)
    again = await http.post(f"{job}/resolve", json={"scenario_id": revised.json()["scenario_id"]}, headers=ann)
    assert again.status_code == 202
    ended = await http.post(f"{again.headers['location']}/cancel", headers=ann)
    assert (ended.status_code, ended.json()["cancelled"]) == (200, True)


async def test_a_plan_comes_in_the_form_that_is_asked_for(
    http: httpx.AsyncClient, ann: dict[str, str], store: RedisStore
) -> None:
    """SPEC O5, RFC 9110, 12.5.1: every export that exists, by Accept alone."""
    path = f"/v1/jobs/{await queued(http, ann)}/plan"
    await finish(store, ["t1"])
    for media_type, beginning in PLAN_FORMS.items():
        plan = await http.get(path, headers={**ann, "accept": f"x/y, {media_type};q=0.5, */*;q=0.1"})
        assert plan.status_code == 200
        assert plan.headers["content-type"].partition(";")[0] == media_type
        assert beginning in plan.content[:2000]
        assert plan.headers["vary"] == "Accept"
    refused = await http.get(path, headers={**ann, "accept": "application/xml, application/json;q=0"})
    assert (refused.status_code, refused.json()["name"]) == (406, "NotAcceptable")
    assert "text/csv" in refused.json()["errors"][0]["accepted"]


async def test_refusals_name_the_parameters_that_there_are_here(http: httpx.AsyncClient, ann: dict[str, str]) -> None:
    """SPEC T7, T11: what is accepted and what is meant, by the names of the request, not by those of the tool."""
    found: dict[str, tuple[str, str, str]] = {}
    for given in ("sizee=1", "size=1", "page=2", "pag=2", "limit=0"):
        (fault,) = (await http.get(f"/v1/jobs?{given}", headers=ann)).json()["errors"]
        found[given] = fault["problem"], fault["accepted"], fault["hint"]
    known = "status, limit, cursor"
    assert found == {
        "sizee=1": ("The parameter sizee is not known.", known, "Did you mean limit?"),
        "size=1": ("This has no place here.", known, ""),
        "page=2": ("This has no place here.", known, ""),
        "pag=2": ("The parameter pag is not known.", known, ""),
        "limit=0": ("The parameter limit is too small.", "integer 1…50", ""),
    }
    assert (await http.get("/v1/jobs?limit=0", headers=ann)).json()["detail"] == "The parameter limit is too small."
    (unknown,) = (await http.post("/v1/jobs", json={"scenario_id": "scn-0-x"}, headers=ann)).json()["errors"]
    assert unknown["hint"] == "GET /v1/scenarios lists yours."
    for path, name in (("/v1/jobs/job-0-x/plan", "/job_id"), ("/v1/scenarios/scn-0-x", "/scenario_id")):
        (unknown,) = (await http.get(path, headers=ann)).json()["errors"]
        assert (unknown["path"], unknown["hint"][-12:]) == (name, "lists yours.")
    early = await http.get(f"/v1/jobs/{await queued(http, ann)}/plan/unassigned", headers=ann)
    assert (early.status_code, [fault["path"] for fault in early.json()["errors"]]) == (409, ["/job_id"])
    body = {"scenario_id": "scn-0-x", "idempotency_kex": "x"}
    (fault,) = (await http.post("/v1/jobs", json=body, headers=ann)).json()["errors"]
    assert "idempotency_key" not in fault["accepted"] and fault["hint"] == "Did you mean Idempotency-Key?"


async def test_a_query_says_nothing_that_is_not_heard(http: httpx.AsyncClient, ann: dict[str, str]) -> None:
    """SPEC T7, T11: also beside a body, of documents and of events, where it used to be passed over."""
    job = f"/v1/jobs/{await queued(http, ann)}"
    found: dict[str, tuple[int, str, str]] = {}
    for method, path in (
        ("POST", f"{job}/cancel?keep_best=false"),
        ("POST", f"{job}/cancel?keep=false"),
        ("GET", f"{job}/plan?format=csv"),
        ("GET", "/v1/limits?of=me"),
        ("GET", f"{job}/events?review=true"),
        ("GET", f"{job}/events?reviews=yes"),
        ("GET", "/v1/events?since=0"),
        ("PUT", "/v1/files/a.csv?name=b.csv"),
        ("PUT", "/v1/matrices?name=b"),
    ):
        answer = await http.request(method, path, headers=ann)
        (fault,) = answer.json()["errors"]
        found[path.removeprefix(job)] = answer.status_code, fault["path"], fault["hint"] or fault["accepted"]
    assert found == {
        "/cancel?keep_best=false": (400, "/keep_best", "Write it in the body."),
        "/cancel?keep=false": (400, "/keep", ""),
        "/plan?format=csv": (400, "/format", ""),
        "/v1/limits?of=me": (400, "/of", ""),
        "/events?review=true": (400, "/review", "last_event_id, reviews"),
        "/events?reviews=yes": (400, "/reviews", "boolean"),
        "/v1/events?since=0": (400, "/since", "last_event_id"),
        "/v1/files/a.csv?name=b.csv": (400, "/name", ""),
        "/v1/matrices?name=b": (400, "/name", ""),
    }
    assert (await http.get(job, headers=ann)).json()["status"] == "QUEUED"


async def test_the_name_of_an_upload_is_refused_for_its_characters_too(
    http: httpx.AsyncClient, ann: dict[str, str]
) -> None:
    """SPEC T7: a name of four characters is not called too long."""
    (fault,) = (await http.put("/v1/files/a%00b.csv", content="id", headers=ann)).json()["errors"]
    assert fault["problem"] == "The name is too long, or has characters that are not printed."


async def test_a_body_that_cannot_be_read_is_refused_with_its_place(
    http: httpx.AsyncClient, ann: dict[str, str]
) -> None:
    """SPEC T7: whoever wrote it by hand finds the comma, and exports of old programs are in another encoding."""
    headers = {**ann, "content-type": "application/json"}
    for content, path, said in (
        (b'{"name": "x",\n "agents" 1}', "", "The body is not JSON: line 2, column 11."),
        (b'{"name": "M\xfcller"}', "", "The body is not in UTF-8."),
        (b'{"agents": [{"capacity": NaN}]}', "/agents/0/capacity", "JSON has neither NaN nor Infinity."),
        (b'{"name": "x", "name": "y"}', "/name", '"name" stands twice in one object.'),
    ):
        answer = await http.post("/v1/scenarios", content=content, headers=headers)
        (fault,) = answer.json()["errors"]
        assert (answer.status_code, fault["path"], fault["problem"]) == (400, path, said)


async def test_the_same_key_gives_the_same_job_and_another_body_is_refused(
    http: httpx.AsyncClient, ann: dict[str, str]
) -> None:
    """SPEC T2: `Idempotency-Key` is the tool's idempotency_key."""
    headers, body = {**ann, "idempotency-key": '"k-1"'}, {"scenario_id": await stored(http, ann), "fresh": True}
    first, second = [(await http.post("/v1/jobs", json=body, headers=headers)).json()["job_id"] for _ in range(2)]
    assert first == second
    conflict = await http.post("/v1/jobs", json={**body, "seed": 1}, headers={**ann, "idempotency-key": "k-1"})
    assert (conflict.status_code, conflict.json()["code"]) == (422, 4009)
    assert conflict.json()["errors"][0]["path"] == "/Idempotency-Key"
    inside = await http.post("/v1/jobs", json={**body, "idempotency_key": "k-1"}, headers=ann)
    assert (inside.status_code, inside.json()["errors"][0]["path"]) == (400, "/idempotency_key")


async def test_what_creates_is_made_once_with_a_key(
    http: httpx.AsyncClient, ann: dict[str, str], key: Key, store: RedisStore
) -> None:
    """SPEC O5: the first answer again, with status and Location; another request under the key is refused; a refusal
    keeps nothing, and keys of others are theirs.
    """
    keyed = {**ann, "idempotency-key": "monday"}
    first, again = [await http.post("/v1/scenarios", json=DAY, headers=keyed) for _ in range(2)]
    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["location"] == first.headers["location"]
    assert ("idempotency-replayed" in first.headers, again.headers["idempotency-replayed"]) == (False, "true")
    bob = {"authorization": await key("bob", READ, WRITE), "idempotency-key": "monday"}
    assert (await http.post("/v1/scenarios", json=DAY, headers=bob)).json() != first.json()
    scenario_id, path = first.json()["scenario_id"], f"/v1/scenarios/{first.json()['scenario_id']}"
    conflict = await http.patch(path, json={"name": "x"}, headers=keyed)
    assert (conflict.status_code, conflict.json()["code"]) == (422, 4009)
    assert conflict.json()["errors"][0]["path"] == "/Idempotency-Key"
    table = {"format": "csv", "content": "id,lat,lon,demand\nt1,52.5,13.4,1\n", "agents": [{"id": "v", "capacity": 9}]}
    rows = json.dumps({**table, "planning_date": "2026-11-23"})
    for method, where, body in (
        ("PATCH", path, json.dumps({"name": "Later"})),
        ("POST", "/v1/scenarios/import", rows),
        ("POST", "/v1/plan", json.dumps({"scenario_id": scenario_id, "solve_time": "PT1S", "wait_s": 0})),
    ):
        once, twice = [
            await http.request(method, where, content=body, headers={**ann, **JSON_BODY, "idempotency-key": where})
            for _ in range(2)
        ]
        assert (once.status_code < 300, once.json()) == (True, twice.json()), once.text
        assert twice.headers["idempotency-replayed"] == "true"
    wrong = {**ann, "idempotency-key": "mended"}
    assert (await http.post("/v1/scenarios", json={**DAY, "agents": 3}, headers=wrong)).status_code == 400
    assert (await http.post("/v1/scenarios", json=DAY, headers=wrong)).status_code == 201
    for bad in ("", "x" * 300):
        refused = await http.post("/v1/scenarios", json=DAY, headers={**ann, "idempotency-key": bad})
        assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/Idempotency-Key")
    kept = [
        (await store.redis.get(name), await store.redis.ttl(name)) async for name in store.redis.scan_iter("*repeat*")
    ]
    assert len(kept) == 6 and all(b"scn-" not in text.encode() and life > 0 for text, life in kept)


async def test_a_large_request_under_the_key_of_another_is_refused(
    http: httpx.AsyncClient, ann: dict[str, str]
) -> None:
    """SPEC O5, ADR 36: a body that is read apart is told from another one too."""
    keyed = {**ann, "idempotency-key": "monday"}
    tickets = [{"id": f"t{n}", "location": "p", "demand": 0} for n in range(500)]
    day, other = {**DAY, "tickets": tickets}, {**DAY, "tickets": tickets[:-1]}
    first, again = [await http.post("/v1/scenarios", json=day, headers=keyed) for _ in range(2)]
    assert (again.status_code, again.json(), again.headers["idempotency-replayed"]) == (201, first.json(), "true")
    refused = await http.post("/v1/scenarios", json=other, headers=keyed)
    assert (refused.status_code, refused.json()["code"]) == (422, 4009)


async def test_two_equal_requests_at_once_make_one_thing(http: httpx.AsyncClient, ann: dict[str, str]) -> None:
    """SPEC O5: whoever comes while the first is under way gets its answer, or 409 and when to come back."""
    found: list[httpx.Response] = []

    async def post() -> None:
        found.append(await http.post("/v1/scenarios", json=DAY, headers={**ann, "idempotency-key": "at-once"}))

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(post)
    assert {answer.status_code for answer in found} <= {201, 409}
    assert len({answer.json()["scenario_id"] for answer in found if answer.status_code == 201}) == 1
    assert all((each.json()["code"], "retry-after" in each.headers) == (4033, True) for each in found if each.is_error)
    listed = (await http.get("/v1/scenarios", headers=ann)).text
    assert {*re.findall(r"scn-0-\w+", listed)} == {*re.findall(r"scn-0-\w+", str([each.json() for each in found]))}


async def test_what_did_not_change_is_not_sent_again(http: httpx.AsyncClient, ann: dict[str, str]) -> None:
    """RFC 9110, 13.1: ETag with If-None-Match on reads, and with If-Match on a revision."""
    scenario_id = await stored(http, ann)
    for path in (f"/v1/scenarios/{scenario_id}", "/v1/scenarios", f"/v1/jobs/{await queued(http, ann)}"):
        first = await http.get(path, headers=ann)
        assert first.headers["cache-control"] == "private, no-cache"
        again = await http.get(path, headers={**ann, "if-none-match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert (await http.get(path, headers={**ann, "if-none-match": '"other"'})).status_code == 200
    day = f"/v1/scenarios/{scenario_id}"
    tag, patch = (await http.get(day, headers=ann)).headers["etag"], {"tickets": {"t1": {"demand": 2}}}
    assert (await http.patch(day, json=patch, headers={**ann, "if-match": tag})).status_code == 201
    await http.post("/v1/jobs", json={"scenario_id": scenario_id}, headers=ann)  # its newest job is another now
    stale = await http.patch(day, json=patch, headers={**ann, "if-match": tag})
    assert (stale.status_code, stale.json()["name"]) == (412, "PreconditionFailed")


async def test_pages_go_on_where_the_last_one_ended(http: httpx.AsyncClient, ann: dict[str, str]) -> None:
    """SPEC R2: nothing comes twice and nothing is left out while new jobs arrive."""
    made = [await queued(http, ann) for _ in range(5)]
    seen, query = list[str](), {"limit": "2"}
    for _ in range(4):
        page = (await http.get("/v1/jobs", params=query, headers=ann)).json()
        seen += [item["job_id"] for item in page["items"]]
        await queued(http, ann)
        if "next_cursor" not in page:
            break
        query = {"cursor": page["next_cursor"]}
    assert seen == made[::-1]
    beside = await http.get("/v1/jobs", params={**query, "limit": "2", "status": "QUEUED"}, headers=ann)
    assert (beside.status_code, {fault["path"] for fault in beside.json()["errors"]}) == (400, {"/limit", "/status"})
    other = await http.get("/v1/scenarios", params=query, headers=ann)
    assert (other.status_code, other.json()["errors"][0]["path"]) == (400, "/cursor"), "it is of the jobs"


async def test_a_request_waits_as_long_as_it_prefers(
    http: httpx.AsyncClient, ann: dict[str, str], store: RedisStore
) -> None:
    """RFC 7240, 4.3: the answer comes with the end of the job, and says which preference was applied."""
    path, found = f"/v1/jobs/{await queued(http, ann)}", list[httpx.Response]()

    async def ask() -> None:
        found.append(await http.get(path, headers={**ann, "prefer": "respond-async, wait=100"}))

    with anyio.fail_after(20):
        async with anyio.create_task_group() as asking:
            asking.start_soon(ask)
            await finish(store, ["t1"])
    assert (found[0].json()["status"], found[0].headers["preference-applied"]) == ("COMPLETED", "wait=45")


async def test_one_call_stores_and_queues_a_day(http: httpx.AsyncClient, ann: dict[str, str]) -> None:
    """SPEC T10, O5: `POST /v1/plan` answers 202 with the job where it does not end in time."""
    answer = await http.post("/v1/plan", json={"scenario": DAY, "wait_s": 0}, headers=ann)
    assert (answer.status_code, answer.json()["status"]) == (202, "QUEUED")
    assert (await http.get(answer.headers["location"], headers=ann)).status_code == 200
    large = {**DAY, "tickets": [{"id": f"t{n}", "location": "p", "demand": 0} for n in range(500)]}
    wrong = await http.post("/v1/plan", json={"scenario": {**large, "agents": []}}, headers=ann)
    assert (wrong.status_code, wrong.json()["errors"][0]["path"]) == (400, "/scenario/agents")
    both = await http.post("/v1/plan", json={"scenario": {**large, "agents": []}, "solve_time": "5s"}, headers=ann)
    assert [fault["path"] for fault in both.json()["errors"]] == ["/solve_time", "/scenario/agents"]


async def test_a_proof_that_is_under_way_is_answered_like_every_job(
    http: httpx.AsyncClient, ann: dict[str, str], store: RedisStore
) -> None:
    """SPEC O5: 202 with its state; what an operation answers says whether its job is under way."""
    job_id = await queued(http, ann)
    await finish(store, ["t1"])
    answer = await http.post(f"/v1/jobs/{job_id}/prove", json={}, headers=ann)
    assert (answer.status_code, answer.json()["status"]) == (202, "QUEUED")
    for operation in OPERATIONS:
        assert not operation.pending or "status" in operation.tool.output_schema["required"], operation.path


async def test_a_large_body_is_read_apart(http: httpx.AsyncClient, ann: dict[str, str]) -> None:
    """ADR 36: a day, a patch and a re-solve above 16 KiB, and what the path says wins over nothing."""
    tickets = {f"t{n}": {"location": "p", "demand": 0} for n in range(500)}
    day = {**DAY, "tickets": [{"id": name, **ticket} for name, ticket in tickets.items()]}
    created = await http.post("/v1/scenarios", json=day, headers=ann)
    assert created.json()["tickets"] == 500
    patch = {"tickets": {f"u{n}": {"location": "p", "demand": 0} for n in range(500)}}
    revised = await http.patch(created.headers["location"], json=patch, headers=ann)
    assert (revised.status_code, revised.json()["revision"]) == (201, 2)
    job_id = await queued(http, ann)
    twice = await http.post(f"/v1/jobs/{job_id}/resolve", json={"patch": patch, "warm_from": job_id}, headers=ann)
    assert (twice.status_code, twice.json()["errors"][0]["path"]) == (400, "/warm_from")
    listed = await http.post("/v1/scenarios", json=[DAY] * 200, headers=ann)
    assert (listed.status_code, listed.json()["errors"][0]["problem"]) == (400, "The arguments are not an object.")


METHODS = {"GET", "HEAD", "POST", "OPTIONS"}
NOT_UTF8, DEEP = b'{"name": "\xff"}', b'{"a":' * 60 + b"1" + b"}" * 60
REFUSED: list[tuple[str, str, dict[str, Any], int, str, set[str]]] = [
    ("POST", "/v1/scenarios", {"content": b"{", "headers": JSON_BODY}, 400, "InvalidParameter", {""}),
    ("POST", "/v1/scenarios", {"content": NOT_UTF8, "headers": JSON_BODY}, 400, "InvalidParameter", {""}),
    ("POST", "/v1/scenarios", {"content": b'{"name": "\\ud800"}', "headers": JSON_BODY}, 400, "InvalidMessage", set()),
    ("POST", "/v1/scenarios", {"content": DEEP, "headers": JSON_BODY}, 400, "InvalidMessage", set()),
    ("POST", "/v1/scenarios", {"content": b"[]", "headers": JSON_BODY}, 400, "InvalidParameter", {""}),
    ("POST", "/v1/scenarios", {"content": b"<day/>"}, 415, "UnsupportedMediaType", {"/Content-Type"}),
    (
        "POST",
        "/v1/scenarios",
        {"json": {"x": 1}, "headers": {"content-encoding": "gzip"}},
        415,
        "UnsupportedEncoding",
        set(),
    ),
    (
        "POST",
        "/v1/scenarios",
        {"content": b"{" + b" " * (9 << 20) + b"}", "headers": JSON_BODY},
        413,
        "TooLarge",
        set(),
    ),
    (
        "POST",
        "/v1/jobs",
        {"json": {"scenario_id": 1, "seed": "x", "foo": 1}},
        400,
        "InvalidInput",
        {"/scenario_id", "/seed", "/foo"},
    ),
    ("POST", "/v1/jobs", {"json": {"scenario_id": "scn-0-nothing"}}, 404, "NotFound", {"/scenario_id"}),
    ("GET", "/v1/jobs/job-0-nothing", {}, 404, "NotFound", {"/job_id"}),
    ("GET", "/v1/jobs/a%2Fb", {}, 404, "NotFound", {"/path"}),
    ("GET", "/v1/jobs/x/plan", {}, 404, "NotFound", {"/job_id"}),
    ("GET", "/v1/jobs/x/plan/unassigned", {}, 404, "NotFound", {"/job_id"}),
    (
        "GET",
        "/v1/jobs",
        {"params": {"limit": "many", "status": "DONE"}},
        400,
        "InvalidParameter",
        {"/limit", "/status"},
    ),
    ("GET", "/v1/jobs", {"params": {"size": "3"}}, 400, "UnknownParameter", {"/size"}),
    ("GET", "/v1/jobs", {"params": {"cursor": "x"}}, 400, "InvalidParameter", {"/cursor"}),
    ("GET", "/v1/jobs", {"params": [("limit", "3"), ("limit", "4")]}, 400, "InvalidParameter", {"/limit"}),
    ("GET", "/v1/jobs", {"headers": {"accept": "text/csv"}}, 406, "NotAcceptable", {"/Accept"}),
    ("GET", "/v1/nothing", {}, 404, "NotFound", {"/path"}),
    ("PUT", "/v1/jobs", {}, 405, "MethodNotAllowed", {"/method"}),
    ("PATCH", "/v1/scenarios/scn-0-x", {}, 400, "MissingParameter", {""}),
    ("PATCH", "{day}", {"json": {"patch": {"name": "x"}}}, 400, "UnknownParameter", {"/patch"}),
    ("GET", "/v1/limits", {"headers": {"origin": "https://evil.example"}}, 403, "ForbiddenOrigin", set()),
    ("GET", "/v1/limits", {"headers": {"host": "evil.example"}}, 421, "WrongHost", set()),
]


@pytest.mark.parametrize(("method", "path", "request_", "status", "name", "places"), REFUSED)
async def test_a_wrong_request_is_a_problem_with_its_code_and_every_place(
    http: httpx.AsyncClient,
    ann: dict[str, str],
    method: str,
    path: str,
    request_: dict[str, Any],
    status: int,
    name: str,
    places: set[str],
) -> None:
    """SPEC T7, RFC 9457: whichever layer refuses, the form is the same."""
    given = {**request_, "headers": {**ann, **request_.get("headers", {})}}
    if "{day}" in path:
        path = path.replace("{day}", f"/v1/scenarios/{await stored(http, ann)}")
    answer = await http.request(method, path, **given)
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert (answer.status_code, body["status"], body["name"]) == (status, status, name)
    assert {fault["path"] for fault in body["errors"]} == places
    assert body["type"] == f"/docs#error-{body['code']}"
    assert body["traceId"]


async def test_allowed_methods_of_a_path_are_named(http: httpx.AsyncClient, ann: dict[str, str]) -> None:
    """RFC 9110, 9.3: HEAD, OPTIONS, and Allow with a 405; a slash at the end changes nothing."""
    for path in ("/v1/jobs", "/v1/jobs/"):
        options = await http.options(path, headers=ann)
        assert (options.status_code, set(options.headers["allow"].split(", "))) == (
            204,
            {"GET", "HEAD", "POST", "OPTIONS"},
        )
        refused = await http.delete(path, headers=ann)
        assert (refused.status_code, refused.headers["allow"]) == (405, options.headers["allow"])
        head = await http.head(path, headers=ann)
        assert (head.status_code, bool(head.headers["etag"])) == (200, True)


async def test_a_stranger_and_a_reader_learn_what_they_lack(
    http: httpx.AsyncClient, ann: dict[str, str], key: Key
) -> None:
    """SPEC A1, A2: 401 and 403 with a challenge, and what is another's is not found."""
    job_id = await queued(http, ann)
    stranger = await http.get("/v1/jobs")
    assert (stranger.status_code, stranger.json()["name"]) == (401, "Unauthenticated")
    assert "www-authenticate" in stranger.headers
    reader = await http.post("/v1/scenarios", json=DAY, headers={"authorization": await key("ann", READ)})
    assert (reader.status_code, reader.json()["name"]) == (403, "InsufficientScope")
    assert "planner:write" in reader.headers["www-authenticate"]
    bob = {"authorization": await key("bob")}
    for path in (f"/v1/jobs/{job_id}", f"/v1/jobs/{job_id}/plan", f"/v1/jobs/{job_id}/events"):
        assert (await http.get(path, headers=bob)).status_code == 404
    assert (await http.post(f"/v1/jobs/{job_id}/cancel", headers=bob)).status_code == 404


async def test_events_and_uploads_are_served_under_the_prefix_too(
    http: httpx.AsyncClient, ann: dict[str, str], store: RedisStore
) -> None:
    """SPEC J2, T5: the channel and the uploads that exist, with problems as their errors."""
    job_id = await queued(http, ann)
    await finish(store, ["t1"])
    with anyio.fail_after(10):
        channel = await http.get(f"/v1/jobs/{job_id}/events", headers=ann)
    methods = [json.loads(line[6:])["method"] for line in channel.text.splitlines() if line.startswith("data: ")]
    assert methods[-1] == "notifications/complete"
    table = b"id,lat,lon,demand\na,52.5213,13.4131,1\n"
    assert (await http.put("/v1/files/orders.csv", content=table, headers=ann)).status_code == 201
    body = {"file": "orders.csv", "planning_date": "2026-11-23", "agents": [{"id": "v", "capacity": 9}]}
    assert (await http.post("/v1/scenarios/import", json=body, headers=ann)).status_code == 201
    matrix = {"locations": ["a", "b"], "durations": [[0, 60], [60, 0]], "distances": [[0, 9], [9, 0]]}
    uploaded = await http.put("/v1/matrices", json=matrix, headers=ann)
    assert uploaded.status_code == 201
    path = f"/v1/matrices/{uploaded.json()['matrix']}"
    assert [(await http.request(m, path, headers=ann)).status_code for m in ("GET", "DELETE", "GET")] == [200, 204, 404]
    lost = await http.get(path, headers=ann)
    assert lost.headers["content-type"] == "application/problem+json"
    assert [fault["path"] for fault in lost.json()["errors"]] == ["/matrix"]
