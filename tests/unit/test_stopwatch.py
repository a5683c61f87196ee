"""The watch by which tests hold promises in seconds."""

import time
from pathlib import Path

import pytest

from tests.shared.processes import stopwatch
from tests.shared.processes.stopwatch import Stopwatch

PRESSURE = "some avg10=1.00 avg60=1.00 avg300=1.00 total={}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"


@pytest.fixture
def counters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the kernel tells what was waited for."""
    monkeypatch.setattr(stopwatch, "PRESSURE", tmp_path)
    for name in stopwatch.WAITED_FOR:
        (tmp_path / name).write_text(PRESSURE.format(1_000_000))
    return tmp_path


def test_time_that_others_took_does_not_count_though_some_always_does(
    counters: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our choice: the wrong order of magnitude is wrong under any load."""
    now = [50.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    watch = Stopwatch()
    now[0] += 4.0
    assert (watch.elapsed_s, watch.spent_s) == (4.0, 4.0)
    (counters / "cpu").write_text(PRESSURE.format(2_500_000))
    (counters / "io").write_text(PRESSURE.format(1_500_000))
    assert watch.spent_s == 2.0
    (counters / "cpu").write_text(PRESSURE.format(60_000_000))
    assert watch.spent_s == 0.4
    (counters / "io").unlink()
    assert watch.spent_s == 0.4
