"""The turn loop."""
