"""Pages of launches, and of what a cohort has to do with platforms."""
