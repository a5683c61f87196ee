"""`planner-mcp dashboard`: opens the dashboard in a browser, signed in where the server asks for that (SPEC O2).

Where authorization is configured the address carries a one-time ticket in its fragment, which is never sent to a server
or written into a log; the page exchanges it for a session within a minute.
"""

from typing import Annotated
from urllib.parse import urlsplit

import typer

from planner_mcp.cli.commands.api_key_commands import audited_command, unknown_key
from planner_mcp.cli.store_queries import DataDir, RedisUrl, run_store_query
from planner_mcp.errors import InvalidParameterError
from planner_mcp.jobs.records.api_key_records import ApiKeyRecord
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.security.api_key_store import ApiKeyStore
from planner_mcp.jobs.store.security.encryption import open_cipher
from planner_mcp.jobs.store.security.page_session_store import PageSessionStore
from planner_mcp.server.auth.api_key_auth import principal_of_key
from planner_mcp.server.auth.page_sessions import PageSessions
from planner_mcp.settings import Settings

app = typer.Typer()


@app.command()
def dashboard(
    url: Annotated[
        str | None, typer.Option(help="Address of the server; absent: PLANNER_PUBLIC_URL, or host and port.")
    ] = None,
    key_id: Annotated[
        str | None, typer.Option(help="Id of the API key to sign in with; absent: the only one there is.")
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the address, not only print it.")] = True,
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Print the address of the dashboard, with a ticket for one sign-in within a minute, and open it."""

    async def address(store: RedisStore, settings: Settings) -> str:
        page = f"{(url or _server_url(settings)).rstrip('/')}/ui"
        if not settings.has_auth:
            return page
        async with audited_command(store, settings, "dashboard") as line:
            key_store = ApiKeyStore(store.script_client)
            record = await _record(key_store, key_id)
            line.target = record.id
            sessions = PageSessions(PageSessionStore(store.script_client), key_store, open_cipher(settings))
            return f"{page}#ticket={await sessions.ticket(principal_of_key(record))}"

    found = run_store_query(address, redis_url, data_dir)
    typer.echo(found)
    if browser:
        typer.launch(found)


def _server_url(settings: Settings) -> str:
    if settings.public_url:
        return settings.public_url
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host  # noqa: S104 - compared, not bound
    return urlsplit(f"http://{f'[{host}]' if ':' in host else host}:{settings.port}").geturl()


async def _record(key_store: ApiKeyStore, key_id: str | None) -> ApiKeyRecord:
    if key_id is not None:
        if (record := await key_store.find(key_id)) is None:
            raise unknown_key("--key-id")
        return record
    records = await key_store.list()
    if len(records) != 1:
        raise InvalidParameterError(
            f"there are {len(records)} API keys: --key-id says which one; `planner-mcp keys` lists and makes them"
        )
    return records[0]
