"""Audit log, API keys, rate limits and encryption of stored secrets in Redis."""
