"""A register of a road extract that a test made up, with roads alone."""

import sqlite3
from contextlib import closing
from pathlib import Path

from planner_mcp.travel.drawn_roads import SCHEMA, road_row


def register(path: Path, rows: list[tuple[int, list[tuple[float, float]]]]) -> Path:
    """Write a register with these roads alone."""
    with closing(sqlite3.connect(path)) as written:
        written.executescript(SCHEMA)
        written.executemany(
            "INSERT INTO roads VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", [road_row(line, rank) for rank, line in rows]
        )
        written.commit()
    return path
