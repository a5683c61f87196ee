"""Runs as tables: one row per set, one column per engine, the mean gap to the best known in each cell; then the same
with the primal integral of engines that report plans before the end.

Owns the reading of runs and the tables in `benchmarks/PLANS.md`. A mean over fewer instances than its row
has, because an engine was not asked or found no plan, says how many it stands for and is not compared.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Final, Literal

from benchmarks.plan_log import Run
from benchmarks.result_files import put_section

PAGE: Final = Path(__file__).parent / "PLANS.md"
BEGIN: Final = "<!-- tables: written by benchmarks.plans -->"
END: Final = "<!-- end of tables -->"


def tables(runs: Sequence[Run]) -> str:
    """Return one Markdown table for each time limit and number of cores."""
    kinds = sorted({(run.limit_s, run.cores) for run in runs})
    by_kind = [[run for run in runs if (run.limit_s, run.cores) == kind] for kind in kinds]
    return "\n\n".join(text for of_kind in by_kind for text in _tables(of_kind))


def _tables(runs: Sequence[Run]) -> Iterator[str]:
    yield _table(runs, "gap")
    reporting = {run.engine for run in runs if run.integral is not None}
    if reporting:
        yield _table([run for run in runs if run.engine in reporting], "integral")


def _table(runs: Sequence[Run], measure: Literal["gap", "integral"]) -> str:
    engines = list(dict.fromkeys(run.engine for run in runs))
    seeds = len({run.seed for run in runs})
    what = "" if measure == "gap" else ", primal integral"
    head = f"**{runs[0].limit_s:g} s{what}, cores a solve may use: {runs[0].cores}, seeds: {seeds}**"
    rows = [f"| set (instances) | {' | '.join(engines)} |", f"|---|{'--:|' * len(engines)}"]
    for name in dict.fromkeys(run.set for run in runs):
        of_set = [run for run in runs if run.set == name]
        count = len({run.instance for run in of_set})
        cells = [_cell((run for run in of_set if run.engine == engine), count, measure) for engine in engines]
        best = min((mean for mean, _ in cells if mean is not None), default=None)
        shown = [f"**{text}**" if mean is not None and mean == best else text for mean, text in cells]
        rows.append(f"| {name} ({count}) | {' | '.join(shown)} |")
    return "\n".join([head, "", *rows])


def _cell(runs: Iterable[Run], asked: int, measure: Literal["gap", "integral"]) -> tuple[float | None, str]:
    """Return the mean, comparable only where there is a plan for all `asked` instances, and how it is shown."""
    measured = list(runs)
    gaps = [value for run in measured if run.gap is not None and (value := getattr(run, measure)) is not None]
    if not measured:
        return None, "–"
    if not gaps:
        return None, "no plan"
    mean = round(fmean(gaps), 2) + 0.0  # no negative zero
    planned = {run.instance for run in measured if run.gap is not None}
    if len(planned) < asked or len(gaps) < len(measured):
        return None, f"{mean:.2f} ({len(planned)} of {asked})"
    return mean, f"{mean:.2f}"


def write(result: Path, runs: Sequence[Run], about: dict[str, Any]) -> None:
    """Put the tables of a result into the page."""
    loads = sorted(run.load for run in runs)
    facts = f"{about['cpu']}, {about['cores']} cores, load {loads[0]} to {loads[-1]} while measuring"
    measures = (
        "Mean gap to the best known in %, and primal integral\n"
        "(mean excess over the time limit in %, at most 10: `primal_integral.py`)."
    )
    section = f"From `results/{result.name}` ({facts}). {measures}\n\n{tables(runs)}"
    put_section(PAGE, BEGIN, section, END)
