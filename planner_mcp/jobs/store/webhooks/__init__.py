"""Webhook deliveries and endpoints in Redis."""
