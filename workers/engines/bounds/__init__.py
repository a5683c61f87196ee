"""Lower bounds on the cost of a day by column generation, and the proof that a plan is optimal."""
