"""Sessions: state, transcript, resume, cost."""
