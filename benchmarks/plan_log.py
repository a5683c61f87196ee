"""What came of the runs of a benchmark, one per line in a file, so that it can be stopped and continued."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

ENGINES: Final = Path(__file__).parents[1] / "workers" / "engines"


def engine_revision() -> str:
    """Return a fingerprint of the sources of the engines."""
    sources = sorted(path for path in ENGINES.rglob("*") if path.suffix in {".py", ".cpp", ".hpp"})
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Run:
    """What one engine made of one instance."""

    instance: str
    set: str
    n: int
    engine: str
    limit_s: float
    seed: int
    cores: int
    cost: float | None = None
    """In the units of the set; None where there is no plan, or none that the verifier passes."""
    gap: float | None = None
    """Percent above the best known."""
    integral: float | None = None
    """Primal integral in percent; None for engines that report no plan before the end."""
    unserved: int = 0
    first_s: float | None = None
    """Time of the first plan; None for engines that report no plan before the end."""
    elapsed_s: float | None = None
    peak_mb: int = 0
    """Of the process and its forks, the Python and the instance included."""
    fault: str = ""
    load: float = 0.0
    """Of the machine over the last minute, when the run ended."""

    @property
    def key(self) -> tuple[str, str, str, float, int, int]:
        """What was asked."""
        return (self.set, self.instance, self.engine, self.limit_s, self.seed, self.cores)


class PlanLog:
    """The runs made so far.

    Args:
        path: Where they are kept; None for this process alone.
        engines: Revision of the engines that are measured. Runs of others in the file stay there, not looked at.
    """

    def __init__(self, path: Path | None, engines: str) -> None:
        self._path = path
        self._engines = engines
        self._runs: dict[tuple[object, ...], Run] = {}
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                fields = json.loads(line)
                if fields.pop("engines") == engines:
                    self._note(Run(**fields))

    def __contains__(self, asked: Run) -> bool:
        return asked.key in self._runs

    def __getitem__(self, asked: Run) -> Run:
        return self._runs[asked.key]

    def add(self, run: Run) -> None:
        """Keep a run."""
        self._note(run)
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"engines": self._engines, **asdict(run)}) + "\n")

    def _note(self, run: Run) -> None:
        self._runs[run.key] = run
