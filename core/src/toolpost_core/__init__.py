"""The kernel and the command line."""
