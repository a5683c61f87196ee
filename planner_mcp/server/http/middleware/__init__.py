"""Layers around every route: validation of requests, authentication, authorization, audit, language."""
