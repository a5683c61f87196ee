"""`planner-mcp keys`: an operator makes, lists and revokes API keys (SPEC A1).

Owns the wording of these commands and their lines in the audit log (SPEC A3). Servers accept keys when
`PLANNER_AUTH_API_KEYS` is set.
"""

import getpass
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Final

import typer

from planner_mcp.cli.store_queries import DataDir, RedisUrl, run_store_query
from planner_mcp.errors import Fault, InputError, PlannerError, input_error
from planner_mcp.jobs.principals import READ, WRITE, Principal
from planner_mcp.jobs.records.api_key_records import ApiKeyRecord
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.security.api_key_store import ApiKeyStore
from planner_mcp.jobs.store.security.audit_log import AuditLog
from planner_mcp.jobs.store.sessions.subscription_store import SubscriptionStore
from planner_mcp.server.auth.api_key_auth import new_key
from planner_mcp.server.auth.audit_trail import OK, Audit
from planner_mcp.settings import Settings
from planner_mcp.telemetry import new_trace_id

app = typer.Typer(name="keys", help="Make, list and revoke API keys.")

OPERATOR: Final = Principal("operator")
"""Whoever may run commands on the machine, in the audit log."""
_ISSUER: Final = "an issuer of PLANNER_AUTH_ISSUERS, or PLANNER_AUTH_INTROSPECTION_ISSUER"
_NOT_ASKED_FOR: Final = (
    "PLANNER_AUTH_API_KEYS is not set here. A server asks for keys only with PLANNER_AUTH_API_KEYS=true; otherwise "
    "whoever reaches it is one user, with or without a key."
)
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
    reviews_with: Annotated[
        str, typer.Option(help="Issuer whose people of this tenant review its plans, and the other way round.")
    ] = "",
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Make a key and print it, once."""

    async def add(store: RedisStore, settings: Settings) -> str:
        async with audited_command(store, settings, "keys create") as line:
            if reviews_with and reviews_with not in settings.token_issuers:
                raise input_error([Fault("--reviews-with", "No tokens of this issuer are accepted here.", _ISSUER)])
            key, record = new_key(subject, tenant, scope, now=datetime.now(UTC), reviews_with=reviews_with)
            line.target = record.id
            await ApiKeyStore(store.script_client).add(record)
        await _announce(store, record)
        if not settings.auth_api_keys:
            typer.echo(_NOT_ASKED_FOR, err=True)
        return key

    typer.echo(run_store_query(add, redis_url, data_dir))


@app.command("list")
def list_keys(redis_url: RedisUrl = None, data_dir: DataDir = None) -> None:
    """List keys, oldest first: id, when it was made, subject, tenant, principal (as `--principal` takes it), scopes."""
    for record in run_store_query(
        lambda store, _settings: ApiKeyStore(store.script_client).list(), redis_url, data_dir
    ):
        made = record.created_at.strftime("%Y-%m-%d %H:%M:%SZ")
        whom = f"{record.subject}  {record.tenant or '-'}  {record.principal_id}"
        typer.echo(f"{record.id}  {made}  {whom}  {' '.join(sorted(record.scopes))}")


@app.command()
def revoke(key_id: str, redis_url: RedisUrl = None, data_dir: DataDir = None) -> None:
    """Revoke a key by its id; the next request with it is refused."""

    async def forget(store: RedisStore, settings: Settings) -> None:
        key_store = ApiKeyStore(store.script_client)
        async with audited_command(store, settings, "keys revoke") as line:
            if (record := await key_store.find(key_id)) is None or not await key_store.revoke(key_id):
                raise unknown_key("/key_id")
            line.target = record.id
        await _announce(store, record)

    run_store_query(forget, redis_url, data_dir)


def unknown_key(path: str) -> InputError:
    """Return the error of an argument that names no key."""
    fault = Fault(path, "No key has this id.", "the id of a key", "planner-mcp keys list shows them.", kind="absent")
    return input_error([fault])


@dataclass(slots=True)
class _Line:
    target: str = ""
    """Id of the key."""


@asynccontextmanager
async def audited_command(store: RedisStore, settings: Settings, what: str) -> AsyncIterator[_Line]:
    """Write what became of a command into the audit log, by the name the operating system knows the operator by."""
    audit, line, outcome = Audit(AuditLog(store.script_client, settings)), _Line(), str(OK)
    try:
        yield line
    except PlannerError as error:
        outcome = str(error.code)
        raise
    finally:
        operator = replace(OPERATOR, subject=_user_name())
        await audit.record(operator, what, outcome=outcome, trace_id=new_trace_id(), target=line.target)
        await audit.until_written()


def _user_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user id without a name, as in containers
        return str(os.getuid())


async def _announce(store: RedisStore, record: ApiKeyRecord) -> None:
    """Notify the clients of a key's principal that their list of tools has changed."""
    await SubscriptionStore(store.redis).announce(record.principal_id, "tools")
