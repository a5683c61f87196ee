"""The Node receiver of the Standard Webhooks authors, beside the Python one."""

import json
import subprocess
from collections.abc import Iterable

from tests.shared.node.node_packages import FOLDER, install


def verified(deliveries: Iterable[tuple[str, dict[str, str], str]]) -> int:
    """Return how many `(secret, headers, body)` the receiver accepts; it stops at the first it refuses."""
    install()
    lines = [json.dumps({"secret": secret, "headers": headers, "body": body}) for secret, headers, body in deliveries]
    done = subprocess.run(
        ["node", "verify.mjs"], cwd=FOLDER, input="\n".join(lines), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)
