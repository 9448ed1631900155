"""Starting a program: its user, its environment, its limits, and waiting for free resources."""
