"""Courses, steps, activities and answers."""
