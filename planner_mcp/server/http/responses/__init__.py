"""Answers: JSON and errors, public documents, event streams, and the media types they are asked in."""
