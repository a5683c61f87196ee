"""Signing secrets: made once, shown once, encrypted, rotated (SPEC W1, W5)."""

import json
import stat
from typing import Any

import anyio
import pytest

from planner_mcp.errors import StoreError
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.security.encryption import KEY_FILE, SecretCipher, open_cipher
from planner_mcp.jobs.store.security.signing_secrets import MAX_SECRETS, OLD_S, SigningSecrets
from planner_mcp.settings import Settings

pytestmark = pytest.mark.anyio


@pytest.fixture
def secrets(store: RedisStore, settings: Settings) -> SigningSecrets:
    return SigningSecrets(store.script_client, open_cipher(settings))


async def test_a_secret_is_shown_once(secrets: SigningSecrets) -> None:
    """SPEC W5: a client learns it once."""
    note = await secrets.reveal("ann")
    assert note.secret is not None
    assert note.secret.startswith("whsec_")
    assert (await secrets.reveal("ann")).secret is None
    assert await secrets.signing("ann") == [note.secret]


async def test_a_secret_is_shown_though_it_is_noted_twice(
    secrets: SigningSecrets, store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC W5: after a lost connection the client library notes it again; nobody had seen it, and nobody could."""
    command = store.script_client.command

    async def twice(*words: str | int | float) -> Any:
        if words[0] == "HSETNX":
            await command(*words)
        return await command(*words)

    monkeypatch.setattr(store.script_client, "command", twice)
    assert (await secrets.reveal("ann")).secret is not None
    assert (await secrets.reveal("ann")).secret is None


async def test_one_that_signed_before_it_was_asked_for_can_still_be_learnt(secrets: SigningSecrets) -> None:
    """SPEC W5: the first delivery may come before the first question."""
    (signing,) = await secrets.signing("ann")
    assert (await secrets.reveal("ann")).secret == signing


async def test_concurrent_first_needs_make_one_secret(secrets: SigningSecrets) -> None:
    """SPEC W5: dispatchers and callers agree."""
    seen: list[str] = []

    async def need() -> None:
        seen.extend(await secrets.signing("ann"))

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(need)
    assert len(seen) == 20
    assert len(set(seen)) == 1


async def test_old_secrets_sign_on_for_a_day(secrets: SigningSecrets, store: RedisStore) -> None:
    """Our choice: current and old secrets during rotation, ten at most."""
    made = [(await secrets.rotate("ann")).secret for _ in range(3)]
    assert await secrets.signing("ann") == made[::-1]
    for _ in range(MAX_SECRETS + 3):
        note = await secrets.rotate("ann")
    assert len(await secrets.signing("ann")) == MAX_SECRETS
    assert {(until - note.created_at).total_seconds() <= OLD_S for until in note.old_until} == {True}
    old = json.loads(await store.redis.hget("{p0}:whsec:ann", "old"))
    passed = json.dumps([{**one, "until_ms": 1} for one in old])
    await store.redis.hset("{p0}:whsec:ann", "old", passed)
    assert await secrets.signing("ann") == [note.secret]


@pytest.fixture
def strangers(store: RedisStore) -> SigningSecrets:
    """The secrets as they are met where another key is set."""
    return SigningSecrets(store.script_client, SecretCipher(b"another"))


async def test_a_secret_that_dispatchers_could_not_decrypt_is_not_made(
    secrets: SigningSecrets, strangers: SigningSecrets
) -> None:
    """SPEC W5: who has another key stops nobody's webhooks, and uses up no secret that it cannot show."""
    (signing,) = await secrets.signing("ann")
    for refused in (strangers.rotate("ann"), strangers.reveal("ann")):
        with pytest.raises(StoreError, match="PLANNER_SECRET_KEY"):
            await refused
    assert (await secrets.reveal("ann")).secret == signing


async def test_old_secrets_of_another_key_keep_a_new_one_from_signing_no_more(
    secrets: SigningSecrets, strangers: SigningSecrets, caplog: pytest.LogCaptureFixture
) -> None:
    """SPEC W1, W5: after a forced rotation webhooks travel again at once; what signs no more is told once."""
    old = (await secrets.reveal("ann")).secret
    await strangers.rotate("ann", is_forced=True)
    with pytest.raises(StoreError, match="PLANNER_SECRET_KEY"):
        await secrets.signing("ann")
    new = (await secrets.rotate("ann", is_forced=True)).secret
    for _delivery in range(2):
        assert await secrets.signing("ann") == [new, old]
    assert [record.getMessage() for record in caplog.records if record.name == "planner.secrets"] == [
        "1 old webhook secrets of ann do not open and sign no more"
    ]


async def test_what_is_stored_reveals_no_secret(secrets: SigningSecrets, store: RedisStore, settings: Settings) -> None:
    """Our choice: stored encrypted, for one principal, under a key only its owner can read."""
    note = await secrets.reveal("ann")
    assert note.secret is not None
    stored = await store.redis.hgetall("{p0}:whsec:ann")
    assert note.secret.removeprefix("whsec_") not in json.dumps(stored)
    assert stat.S_IMODE((settings.data_dir / KEY_FILE).stat().st_mode) == 0o600
    with pytest.raises(StoreError, match="does not open"):
        open_cipher(settings).decrypt(stored["current"], "bob")
    with pytest.raises(StoreError, match="PLANNER_SECRET_KEY"):
        open_cipher(settings.model_copy(update={"secret_key": "another"})).decrypt(stored["current"], "ann")


async def test_every_process_finds_the_same_key(settings: Settings) -> None:
    """SPEC O1: servers and workers of one data folder share the key file."""
    encrypted = open_cipher(settings).encrypt("text", "ann")
    assert open_cipher(settings).decrypt(encrypted, "ann") == "text"
    named = settings.model_copy(update={"secret_key": "the same everywhere"})
    assert open_cipher(named).decrypt(open_cipher(named).encrypt("text", "ann"), "ann") == "text"
