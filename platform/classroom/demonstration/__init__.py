"""A cohort that shows the classroom at work: thirty made-up learners with answers, Runs, grades.

`renewal` is the door. Nothing here pretends: the cohort is marked, each page of it says so, and
every Run names itself a demonstration where it says how it was made.
"""
