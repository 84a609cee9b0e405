"""Lifecycle events: the one place where listeners are called."""
