"""Constructive heuristics and small searches that several engines share."""
