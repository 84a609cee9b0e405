"""Bash: run a shell command."""
