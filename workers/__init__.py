"""The processes that solve: claim a job, run it in a child, stream what is found, finish it once."""
