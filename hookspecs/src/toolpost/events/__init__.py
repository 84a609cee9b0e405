"""The lifecycle events, by subject. `toolpost.on` has the decorators, `toolpost` the event and outcome types."""
