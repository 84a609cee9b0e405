"""What `docs/generate.py` writes the pages with."""
