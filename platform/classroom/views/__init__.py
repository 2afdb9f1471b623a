"""The pages of a cohort, one module an area."""
