"""Tools: which there are, when a call may start, and the thirteen steps of one call."""
