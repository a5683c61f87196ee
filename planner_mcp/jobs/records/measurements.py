"""What the store measures of jobs and webhooks, for all replicas and workers together (SPEC O3).

Owns the names, the bounds of the histograms and the form of a field. The step that makes a change also counts it
(`observe` in `jobs/store/lua/_common.lua`), so that no count is lost with a worker and none is made twice.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

JOB_DURATION: Final = "job_duration"
"""By state in which the job ended; from its first claim to its end."""
QUEUE_WAIT: Final = "queue_wait"
"""From the submission of a job to its first claim."""
FIRST_PLAN: Final = "first_plan"
"""From the first claim of a job to its first verified plan."""
WEBHOOK_ATTEMPT: Final = "webhook_attempt"
"""By outcome: `delivered`, `failed` (another attempt follows) or `dead` (the last one)."""
BOUNDS_MS: Final = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000)
"""Upper bounds of the buckets; beyond the last one is `inf`."""
_SUM: Final = "sum"


@dataclass(slots=True)
class Histogram:
    """Durations of one kind with one label."""

    counts: dict[str, int] = field(default_factory=dict)
    """Observations by bucket, each in one bucket only: upper bound in ms, or `inf`."""
    sum_ms: int = 0

    def cumulative(self) -> Iterator[tuple[str, int]]:
        """Yield each bound in seconds, as Prometheus writes it, with the observations up to it."""
        total = 0
        for bound_ms in BOUNDS_MS:
            total += self.counts.get(str(bound_ms), 0)
            yield str(bound_ms / 1000), total
        yield "+Inf", total + self.counts.get("inf", 0)


def histograms_of(fields: Mapping[str, int]) -> dict[str, dict[str, Histogram]]:
    """Return the histograms by name and label.

    Args:
        fields: As stored: `<name>/<label>/<upper bound in ms, inf or sum>` and a number.
    """
    found: dict[str, dict[str, Histogram]] = defaultdict(lambda: defaultdict(Histogram))
    for text, value in fields.items():
        name, label, bound = text.split("/")
        if bound == _SUM:
            found[name][label].sum_ms = value
        else:
            found[name][label].counts[bound] = value
    return found
