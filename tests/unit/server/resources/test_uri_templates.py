"""URIs of resources are read exactly or not at all (SPEC R1)."""

import re

import pytest

from planner_mcp.server.resources.resource_catalogue import TEMPLATES, Template
from planner_mcp.server.resources.uri_templates import variables_of

NAME = "0-abcdefghijklmnopqrstuvwxyz"
FILLED = {
    "scenario_id": f"scn-{NAME}",
    "job_id": f"job-{NAME}",
    "plan_id": f"plan-{NAME}",
    "status": "completed",
    "route": "3",
    "page": "2",
    "size": "10",
    "date": "2026-11-21",
    "file": "sheets.html",
}


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda each: each.uri_template)
def test_a_filled_template_is_read_back(template: Template) -> None:
    """SPEC R1: each URI belongs to one template."""
    uri = re.sub(r"\{(\w+)\}", lambda match: FILLED[match[1]], template.uri_template)
    (found,) = [each for each in TEMPLATES if variables_of(each, uri) is not None]
    assert found is template
    assert variables_of(found, uri) == {name: FILLED[name] for name in re.findall(r"\{(\w+)\}", template.uri_template)}


def test_page_and_size_may_be_left_out() -> None:
    """SPEC R1: `jobs://vrp/status/{status}?page={page}&size={size}`."""
    for query in ("", "?page=2", "?size=5", "?size=5&page=2"):
        assert [each for each in TEMPLATES if variables_of(each, f"jobs://vrp/status/failed{query}") is not None]


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "job://",
        "job://job-0-short",
        f"JOB://job-{NAME}",
        f"job://JOB-{NAME}",
        f"job://job-{NAME}/",
        f"job://job-{NAME}?x=1",
        f"job://job-{NAME}\n",
        f"job://plan-{NAME}",
        f"plan://plan-{NAME}/map.gif",
        f"plan://plan-{NAME}/../map.svg",
        f"scenario://scn-{NAME}/result/x",
        f"scenario://scn-%30-{NAME[2:]}",
        "jobs://vrp/status/",
        "jobs://vrp/status/failed?",
        "jobs://vrp/status/failed?page=0",
        "jobs://vrp/status/failed?page=-1",
        "jobs://vrp/status/failed?page=1&page=2",
        "jobs://vrp/status/failed?page=1;size=2",
        "jobs://vrp/status/failed?page=1&other=2",
        "jobs://vrp/status/failed?page=%31",
        "jobs://vrp/status/failed?page=1000000",
        "jobs://vrp/status/failed?after=1",
        "jobs://other/status/failed",
        "logs://vrp/2026-11-21/x",
        "logs://vrp/today",
        "logs://vrp/2026-11-21?after=x",
        "http://example.org/",
        "job://" + "a" * 5000,
    ],
)
def test_what_is_merely_similar_names_nothing(uri: str) -> None:
    """SPEC R1: no second spelling of anything."""
    assert [each for each in TEMPLATES if variables_of(each, uri) is not None] == []
