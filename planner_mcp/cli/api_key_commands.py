"""`planner-mcp keys`: an operator makes, lists and revokes API keys (SPEC A1).

Owns the wording of these commands. Servers accept keys when `PLANNER_AUTH_API_KEYS` is set.
"""

import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from planner_mcp.cli.store_queries import DataDir, RedisUrl, run_store_query
from planner_mcp.jobs.api_key_records import ApiKeyRecord
from planner_mcp.jobs.principals import READ, WRITE
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.security.api_key_store import RedisApiKeyStore
from planner_mcp.jobs.store.sessions.subscription_store import SubscriptionStore
from planner_mcp.server.auth.api_key_auth import new_key

app = typer.Typer(name="keys", help="Make, list and revoke API keys.")

Scopes = Annotated[
    list[str],
    typer.Option("--scope", help="A scope of the key; may be repeated. Absent: read and write, scenarios masked."),
]


@app.command()
def create(
    subject: Annotated[
        str, typer.Argument(help="Subject of the key; keys of one subject share their scenarios and jobs.")
    ],
    tenant: Annotated[str, typer.Option(help="Tenant of the subject.")] = "",
    scope: Scopes = [READ, WRITE],  # noqa: B006 - typer copies it
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Make a key and print it, once."""

    async def add(store: RedisStore) -> str:
        key, record = new_key(subject, tenant, scope, now=datetime.now(UTC))
        await RedisApiKeyStore(store.script_client).add(record)
        await _print_key(store, record)
        return key

    typer.echo(run_store_query(lambda store, _settings: add(store), redis_url, data_dir))


@app.command("list")
def list_keys(redis_url: RedisUrl = None, data_dir: DataDir = None) -> None:
    """List keys, oldest first: id, when it was made, subject, tenant, principal (as `--principal` takes it), scopes."""
    for record in run_store_query(
        lambda store, _settings: RedisApiKeyStore(store.script_client).list(), redis_url, data_dir
    ):
        made = record.created_at.strftime("%Y-%m-%d %H:%M:%SZ")
        whom = f"{record.subject}  {record.tenant or '-'}  {record.principal_id}"
        typer.echo(f"{record.id}  {made}  {whom}  {' '.join(sorted(record.scopes))}")


@app.command()
def revoke(key_id: str, redis_url: RedisUrl = None, data_dir: DataDir = None) -> None:
    """Revoke a key by its id; the next request with it is refused."""

    async def forget(store: RedisStore) -> bool:
        ring = RedisApiKeyStore(store.script_client)
        record = await ring.find(key_id)
        if record is None or not await ring.revoke(key_id):
            return False
        await _print_key(store, record)
        return True

    if not run_store_query(lambda store, _settings: forget(store), redis_url, data_dir):
        typer.echo("no key has this id", err=True)
        sys.exit(1)


async def _print_key(store: RedisStore, record: ApiKeyRecord) -> None:
    """Notify the clients of a key's principal that their list of tools has changed."""
    await SubscriptionStore(store.redis).announce(record.principal_id, "tools")
