"""Signatures before the Node receiver (SPEC W1)."""

import json
import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from planner_mcp.notify import webhooks

NODE_TESTS = Path(__file__).parents[2] / "node"
pytestmark = [
    pytest.mark.node,
    pytest.mark.skipif(not (shutil.which("node") and shutil.which("npm")), reason="needs node and npm"),
]
PLANES = [(32, 127), (0xA0, 0xD800), (0x10000, 0x110000)]


def test_ten_thousand_bodies_verify_in_node() -> None:
    """SPEC W1, issue 3: a second independent receiver; on the current or on the old secret while one rotates."""
    if not (NODE_TESTS / "node_modules" / "standardwebhooks").is_dir():
        subprocess.run(["npm", "ci", "--loglevel=error"], cwd=NODE_TESTS, check=True, timeout=100)
    dice = random.Random(20261121)
    secrets = [webhooks.new_secret(dice.randbytes(32)) for _ in range(2)]
    lines = []
    for number in range(10_000):
        text = "".join(chr(dice.randrange(*dice.choice(PLANES))) for _ in range(dice.randrange(40)))
        body = json.dumps({"text": text}, ensure_ascii=False)
        headers = webhooks.headers(secrets, f"job-{number}", int(time.time()), body.encode())
        lines.append(json.dumps({"secret": dice.choice(secrets), "headers": headers, "body": body}))
    done = subprocess.run(
        ["node", "verify.mjs"], cwd=NODE_TESTS, input="\n".join(lines), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == 10_000
