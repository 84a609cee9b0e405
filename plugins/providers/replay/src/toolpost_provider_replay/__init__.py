"""Plays a recorded model, and records one."""
