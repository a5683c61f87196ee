"""The lease of the server that many tests share."""

from typing import Final

PATIENT_LEASE: Final = {"PLANNER_LEASE_S": "60"}
"""A setting that all processes on one store must agree on: on a busy machine a worker is silent for seconds, and keeps
its job."""
