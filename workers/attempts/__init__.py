"""One claim of a job: the attempt to solve it, and what is reported to the store."""
