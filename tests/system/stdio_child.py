"""`planner-mcp` without a command, as the child of a test that speaks over its pipes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

LONGEST_END_S: Final = 20.0


class Child:
    """The process and its pipes.

    Args:
        folder: Of its log and its data.
        workers: Worker processes that it starts.
    """

    def __init__(self, folder: Path, *, workers: int = 0) -> None:
        self.log = folder / "stderr.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "planner_mcp"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={"PLANNER_DATA_DIR": str(folder / "data"), "PLANNER_WORKERS": str(workers)},
            )

    def say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def hear(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        self.say(json.dumps(message))
        return dict(self.hear())

    def end(self) -> None:
        """Close its input and wait until it has ended, and its store with it."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self.process.wait(LONGEST_END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
