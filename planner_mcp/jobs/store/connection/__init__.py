"""Connections to Redis: scripts, clusters, replication and the translation of Redis errors."""
