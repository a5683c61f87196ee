"""A plan as a picture: map, timeline, report. Pure: a scenario and a plan go in, text or bytes come out."""
