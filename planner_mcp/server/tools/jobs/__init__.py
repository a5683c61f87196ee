"""Tools on a job: where it stands, how its search goes, and its end."""
