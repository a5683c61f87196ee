"""`planner-mcp keys` as an operator uses it."""

import json
import time
from collections.abc import Callable

import anyio
import pytest
from typer.testing import CliRunner

from planner_mcp.cli.command_line import app
from planner_mcp.jobs.principals import principal_id
from planner_mcp.jobs.records.api_key_records import ISSUER
from planner_mcp.jobs.records.audit_records import AuditEntry
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.security.api_key_store import ApiKeyStore
from planner_mcp.jobs.store.security.audit_log import AuditLog
from planner_mcp.jobs.store.sessions.subscription_store import SubscriptionStore
from planner_mcp.settings import Settings
from tests.shared.http.mcp_caller import recent_dates

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("PLANNER_AUTH_API_KEYS", "true")

    def command(*words: str) -> tuple[int, str]:
        ended = CliRunner().invoke(app, ["keys", *words, "--redis-url", database_url])
        return ended.exit_code, ended.output.strip()

    return command


def test_a_key_is_made_listed_and_revoked(run: Run) -> None:
    """SPEC A1, W5: shown once, listed without its secret but with whom `--principal` means, gone when revoked."""
    status, key = run("create", "ada", "--scope", "planner:read", "--tenant", "acme")
    assert status == 0
    key_id = key.split("_")[1]
    _status, listed = run("list")
    mine = [line for line in listed.splitlines() if line.startswith(key_id)]
    assert len(mine) == 1 and mine[0].endswith(f"ada  acme  {principal_id(ISSUER, 'ada', 'acme')}  planner:read")
    assert key not in listed
    assert run("revoke", key_id)[0] == 0
    place = "/key_id: No key has this id. (accepted: the id of a key) planner-mcp keys list shows them."
    assert run("revoke", key_id) == (1, f"error 4004 NotFound: {place}")
    assert run("create", "ada", "--scope", "root")[0] == 1


def test_whoever_makes_a_key_learns_which_setting_asks_for_it(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC A1, A2: without it two keys share everything, and nothing said so; the key alone stands on stdout."""
    words = ["keys", "create", "ada", "--redis-url", database_url]
    made = CliRunner().invoke(app, words)
    assert made.stderr.startswith("PLANNER_AUTH_API_KEYS is not set here.")
    assert len(made.stdout.split()) == 1
    monkeypatch.setenv("PLANNER_AUTH_API_KEYS", "true")
    assert CliRunner().invoke(app, words).stderr == ""


def test_a_key_reviews_with_people_of_an_issuer(run: Run, database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC A5: an issuer whose tokens are accepted here, kept with the key; no other makes a key."""

    async def issuer(key: str) -> str:
        async with connect(Settings(redis_url=database_url)) as store:
            record = await ApiKeyStore(store.script_client).find(key.split("_")[1])
        return record.reviews_with if record else "none"

    login = "https://login.example"
    status, output = run("create", "eve", "--reviews-with", login)
    assert (status, "error 4001 InvalidParameter: --reviews-with: No tokens of this issuer" in output) == (1, True)
    monkeypatch.setenv("PLANNER_PUBLIC_URL", "https://planner.example")
    monkeypatch.setenv("PLANNER_AUTH_ISSUERS", json.dumps({login: None}))
    status, key = run("create", "eve", "--reviews-with", login)
    assert (status, anyio.run(issuer, key)) == (0, login)


def test_clients_of_a_key_are_notified_that_their_tools_changed(run: Run, database_url: str) -> None:
    """SPEC T9: when their principal gets another key, and when one is revoked; nobody else is told."""

    async def version(subject: str) -> int:
        async with connect(Settings(redis_url=database_url)) as store:
            found = await SubscriptionStore(store.redis).list_versions(principal_id(ISSUER, subject))
        return found.get("tools", 0)

    _status, key = run("create", "bea", "--scope", "planner:read")
    made = anyio.run(version, "bea")
    assert made > 0 == anyio.run(version, "cyd")
    time.sleep(0.002)  # versions are times, in ms
    run("revoke", key.split("_")[1])
    assert anyio.run(version, "bea") > made


def test_each_key_that_is_made_or_revoked_is_a_line_of_the_audit_log(run: Run, database_url: str) -> None:
    """SPEC A3: by the operator's name on this machine, with the id of the key; refusals too; never the key."""

    async def lines() -> list[AuditEntry]:
        async with connect(Settings(redis_url=database_url)) as store:
            log = AuditLog(store.script_client, Settings())
            return [line for day in recent_dates() for line in (await log.read(day, count=1000)).entries]

    _status, key = run("create", "dan")
    key_id = key.split("_")[1]
    for _ in range(2):
        run("revoke", key_id)
    run("create", "dan", "--scope", "root")
    found = anyio.run(lines)
    assert [(line.what, line.target, line.outcome) for line in found] == [
        ("keys create", key_id, "ok"),
        ("keys revoke", key_id, "ok"),
        ("keys revoke", "", "4004"),
        ("keys create", "", "4001"),
    ]
    assert {line.who for line in found} == {"operator"} and all(line.subject for line in found)
    assert key not in str(found)
