"""`planner-mcp bench`: the benchmark of a checkout, which no wheel holds."""

import importlib
import sys

import typer

app = typer.Typer()


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []})
def bench(context: typer.Context) -> None:
    """Compare engines on published instances; `bench --help` lists its options. Runs from a checkout."""
    try:
        plans = importlib.import_module("benchmarks.plans")
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "benchmarks":
            raise
        problem = "the benchmark is not part of the installed package; run `make bench-plans` in a checkout."
        raise typer.BadParameter(problem) from None
    sys.exit(plans.main(context.args))
