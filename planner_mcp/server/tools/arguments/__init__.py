"""Resolves the arguments of a call: checks, lookups by id, patches, travel matrices and prices.

Shared by several tools; it does not import `answers`.
"""
