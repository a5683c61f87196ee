"""Builds results and their text: pages, lines and errors, each within its token budget, and measures their cost.

Shared by several tools; it does not import `arguments`.
"""
