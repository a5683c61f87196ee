"""`planner-mcp demo`: a day of 120 deliveries planned here, with everything that can be printed of it (SPEC O1).

Owns the files it writes. The day lies beside this module (`examples/beijing.py` made it); its store is a folder that
is removed again.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Final

import typer

from planner_mcp.cli.command_runner import command_settings, refuse, run_command
from planner_mcp.cli.files.command_files import write_plan
from planner_mcp.cli.files.printed_plans import of_agent
from planner_mcp.cli.processes.solve_display import show_plan
from planner_mcp.cli.processes.solve_run import SECONDS_HELP, SolveRun, solve_beside_worker
from planner_mcp.errors import Fault, InputError, input_error

DAY_FILE: Final = Path(__file__).with_name("demo_day.json")
NAMES: Final = ("report.html", "sheets.html", "map.png", "stops.xlsx", "plan.json")
CALENDAR: Final = "first-driver.ics"

app = typer.Typer()


@app.command()
def demo(
    seconds: Annotated[int | None, typer.Option(min=1, max=60, help=SECONDS_HELP)] = None,
    folder: Annotated[Path, typer.Option(help="Where report, sheets, map and tables go.")] = Path("planner-demo"),
) -> None:
    """Plan a day of 120 deliveries and write its report, driver sheets, map, table and a calendar."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        refuse(input_error([Fault("--folder", f"{folder}: {error.strerror}", "a folder that can be written")]))
    scenario = json.loads(DAY_FILE.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="planner-demo-") as data:
        settings = command_settings(data_dir=Path(data), redis_url="", log_level="warning")
        solved = run_command(solve_beside_worker(SolveRun(DAY_FILE, scenario, seconds, None, False), settings))
    if solved is None:
        sys.exit(1)
    show_plan(scenario, solved.plan, solved.gap)
    one = of_agent(solved.plan, solved.plan.routes[0].agent_id)
    wanted = [(name, solved.plan) for name in NAMES] + [(CALENDAR, one)]
    try:
        for name, part in wanted:
            write_plan(part, scenario, folder / name)
    except InputError as error:
        refuse(error)
    typer.echo("\n".join(str(folder / name) for name, _ in wanted))
