"""Engines on problems whose travel times depend on the hour."""
