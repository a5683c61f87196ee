"""Texts made to take long (SPEC T7, X3)."""

import time

import pytest

from planner_mcp.addresses.offline_resolver import MAX_TEXT, resolve_offline
from planner_mcp.addresses.place_data import place_data
from planner_mcp.addresses.western_addresses import MAX_CITY_WORDS

BATCH = 100
MOST_S = 2.0
"""CPU of a batch; it was 3.5 s for hyphens while every beginning of a name was looked up."""
TOKENS = ("-", " é", "é-", "-（", " ，", "1", "a ", "St ", "区", "室street", "12-34/", "#", "New 朝阳区")


@pytest.mark.parametrize("token", TOKENS)
def test_a_batch_of_the_longest_texts_is_quick(token: str) -> None:
    """SPEC X3: a hundred texts of one token each, as long as they may be."""
    place_data()
    text = (token * MAX_TEXT)[:MAX_TEXT]
    began = time.process_time()
    assert len(resolve_offline([text] * BATCH)) == BATCH
    assert time.process_time() - began <= MOST_S


def test_no_city_has_more_words_than_are_looked_up() -> None:
    """Our choice: the data is written anew each year."""
    assert max(len(name.split()) for name in place_data().cities) <= MAX_CITY_WORDS
