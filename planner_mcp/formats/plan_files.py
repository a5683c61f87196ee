"""A plan and its scenario read back from files of JSON.

Owns what is looked at in such files: they may be masked, and older than this version.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, RootModel, ValidationError

from planner_mcp.errors import input_error
from planner_mcp.routing.plan import Plan, PlanJson
from planner_mcp.routing.scenario.scenario_model import Location
from planner_mcp.routing.scenario.schema_faults import faults_of
from planner_mcp.routing.scenario.shown_scenario import ShownScenario, as_shown


def read_plan(data: Any) -> PlanJson:
    """Return a plan that was written as JSON; what a plan does not name stays, and masked costs.

    What the file does not say is not added: an older one has no overtime, which is not an overtime of 0.

    Raises:
        InputError: All that is wrong with it.
    """
    try:
        read = _Written.model_validate(data).root.as_json()
    except ValidationError as error:
        raise input_error(faults_of(error, _Written, data)) from None
    return dict(_whole(data, read))


class _Written(RootModel[Plan]):
    """A plan as it stands in a file."""

    model_config = ConfigDict(allow_inf_nan=False)


def _whole(given: Any, read: Any) -> Any:
    """Return what was read of a value, with what its reader passed over: unknown names, and nulls."""
    if isinstance(given, dict):
        return {name: _whole(each, read[name]) if name in read else each for name, each in given.items()}
    if isinstance(given, list):
        return [_whole(*pair) for pair in zip(given, read, strict=True)]
    return None if given is None else read


def read_places(data: Any) -> ShownScenario:
    """Return a scenario that was written as JSON; only what an export needs of it is looked at, as it may be masked.

    Raises:
        InputError: It is no scenario, or all that is wrong with its places.
    """
    try:
        _ScenarioPositions.model_validate(data)
    except ValidationError as error:
        raise input_error(faults_of(error, _ScenarioPositions, data)) from None
    return as_shown(data)


class _TravelHeader(BaseModel):
    """What `travel` says of positions."""

    crs: Literal["wgs84", "gcj02", "bd09"] = "wgs84"


class _ScenarioPositions(BaseModel):
    """What distinguishes a scenario from another file, and its positions."""

    agents: list[Any]
    tickets: list[Any]
    locations: tuple[Location, ...] = ()
    travel: _TravelHeader = _TravelHeader()
