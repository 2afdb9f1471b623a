"""Cohorts, the grading queue, the gradebook: what instructors do with Answers and Runs."""
