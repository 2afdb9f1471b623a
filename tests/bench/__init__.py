"""What the issue promises in figures, measured here and printed as tables: `make bench`."""
