"""Sessions on disk: what is written, how it is read again, found, copied, shown and removed."""
