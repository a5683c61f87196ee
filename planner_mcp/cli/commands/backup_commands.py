"""`planner-mcp backup` and `restore`: the data folder as one archive, and an archive as a new data folder."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from planner_mcp.cli.command_runner import refuse
from planner_mcp.cli.environment_settings import read_settings
from planner_mcp.cli.store_queries import DataDir
from planner_mcp.errors import InputError, PlannerError
from planner_mcp.jobs.store import data_folder_backup

app = typer.Typer()


@app.command()
def backup(
    archive: Annotated[Path, typer.Argument(help="New file, as in planner.tar.gz.")], data_dir: DataDir = None
) -> None:
    """Copy the data folder into an archive, also while the planner runs."""
    _run(lambda folder: data_folder_backup.back_up(folder, archive), data_dir)
    typer.echo(f"{archive} has all jobs, plans and keys. Keep it as safe as the data folder.")


@app.command()
def restore(
    archive: Annotated[Path, typer.Argument(help="File that `backup` wrote.")], data_dir: DataDir = None
) -> None:
    """Unpack an archive into a new data folder."""
    folder = _run(lambda folder: data_folder_backup.restore(archive, folder), data_dir)
    typer.echo(f"Restored. Start the planner with PLANNER_DATA_DIR={folder}")


def _run(step: Callable[[Path], None], data_dir: Path | None) -> Path:
    """Run a step on the data folder of the settings and return it; an error ends the command with status 1."""
    settings = read_settings(data_dir=data_dir)
    try:
        if settings.redis_url and data_dir is None:
            raise InputError("PLANNER_REDIS_URL names the store: use its own tools, or name a folder with --data-dir.")
        step(settings.data_dir)
    except PlannerError as error:
        refuse(error)
    return settings.data_dir
