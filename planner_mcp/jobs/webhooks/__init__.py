"""How news travels: the events of a job, following them, and signed webhooks."""
