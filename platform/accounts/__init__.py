"""People: guests and accounts, their language, the export and erasure of their data."""
