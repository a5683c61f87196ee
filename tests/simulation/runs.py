"""Plays many histories, in several processes, each with a server of its own."""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Final

from tests.simulation.scripted_server import ScriptedServer
from tests.simulation.world import played

CHUNK: Final = 500
"""Histories that one server plays."""


def violations(seeds: range, *, processes: int = 1) -> Iterator[tuple[int, list[str]]]:
    """Yield each seed whose history broke a promise, and how."""
    chunks = [seeds[at : at + CHUNK] for at in range(0, len(seeds), CHUNK)]
    if processes == 1:
        for chunk in chunks:
            yield from _judged(chunk)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for found in pool.map(_judged, chunks):
            yield from found


def _judged(seeds: range) -> list[tuple[int, list[str]]]:
    with ScriptedServer() as server:
        played_here = ((seed, played(server, seed).history.problems) for seed in seeds)
        return [(seed, problems) for seed, problems in played_here if problems]
