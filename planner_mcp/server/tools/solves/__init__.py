"""Tools that start jobs: plan a day, plan it again, try other plans and changes of it, prove a plan."""
