"""Tools that start jobs: a day planned, planned again, otherwise, or proved."""
