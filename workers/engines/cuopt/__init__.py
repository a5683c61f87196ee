"""cuOpt, the routing solver of NVIDIA on a GPU, asked over its REST form. Nothing of it is installed here."""
