"""Plugins: what is installed, what is on, and how it is loaded."""
