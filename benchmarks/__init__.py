"""Benchmarks of latency, throughput, start-up and plans, and the reading of published instances."""
