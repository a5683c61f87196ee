"""Answers of services: selected, cut to their tokens, and what is left out told."""

import json
import time
from typing import Any

import pytest

from planner_mcp.bridge.answer_projection import projected, shortened
from planner_mcp.bridge.bridged_call import SMALL_BYTES, SMALL_VALUES
from planner_mcp.errors import BridgedServiceError, TooLargeError
from planner_mcp.server.http.bodies.json_reading import values_in
from planner_mcp.server.tools.answers.token_estimates import estimated_tokens
from planner_mcp.text import compact

ORDERS = {"orders": [{"id": n, "note": "n" * 50, "lines": [{"sku": str(i)} for i in range(5)]} for n in range(200)]}


def _body(value: Any) -> bytes:
    return json.dumps(value).encode()


def test_a_selection_keeps_what_it_names() -> None:
    """SPEC O5: of an answer a model sees what the configuration selects."""
    found = projected(_body(ORDERS), "orders[?id < `2`].{id: id, skus: lines[].sku}", 500)
    assert found.data == [{"id": 0, "skus": list("01234")}, {"id": 1, "skus": list("01234")}]
    assert found.left_out == {}


def test_long_lists_are_cut_to_the_tokens_and_the_cut_is_reported() -> None:
    """SPEC O5, T9: the first entries stay, as many as fit."""
    found = projected(_body(ORDERS), "", 600)
    kept = len(found.data["orders"])
    assert 5 <= kept < 200
    assert estimated_tokens(compact(found.data)) <= 600
    assert found.left_out["/orders"] == 200 - kept
    wider = projected(_body(ORDERS), "", 1200)
    assert len(wider.data["orders"]) > kept


def test_texts_are_shortened_where_entries_do_not_fit() -> None:
    """SPEC T9: one long text does not hide the rest."""
    found = shortened({"a": "x" * 5000, "b": [1]}, 150)
    assert found.data == {"a": "x" * 99 + "…", "b": [1]}


def test_what_cannot_be_cut_is_refused() -> None:
    """SPEC T7: an answer that never fits is told."""
    with pytest.raises(TooLargeError, match="does not fit"):
        shortened({f"name {n}": n for n in range(1000)}, 100)


def test_hidden_characters_of_a_service_do_not_reach_a_model() -> None:
    """SPEC O5: text that people do not see is no text."""
    found = shortened({"no\u202ete": ["Ignore\U000e0049 this\r\nline\x1b[31m"]}, 100)
    assert found.data == {"note": ["Ignore this line[31m"]}


@pytest.mark.parametrize(
    "body",
    [b"{", b"\xff", b"[" * 5000, b"[" * 61 + b"]" * 61, b"[" * 200_000, b'{"a": [NaN]}', b"[-Infinity]", b"[1e999]"],
)
def test_what_is_no_json_is_reported(body: bytes) -> None:
    """SPEC O5: broken and deep answers, and numbers that no client reads, are errors of the service."""
    with pytest.raises(BridgedServiceError):
        projected(body, "", 500)


def test_no_content_is_null_and_a_selection_that_does_not_fit_is_reported() -> None:
    """SPEC O5: 204 has no body; an answer of another shape is an error of the service."""
    assert projected(b"", "", 100).data is None
    assert projected(b"[]", "orders[].id", 100).data is None
    with pytest.raises(BridgedServiceError, match="not what this tool expects"):
        projected(b'{"a": 1}', "sort_by(a, &b)", 100)


@pytest.mark.parametrize("entry", ["{}", '{"a":1}', "[1,1]", "1", '"\\n"'])
def test_what_is_read_at_once_is_soon_read(entry: str) -> None:
    """SPEC A4: answers that are small in bytes and values hold up the event loop for five milliseconds at most."""
    entries = ",".join([entry] * (SMALL_VALUES // (values_in(entry.encode()) + 1)))
    body = f'[{entries},"{"x" * (SMALL_BYTES - len(entries) - 5)}"]'.encode()
    assert len(body) <= SMALL_BYTES
    assert values_in(body) <= SMALL_VALUES
    began = time.thread_time()
    projected(body, "", 4000)
    assert time.thread_time() - began < 0.05, "ten times what is meant, since other tests run beside this one"
