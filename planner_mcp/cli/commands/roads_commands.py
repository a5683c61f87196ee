"""`planner-mcp roads`: build the map of the road engine ahead of time, and see how the engine of this host is.

Owns the wording of these commands. `serve` and `worker` build the map by themselves; building ahead keeps the first
start short, and shows what is wrong with an extract at once.
"""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from planner_mcp.addresses.street_register import register_facts
from planner_mcp.cli.command_runner import command_settings, run_command
from planner_mcp.cli.store_queries import DataDir
from planner_mcp.settings import Settings
from planner_mcp.text import plain
from planner_mcp.travel.road_daemon import daemon_state
from planner_mcp.travel.road_map_builder import RoadMap, build_road_map, check_extract, find_road_programs, road_map_of
from planner_mcp.travel.street_register_builder import build_street_register, is_register_of, register_path

app = typer.Typer(
    name="roads", help="The road engine of this host: build its map, show its state.", no_args_is_help=True
)
_PATH_CHARS: Final = 1000


@app.command()
def build(
    extract: Annotated[
        Path | None, typer.Argument(help="OpenStreetMap extract (.osm.pbf); absent: PLANNER_ROADS_PBF.")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Build the map of an extract, unless it is there; exit status 1 if it cannot be used."""
    settings = command_settings(data_dir=data_dir, roads_pbf=extract)
    built = run_command(_build(settings))
    typer.echo(f"built: {built.key} in {built.folder}")


async def _build(settings: Settings) -> RoadMap:
    extract = check_extract(settings)
    built = await build_road_map(settings, find_road_programs(settings), lambda line: typer.echo(line, err=True))
    await build_street_register(settings, extract, built.content)
    return built


@app.command()
def status(data_dir: DataDir = None) -> None:
    """Print extract, map and engine; exit status 1 unless the engine answers."""
    settings = command_settings(data_dir=data_dir)
    run_command(_print_status(settings))


async def _print_status(settings: Settings) -> None:
    extract = check_extract(settings)
    programs = find_road_programs(settings)
    named = await road_map_of(extract, programs, settings)
    state = daemon_state(settings)
    typer.echo(f"extract  {plain(str(extract), _PATH_CHARS)}")
    typer.echo(f"map      {named.key}, {'built' if named.folder.is_dir() else 'not built yet'}")
    typer.echo(f"streets  {_register(settings, named.content)}")
    since = f" since {datetime.fromtimestamp(state.since, UTC):%Y-%m-%d %H:%M:%S} UTC" if state.since else ""
    served = f", {state.engine} {state.version} with map {state.map_key}" if state.map_key else ""
    typer.echo(f"engine   {state.phase}{since}{served}{': ' if state.detail else ''}{state.detail}")
    if state.map_key and state.map_key != named.key:
        typer.echo("The engine serves another map until the processes that use it have ended.")
    if state.phase != "ready":
        sys.exit(1)


def _register(settings: Settings, content: str) -> str:
    if not is_register_of(settings, content):
        return "not read yet: addresses have no streets and house numbers"
    facts = register_facts(register_path(settings))
    return f"{int(facts['streets']):,} streets, {int(facts['buildings']):,} house numbers for addresses"
