"""Composes resources, prompts and the completion of their arguments."""

from collections.abc import Callable
from dataclasses import dataclass

from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import Principal
from planner_mcp.server.mcp.kernel import ServerFeature
from planner_mcp.server.mcp.methods.app_extension import EXTENSION as APPS
from planner_mcp.server.mcp.methods.argument_completion import Completion
from planner_mcp.server.mcp.methods.extension_capability import ExtensionCapability
from planner_mcp.server.mcp.methods.page_cursors import Cursors
from planner_mcp.server.mcp.methods.prompt_methods import Prompts
from planner_mcp.server.mcp.methods.resource_methods import Resources
from planner_mcp.server.mcp.methods.skill_methods import Skills
from planner_mcp.server.mcp.methods.tool_annotations import CallbackSupport
from planner_mcp.server.resources.resource_definition import ReadContext
from planner_mcp.translation import Language


@dataclass(frozen=True, slots=True)
class ContentFeatures:
    """The library of a deployment."""

    job_service: JobService
    cursors: Cursors
    open_reading: Callable[[Principal], ReadContext]
    """Returns what a principal reads resources from."""
    language: Language
    """Of titles, descriptions and prompts."""

    def features(self) -> list[ServerFeature]:
        """Return what the kernel is to serve."""
        return [
            Resources(self.open_reading, self.cursors, self.language),
            Prompts(self.cursors, self.job_service.imports, self.language),
            Completion(self.job_service),
            CallbackSupport(),
            ExtensionCapability(APPS),
            Skills(self.cursors),
        ]
