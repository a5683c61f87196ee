"""Addresses asked of online services, behind one interface; what they answer is judged like everything else."""
