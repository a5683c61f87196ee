"""What can be read beside tools, put together: resources, prompts, and the completion of their arguments."""

from collections.abc import Callable
from dataclasses import dataclass

from planner_mcp.jobs.model import Principal
from planner_mcp.jobs.service import Planner
from planner_mcp.protocol.kernel import Feature
from planner_mcp.protocol.methods.annotations import CallbackSupport
from planner_mcp.protocol.methods.completion import Completion
from planner_mcp.protocol.methods.cursors import Cursors
from planner_mcp.protocol.methods.prompts import Prompts
from planner_mcp.protocol.methods.resources import Resources
from planner_mcp.resources.base import Reading


@dataclass(frozen=True, slots=True)
class Library:
    """The library of a deployment."""

    planner: Planner
    cursors: Cursors
    open_reading: Callable[[Principal], Reading]
    """Returns what a principal reads resources from."""

    def features(self) -> list[Feature]:
        """Return what the kernel is to serve."""
        return [
            Resources(self.open_reading, self.cursors),
            Prompts(self.cursors),
            Completion(self.planner),
            CallbackSupport(),
        ]
