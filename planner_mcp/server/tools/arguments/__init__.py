"""From what a call says to what a tool works on: guarded, looked up, under its patch, its tables and prices at hand.

What several tools are made of; no tool stands here. Knows nothing of `answers`.
"""
