"""Commands that ask the store one thing: the options that name it, and the way to its answer.

Owns no wording but the help of these options. A command that runs for long opens the application
itself (`service_commands.py`).
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from planner_mcp.cli.command_runner import run_command
from planner_mcp.cli.environment_settings import read_settings
from planner_mcp.jobs.store.connection.error_translation import explained_refusals
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings

R = TypeVar("R")
RedisUrl = Annotated[str | None, typer.Option(help="Redis or Valkey; empty: the bundled server in the data folder.")]
DataDir = Annotated[Path | None, typer.Option(help="Folder of the bundled store and of the key file.")]


def run_store_query(
    question: Callable[[RedisStore, Settings], Awaitable[R]], redis_url: str | None, data_dir: Path | None
) -> R:
    """Return the answer of the configured store; an error ends the command with status 1."""
    settings = read_settings(redis_url=redis_url, data_dir=data_dir)

    async def answer() -> R:
        async with connect(settings) as store:
            with explained_refusals(has_url=bool(settings.redis_url)):
                return await question(store, settings)

    return run_command(answer())
