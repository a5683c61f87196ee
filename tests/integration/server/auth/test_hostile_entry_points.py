"""Junk at every entry point beside MCP: the dashboard, sign-in, uploads, links (SPEC A2, A4, T8, X3).

Each request is refused with a short error, the server tells nothing of its inside, and others go on. Bodies of `/mcp`
have suites of their own (`tests/fuzz`, `unit/server/http/bodies/test_hostile_bodies.py`), and so have files
(`unit/formats/test_file_bounds.py`).
"""

import pytest

from tests.integration.server.auth.conftest import Key, Served

pytestmark = pytest.mark.anyio
MAX_ANSWER = 8000
"""Bytes."""
BODIES = {
    "nothing": b"",
    "no JSON": b"\xff\xfe{",
    "deep": b"[" * 5000 + b"]" * 5000,
    "long number": b'{"tool": "list_jobs", "arguments": {"limit": ' + b"9" * 6000 + b"}}",
    "half a pair": b'{"tool": "list_jobs", "arguments": {"state": "\\ud800"}}',
    "other types": b'{"tool": {"a": []}, "arguments": 7}',
    "no such tool": b'{"tool": "__import__", "arguments": {}}',
    "many values": b'{"tool": "list_jobs", "arguments": {"state": [' + b"[]," * 20_000 + b"1]}}",
    "list": b"[1, 2, 3]",
}
JUNK = ("x", "%00", "..%2f..%2fetc%2fpasswd", "A" * 3000, "%ff%fe", "\u202e", "' OR 1=1 --")


@pytest.mark.parametrize("name", BODIES)
async def test_junk_for_the_dashboard_is_refused_shortly(served: Served, key: Key, name: str) -> None:
    """SPEC A4, T8, X3: `/ui/call` answers each body with an error, and the next call as ever."""
    async with served() as http:
        headers = {"authorization": await key("mallory"), "content-type": "application/json"}
        answer = await http.post("/ui/call", content=BODIES[name], headers=headers)
        assert answer.status_code in (200, 400, 404, 413, 422), answer.text
        assert answer.status_code != 200 or answer.json()["is_error"] is True
        _is_short_and_reveals_nothing(answer.text)
        good = await http.post("/ui/call", json={"tool": "list_jobs", "arguments": {}}, headers=headers)
        assert (good.status_code, good.json()["is_error"]) == (200, False)


@pytest.mark.parametrize("path", ["/v1/plan", "/v1/scenarios", "/v1/jobs", "/v1/scenarios/validate"])
@pytest.mark.parametrize("name", BODIES)
async def test_junk_for_rest_is_refused_shortly(served: Served, key: Key, path: str, name: str) -> None:
    """SPEC O7, T8, X3: a status of the caller's fault with problem details, and the next call as ever."""
    async with served() as http:
        headers = {"authorization": await key("mallory"), "content-type": "application/json"}
        answer = await http.post(path, content=BODIES[name], headers=headers)
        assert 400 <= answer.status_code < 500, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        _is_short_and_reveals_nothing(answer.text)
        assert (await http.get("/v1/jobs", headers=headers)).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/shared/{}",
        "/downloads/{}/x",
        "/files/{}",
        "/jobs/{}",
        "/jobs/{}/events",
        "/v1/jobs/{}",
        "/v1/jobs/{}/plan",
        "/v1/scenarios/{}",
        "/v1/jobs?cursor={}",
    ],
)
async def test_junk_in_a_path_is_not_found(served: Served, key: Key, path: str) -> None:
    """SPEC A2: links and names that nobody made are unknown or refused, whoever asks."""
    async with served() as http:
        for junk in JUNK:
            answer = await http.get(path.format(junk), headers={"authorization": await key("mallory")})
            assert answer.status_code in (400, 404, 405, 414, 422), (junk, answer.text)
            _is_short_and_reveals_nothing(answer.text)


async def test_junk_for_a_cookie_or_ticket_signs_nobody_in(served: Served) -> None:
    """SPEC A1: an altered cookie, a ticket nobody was given, a key that is none: 401 or, soon, 429."""
    async with served() as http:
        for junk in ("x", "A" * 3000, "a.b.c", "%00", "=;="):
            for header in (
                {"cookie": f"__Host-planner={junk}", "x-planner-ui": "1"},
                {"authorization": f"Bearer {junk}"},
            ):
                used = await http.post("/ui/call", json={"tool": "list_jobs", "arguments": {}}, headers=header)
                signed = await http.post("/ui/session", headers=header)
                assert {used.status_code, signed.status_code} <= {401, 403, 429}, (junk, used.text, signed.text)
                _is_short_and_reveals_nothing(used.text + signed.text)
                assert "set-cookie" not in signed.headers


async def test_a_file_of_another_principal_is_neither_read_nor_written_over(served: Served, key: Key) -> None:
    """SPEC A2: the same name is another file for each principal; names out of the folder are refused."""
    async with served() as http:
        ann, mallory = await key("ann"), await key("mallory")
        given = {"content-type": "text/csv"}
        day = b"id,location\na,A\n"
        put = await http.put("/files/day.csv", content=day, headers=given | {"authorization": ann})
        assert put.status_code < 300, put.text
        call = {"tool": "import_scenario", "arguments": {"file": "day.csv", "planning_date": "2025-07-15"}}
        foreign = await http.post("/ui/call", json=call, headers={"authorization": mallory})
        assert foreign.json()["is_error"] is True
        assert "location" not in foreign.text.replace("/location", "")
        for junk in JUNK[1:]:
            answer = await http.put(f"/files/{junk}", content=day, headers=given | {"authorization": mallory})
            assert answer.status_code < 500
            _is_short_and_reveals_nothing(answer.text)


def _is_short_and_reveals_nothing(text: str) -> None:
    assert len(text) <= MAX_ANSWER
    assert "Traceback" not in text
    assert ".py" not in text
