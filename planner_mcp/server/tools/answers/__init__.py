"""From what a tool found to what a client reads: pages, lines, errors, each within its budget, and what they cost.

What several tools are made of; no tool stands here. Knows nothing of `arguments`.
"""
