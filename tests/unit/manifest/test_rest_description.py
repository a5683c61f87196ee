"""The OpenAPI document describes what is served, in a form that others read."""

import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import jsonschema
import openapi_spec_validator
import pytest

import manifest
from planner_mcp.errors import FourEyesError, PlannerError, RoutingProviderUnavailableError, error_catalogue
from planner_mcp.routing.scenario.matrix_json_reader import read_travel_matrices
from planner_mcp.server.http.responses.http_responses import status_of
from planner_mcp.server.http.rest.openapi_routes import served_openapi
from planner_mcp.server.http.rest.rest_operations import DOCUMENTS, OPERATIONS
from planner_mcp.server.http.rest.rest_reference import reference_page
from planner_mcp.server.tools.tool_registry import APP_REGISTRY, REGISTRY
from planner_mcp.settings import Settings
from planner_mcp.text import Json


def operations(document: Json) -> Iterator[Json]:
    """Yield every operation."""
    for methods in document["paths"].values():
        yield from methods.values()


@pytest.fixture(scope="module")
def document() -> Json:
    """The committed document."""
    return manifest.read(manifest.OPENAPI_PATH)


def test_it_is_openapi_3_1(document: Json) -> None:
    """SPEC O5: by a validator of others."""
    openapi_spec_validator.validate(document)
    assert document["openapi"] == "3.1.1"


def test_every_tool_is_an_operation_of_its_name(document: Json) -> None:
    """SPEC O5: all but the one that switches sets on for a session, which REST has not."""
    names = [operation["operationId"] for operation in operations(document)]
    tools = {tool.name for tool in (*REGISTRY, *APP_REGISTRY)}
    assert len(set(names)) == len(names)
    assert tools - set(names) == {"enable_toolset"}
    assert {operation.tool.name for operation in OPERATIONS} == tools - {"enable_toolset"}


def test_every_property_of_every_schema_has_a_description(document: Json) -> None:
    """SPEC T6, O5: components, parameters, bodies and answers."""
    assert [
        place for place, field in _properties(document) if not field.get("description") and "$ref" not in field
    ] == []


def _properties(value: Any, place: str = "") -> Iterator[tuple[str, Json]]:
    if isinstance(value, dict):
        fields = value.get("properties")
        if isinstance(fields, dict):
            yield from ((f"{place}/{name}", field) for name, field in fields.items())
        for key, each in value.items():
            yield from _properties(each, f"{place}/{key}")
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _properties(each, f"{place}/{number}")


def test_links_name_operations_and_what_they_take(document: Json) -> None:
    """SPEC O5: the life of a job can be walked."""
    known = {operation["operationId"]: operation for operation in operations(document)}
    for operation in known.values():
        for answer in operation["responses"].values():
            for link in answer.get("links", {}).values():
                taken = {f"{each['in']}.{each['name']}" for each in known[link["operationId"]]["parameters"]}
                assert link.get("parameters", {}).keys() <= taken
    linked = {name for answer in known["solve_vrp"]["responses"].values() for name in answer.get("links", {})}
    assert {"query_vrp_status", "get_plan", "follow_job", "cancel_vrp_job"} <= linked


def test_examples_follow_their_schemas(document: Json) -> None:
    """SPEC O5: an example is what the schema beside it takes."""
    count = 0
    for operation in operations(document):
        for content in operation.get("requestBody", {}).get("content", {}).values():
            if "example" in content:
                schema = {**content["schema"], "components": document["components"]}
                jsonschema.Draft202012Validator(schema).validate(content["example"])
                count += 1
    assert count >= 10


def test_every_status_of_an_error_is_described(document: Json) -> None:
    """RFC 9457: of all codes that a request can meet; 405 and 410 are those of other paths."""
    described = {int(status) for status in document["components"]["responses"]}
    classes = [cls for cls in _errors() if cls.code in error_catalogue()]
    assert {status_of(cls.__new__(cls)) for cls in classes} - described <= {405, 410}


def test_refusals_and_failures_that_pass_are_no_internal_errors() -> None:
    """SPEC T7, A5: who may not do it is forbidden to, and what may be sent again is unavailable."""
    assert [status_of(error) for error in (FourEyesError(), RoutingProviderUnavailableError())] == [403, 503]


def _errors() -> Iterator[type[PlannerError]]:
    pending: list[type[PlannerError]] = [PlannerError]
    while pending:
        yield (cls := pending.pop())
        pending.extend(cls.__subclasses__())


def test_operations_with_a_path_part_decode_no_large_day() -> None:
    """ADR 36: a tool that reads its arguments as text gets all of them in the body."""
    assert [each.path for each in OPERATIONS if each.tool.run_text and (each.filled or each.body_argument)] == []


def test_a_deployment_shows_what_it_serves() -> None:
    """SPEC O5: its address, whether credentials are needed, and the operations of the tools that it allows."""
    bare = served_openapi(Settings(approval="off"))
    assert "propose_plan" not in {operation["operationId"] for operation in operations(bare)}
    assert bare["security"] == []
    full = served_openapi(Settings(approval="on", auth_api_keys=True, public_url="https://planner.example/"))
    assert "propose_plan" in {operation["operationId"] for operation in operations(full)}
    assert (full["servers"], full["security"]) == ([{"url": "https://planner.example"}], [{"bearer": []}])


def test_the_page_shows_every_operation_and_every_code(document: Json) -> None:
    """SPEC O5: without a script and without another site; each type of a problem leads to its row."""
    page = reference_page(document)
    assert [each.path for each in (*OPERATIONS, *DOCUMENTS) if each.path not in page] == []
    assert [code for code in error_catalogue() if f'id="error-{code}"' not in page] == []
    assert "<script" not in page
    assert "http://" not in page and "https://" not in page


def test_calls_on_the_page_can_be_sent_as_they_are_printed(document: Json) -> None:
    """SPEC O5: a file is sent as a file, and a matrix has one in its example."""
    calls = [unescape(call) for call in re.findall(r"curl [^<]*", reference_page(document))]
    file, matrix = (call for call in calls if call.startswith("curl -X PUT"))
    assert file == "curl -X PUT $PLANNER/v1/files/{name} --data-binary @FILE"
    assert '"distances": [[' in matrix


def test_a_matrix_is_uploaded_as_the_document_describes_it(document: Json) -> None:
    """SPEC O5, T11: the members that its reader takes; a client is made from them."""
    body = document["paths"]["/v1/matrices"]["put"]["requestBody"]["content"]["application/json"]
    both = {**body["example"], "durations": [[0, 90], [95, 0]]}
    assert both.keys() == body["schema"]["properties"].keys()
    for tables in (body["example"], both):
        jsonschema.validate(tables, body["schema"])
        assert read_travel_matrices(json.dumps(tables), max_locations=2).locations == ("D", "A")


def test_each_kind_of_notification_has_a_name(document: Json) -> None:
    """SPEC O5, J3: generators of clients leave out schemas that have none."""
    kinds = document["components"]["schemas"]["Notification"]["oneOf"]
    assert [kind["$ref"].rpartition("/")[2].removesuffix("Notification") for kind in kinds] == [
        *("Progress", "Complete", "Cancelled", "Review")
    ]
    assert json.dumps(document).count('"notifications/complete"') == 1
