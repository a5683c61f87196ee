"""Signatures before the Node receiver (SPEC W1)."""

import json
import random
import time

import pytest

from planner_mcp.jobs.webhooks import webhook_signing
from tests.integration.jobs.webhooks import node_receiver
from tests.shared.node import node_packages
from tests.shared.property_tests.example_counts import example_count

pytestmark = [pytest.mark.node, pytest.mark.skipif(not node_packages.IS_THERE, reason="needs node and npm")]
PLANES = [(32, 127), (0xA0, 0xD800), (0x10000, 0x110000)]


def test_bodies_of_any_text_verify_in_node() -> None:
    """SPEC W1: a second independent receiver; on the current or on the old secret while one rotates."""
    dice, count = random.Random(20261121), example_count(10_000)
    secrets = [webhook_signing.new_secret(dice.randbytes(32)) for _ in range(2)]
    deliveries = []
    for number in range(count):
        text = "".join(chr(dice.randrange(*dice.choice(PLANES))) for _ in range(dice.randrange(40)))
        body = json.dumps({"text": text}, ensure_ascii=False)
        headers = webhook_signing.headers(secrets, f"job-{number}", int(time.time()), body.encode())
        deliveries.append((dice.choice(secrets), headers, body))
    assert node_receiver.verified(deliveries) == count
