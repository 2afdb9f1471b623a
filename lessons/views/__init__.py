"""The pages of the lessons, thin: what they do is in progress, answers, checking and content."""
