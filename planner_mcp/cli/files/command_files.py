"""Files that commands read and write, with standard input and output in their place.

Owns how a file is named (`-` is standard input or output), the format of a written plan (by the end of its file name,
else JSON), and the faults of files that cannot be read or written.
"""

import errno
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import typer

from planner_mcp.cli.files.printed_plans import PAGES, SHEETS, check_page, printed_page
from planner_mcp.errors import Fault, input_error, placed
from planner_mcp.formats.plan_exports import FORMS, WORKBOOK, check_form, export
from planner_mcp.formats.stop_tables import workbook
from planner_mcp.jobs.ids import is_id
from planner_mcp.jobs.matrix_service import matrix_id_of
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.scenario.coordinates import NO_LINES, Lines
from planner_mcp.routing.scenario.matrix_json_reader import read_travel_matrices
from planner_mcp.routing.scenario.shown_scenario import ShownScenario
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from planner_mcp.server.http.bodies.json_reading import UnreadableJsonError, decode_text
from planner_mcp.settings import Settings
from planner_mcp.text import Json, plain

STDIN = "-"
"""As a file to read; as one to write it is standard output."""
_MARK: Final = "\N{ZERO WIDTH NO-BREAK SPACE}"
"""The byte order mark that editors on Windows write before UTF-8."""
_LONGEST_PATH: Final = 1000
"""Characters of a path that are shown; a scenario may contain any text as a path."""


def read_scenario(path: Path) -> Any:
    """Return the JSON of a file, or of standard input for `-`.

    Raises:
        InputError: It is no JSON, names a member twice, or cannot be read.
    """
    try:
        text = sys.stdin.read() if str(path) == STDIN else path.read_text(encoding="utf-8")
        return decode_text(text.removeprefix(_MARK))
    except UnreadableJsonError as error:
        raise input_error(error.errors) from error
    except (OSError, ValueError, RecursionError) as error:
        file = "The standard input" if str(path) == STDIN else str(path)
        problem = unreadable_message(path, error) if isinstance(error, OSError) else f"{file} is not JSON."
        raise input_error([Fault("", problem, "JSON (UTF-8)")]) from error


def unreadable_message(path: Path, error: OSError | ValueError) -> str:
    """Return why a file cannot be read, with its name."""
    why = error.strerror if isinstance(error, OSError) else ""
    return f"{plain(str(path), _LONGEST_PATH)}: {why or 'The file cannot be read.'}"


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file.

    Raises:
        InputError: It cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise input_error([Fault("", unreadable_message(path, error))]) from error


def read_matrices(path: Path, settings: Settings, named_at: str = "") -> TravelMatrices:
    """Return the tables of travel of a file.

    Args:
        settings: The limit of locations.
        named_at: Where in a scenario the path stands; empty for an argument.

    Raises:
        InputError: It cannot be read, or is no such file.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:  # a scenario may name what no system takes for the name of a file
        accepted = "a path beside the scenario's file" if named_at else "JSON (UTF-8)"
        raise input_error([Fault(named_at, unreadable_message(path, error), accepted)]) from error
    return read_travel_matrices(text, max_locations=settings.max_matrix_locations)


def matrices_beside(path: Path, body: Any, settings: Settings) -> TravelMatrices | None:
    """Return the tables that the scenario of a file names by their path; None where it names none."""
    named = matrix_id_of(body)
    folder = Path() if str(path) == STDIN else path.parent
    return None if named is None or is_id(named) else read_matrices(folder / named, settings, "/travel/matrix")


def check_output(output: Path | None, scenario: ShownScenario) -> None:
    """Look whether a plan of a scenario could be written, before there is one.

    Raises:
        InputError: No such form, or no place for the file.
    """
    with placed(_named):
        _check_form(output_form(output), scenario)
    if (file := _file(output)) is not None and (write_problem := _write_problem(file)):
        raise input_error([_unwritten(file, write_problem)])


def _file(output: Path | None) -> Path | None:
    """Return the file to write; None for standard output."""
    return None if str(output) == STDIN else output


def output_form(output: Path | None) -> str:
    """Return the form that the name of a file asks for."""
    if output is None:
        return "json"
    return SHEETS if output.name.lower().endswith(SHEETS) else output.suffix.lstrip(".").lower() or "json"


def _check_form(form: str, scenario: ShownScenario, plan: Plan | None = None) -> None:
    if form in PAGES:
        check_page(plan, scenario)
    elif form in FORMS:
        check_form(form, scenario)
    else:
        raise input_error([Fault("/form", "There is no such form.", " or ".join((*FORMS, *PAGES)))])


def _named(fault: Fault) -> Fault:
    """Return a fault of the format, placed at the option that sets it."""
    hint = "End the name of the file in one of them."
    return replace(fault, path="--output", hint=hint) if fault.path == "/form" else fault


def _write_problem(path: Path) -> str:
    """Return why a file cannot be written, as far as this can be checked without writing; else nothing."""
    try:
        if path.is_dir():
            return os.strerror(errno.EISDIR)
        is_there = path.exists()
        if not is_there and not path.parent.is_dir():
            return os.strerror(errno.ENOENT)
    except OSError as error:
        return str(error.strerror)
    return "" if os.access(path if is_there else path.parent, os.W_OK) else os.strerror(errno.EACCES)


def _unwritten(path: Path, why: str) -> Fault:
    return Fault("--output", f"{path}: {why}", "a file that can be written")


def write_plan(
    plan: Plan, scenario: ShownScenario, output: Path | None, lines: Lines = NO_LINES, *, document: Json | None = None
) -> None:
    """Write a plan to standard output as JSON, or to a file in the form its name ends in.

    The `document` that the plan was read from is its JSON, since it may hold what this version does not know.

    Raises:
        InputError: As `check_output`, or the plan is of another scenario.
    """
    form = output_form(output)
    with placed(_named):
        _check_form(form, scenario, plan)
    if output is not None and form in PAGES:  # a form without a file is JSON
        _write_bytes(printed_page(plan, scenario, form, lines), output)
    elif output is not None and form == WORKBOOK:
        _write_bytes(workbook(plan, scenario), output)
    elif form == "json" and document is not None:
        write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n", output)
    else:  # spreadsheets take a file without a mark for one in the encoding of the machine
        write_text(export(plan, scenario, form, lines), output, "utf-8-sig" if form == "csv" else "utf-8")


def write_text(text: str, output: Path | None, encoding: str = "utf-8") -> None:
    """Write to a file, or to standard output for None and for `-`.

    Raises:
        InputError: The file cannot be written.
    """
    if (file := _file(output)) is None:
        typer.echo(text, nl=False)
    else:
        _write_bytes(text.encode(encoding), file)


def _write_bytes(data: bytes, file: Path) -> None:
    try:
        file.write_bytes(data)
    except OSError as error:
        raise input_error([_unwritten(file, error.strerror or "The file cannot be written.")]) from error
