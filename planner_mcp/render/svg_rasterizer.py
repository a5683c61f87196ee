"""Turns SVG into PNG in a process of its own, which dies with the picture.

Owns that process; the caller decides how many run at a time. The renderer holds the interpreter for as long
as it draws (half a second for a map), so a thread would stop the event loop; and native code fed with strangers' words
is better kept out of the server.
"""

import subprocess
import sys
from typing import Final

import anyio

from planner_mcp.errors import CapacityError, PlannerError

LONGEST_S: Final = 20.0


async def png_of(svg: str) -> bytes:
    """Return an SVG document of ours as PNG.

    Raises:
        CapacityError: It took too long.
    """
    command = [sys.executable, "-P", "-m", "planner_mcp.render.svg_rasterizer"]
    try:
        with anyio.fail_after(LONGEST_S):
            done = await anyio.run_process(command, input=svg.encode(), stderr=subprocess.DEVNULL, check=False)
    except TimeoutError as error:
        raise CapacityError("The picture took too long to draw.", retry_after_s=LONGEST_S) from error
    if done.returncode != 0:
        raise PlannerError("The picture could not be drawn.")
    return done.stdout


def main() -> None:
    """Read SVG from standard input and write PNG to standard output."""
    from planner_mcp.render.standalone_map import map_png

    sys.stdout.buffer.write(map_png(sys.stdin.buffer.read().decode()))


if __name__ == "__main__":
    main()
