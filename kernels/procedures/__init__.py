"""The Procedures, one folder a course. A folder's `__init__` declares them and needs no torch."""
