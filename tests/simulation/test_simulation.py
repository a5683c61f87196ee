"""Histories of the whole job engine from seeds, and bugs planted to see that they are found (SPEC J1, J6, J7, W3).

`python -m tests.simulation --seed N` replays one; `HISTORIES` sets how many `make chaos` plays, `CHAOS_SEED` the first.
"""

import os
import time

import pytest

from tests.shared.store.chaos_results import keep, seed_of, size_of
from tests.simulation.planted_bugs import BUGS, planted
from tests.simulation.runs import violations
from tests.simulation.scripted_server import COMPILER, PROGRAM, ScriptedServer
from tests.simulation.world import played

pytestmark = pytest.mark.skipif(not (COMPILER and PROGRAM), reason="needs a C compiler and redis-server")
QUICK, SLOW, LONG = 20, 400, 100_000
FOUND_WITHIN = 1000
LONGEST_S = 7200


@pytest.mark.parametrize(
    "histories", [pytest.param(QUICK, id="quick"), pytest.param(SLOW, marks=pytest.mark.slow, id="slow")]
)
def test_no_history_breaks_a_promise(histories: int) -> None:
    """SPEC J1, J6, J7, W3: no acknowledged job lost, one end each, fenced writers, every end delivered, none stuck."""
    assert dict(violations(range(histories))) == {}


@pytest.mark.chaos
@pytest.mark.timeout(LONGEST_S)
def test_a_hundred_thousand_histories_break_no_promise() -> None:
    """SPEC J1, J6, J7, W3: the same, at size."""
    first, count, began = seed_of(), size_of("HISTORIES", LONG), time.monotonic()
    found = dict(violations(range(first, first + count), processes=os.cpu_count() or 1))
    keep("simulated histories", seed=first, began=began, histories=count, violations=len(found))
    assert found == {}


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_found(bug: str) -> None:
    """Our choice: what the simulation is worth; each bug within a thousand histories."""
    with planted(bug), ScriptedServer() as server:
        assert any(played(server, seed).history.problems for seed in range(FOUND_WITHIN))


def test_a_seed_repeats_its_history() -> None:
    """Our choice: a failing seed is replayed, step by step."""
    with ScriptedServer() as server:
        first, again = (played(server, 7).history for _ in range(2))
    assert [str(step) for step in first.steps] == [str(step) for step in again.steps]
    assert first.answers == again.answers
