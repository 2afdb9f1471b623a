"""Courses as files: read strictly, rendered per language, checked before they are shown."""
