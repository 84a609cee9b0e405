"""Allow, ask and deny rules of the settings."""
