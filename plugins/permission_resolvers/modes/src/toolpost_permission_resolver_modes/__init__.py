"""Permission modes."""
