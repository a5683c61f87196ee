"""Tools on a caller's webhooks."""
