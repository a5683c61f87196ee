"""What one principal may do to another (SPEC A3, X3; ADR 0036): how long answers take, and how much memory it costs."""

from typing import Final

from benchmarks.hostile_bodies import AttackFigures

CALL_MS: Final = 250.0
HEALTH_MS: Final = 100.0
MEMORY_MIB: Final = 200.0
"""Beside three times the bytes in flight, and what may be left half a minute later."""
ACCEPTED: Final = frozenset({"200", "201", "400", "413", "429"})
"""How the attacker may be answered; never by a dropped connection."""


def faults_of(figures: AttackFigures) -> list[str]:
    """Return which bounds an attack broke."""
    bounds = {
        "call": figures.call_p99_ms <= CALL_MS,
        "health": figures.health_p99_ms <= HEALTH_MS,
        "memory": figures.memory_mib <= 3 * figures.sent_mib + MEMORY_MIB,
        "memory kept": figures.memory_after_mib <= MEMORY_MIB,
        "answers": set(figures.answers) <= ACCEPTED,
        "bystander": figures.failed_calls == 0,
    }
    return [name for name, holds in bounds.items() if not holds]
