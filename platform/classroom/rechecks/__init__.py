"""Re-checks: after a key or a check was put right, every stored answer, or every Run, once more.

`asking` holds what an instructor does (start, apply, stop, go on, give up), `working` takes one
slice of what is open and is called again and again by the process that tends Runs, `reading`
says how it stands, and `learners` what the people concerned are told.
"""
