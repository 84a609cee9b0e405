"""An offline demonstration with a recorded model."""
