"""Starts processes and ends whole process trees."""
