"""Signed webhooks: signing, the guarded client, endpoints and deliveries."""
