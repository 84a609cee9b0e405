"""Permissions: the invariants that no plugin can weaken."""
