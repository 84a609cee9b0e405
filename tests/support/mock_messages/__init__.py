"""The parts of the mock Messages API."""
