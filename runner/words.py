"""What the panel of a Run says in its own words: one list for templates and for the live view."""

from functools import cache

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy, override

WORDS: dict[str, Promise] = {
    # Buttons and states
    "run": _("Run"),
    "run_again": _("Run again"),
    "start_fold": _("Where it runs, and what is left of the day"),
    "run_interpreter": _("Run on the interpreter (CPU)"),
    "stop": _("Stop"),
    "cancel": _("Cancel"),
    "stopping": _("Stopping"),
    "checkpoint": _("Checkpoint now"),
    "checkpoint_asked": _("Checkpoint asked for"),
    "checkpoint_written": _("A file has come: {name}."),
    "queued": _("In the queue"),
    "elapsed_attempt": _("{whole}, of them {seconds} in attempt {attempt}"),
    "queue_place": _("In the queue, place {place}"),
    "queue_range": _("Starts in {low} to {high} s."),
    "queue_unknown": _("It starts by itself as soon as a worker is free."),
    "running": _("Running"),
    "offline": _("No connection. What had arrived stays here; the rest follows by itself."),
    "run_gone": _("This Run is no longer here."),
    "failed_request": _("That did not reach the server. Try once more."),
    # Outcomes
    "outcome.passed": _("Passed"),
    "outcome.failed": _("Failed"),
    "outcome.error_in_code": _("Error in the code"),
    "outcome.out_of_memory": _("Out of memory"),
    "outcome.timed_out": _("Time limit reached"),
    "outcome.cancelled": _("Stopped"),
    "outcome.infrastructure_failure": _("A fault on our side"),
    # Cases
    "passed": _("passed"),
    "failed": _("failed"),
    "waiting": _("still to come"),
    "cases": _("Cases"),
    "worst": _("worst element"),
    "got": _("got"),
    "expected": _("expected"),
    "allowed": _("allowed"),
    "error": _("largest error"),
    "tolerance": _("tolerance"),
    "tolerance_value": _("{atol} + {rtol} · |reference|"),
    "at_row_column": _("row {row}, column {column}"),
    "at_index": _("element {index}"),
    "seed": _("seed {seed}"),
    "first_failure": _("First failure: {case}."),
    # The rest of the story
    "log": _("Log"),
    "files": _("Files"),
    "step": _("Step {step}"),
    "run_number": _("Run {id}"),
    "raw_events": _("raw Events"),
    "to_that_run": _("Go to it"),
    "made": _("How this was made"),
    "interpreter": _("Triton’s interpreter on the CPU"),
    "interpreter_short": _("interpreter"),
    "driver": _("driver {version}"),
    "made_seed": _("seed {seed}"),
    "commit": _("commit {commit}"),
    "sandbox": _("sandbox {name}"),
    "no_sandbox": _("no sandbox"),
    "version": _("version {version}"),
    "gpu": _("GPU"),
    "cpu": _("Interpreter (CPU)"),
    # A training
    "stop_save": _("Stop and save"),
    "step_of": _("Step {done} of {total}"),
    "each_step": _("each step"),
    "smoothed": _("smoothed, α = 0.1"),
    "phases": _("Phases of the loss"),
    "phases_hint": _(
        "Read off the smoothed loss, measured against ln V, which guessing scores: names to "
        "read by, not a law."
    ),
    "from_step": _("from step {step}"),
    "mark_restart": _(
        "Step {step}: the worker was lost here. The Run went on by itself from {file}, attempt "
        "{attempt}."
    ),
    "mark_resume": _("Step {step}: goes on from {file}."),
    "no_clipping": _("Nothing is clipped in this Run."),
    "level_norm": _("threshold {level}"),
    "level_gpu-power": _("limit {level}"),
    "warm_up": _("warm-up until step {step}"),
    "megabytes": _("MB"),
    "checkpoints": _("Checkpoints"),
    "smoothed_there": _("smoothed loss {loss}"),
    "best": _("best so far: the lowest smoothed loss"),
    "download": _("Download"),
    "not_kept": _("no longer kept"),
    "not_recorded": _("A recording keeps the names of its checkpoints, not the files."),
    "resume": _("Resume from here"),
    "resume_until": _("until step"),
    "prove": _("Prove it"),
    "prove_about": _("Trains twice, once stopped and resumed, and compares every loss."),
    "continues": _("Goes on from another Run, after step {step}."),
    "before_cut": _(
        "The Runs before told more than is read here: their loss is not drawn whole. Their own "
        "pages have it."
    ),
    "cut_short": _(
        "Drawn from the first {shown} of {total} Events; the file of raw Events has them all."
    ),
    "samples": _("Samples"),
    "sample_place": _("{place} of {total}"),
    "earlier_samples": _("Earlier samples"),
    "previous": _("Previous"),
    "next": _("Next"),
    "score_passes": _("{score} of 100 points: it passes, from {lowest} on"),
    "score_fails": _("{score} of 100 points: it fails, below {lowest}"),
    "score_about": _(
        "The score judges variety: whether word pairs and triples repeat, how many words are "
        "English, how many different characters there are. It does not judge sense: noise that "
        "never repeats passes."
    ),
    "score_part": _("{name}: {points} of {weight}"),
    "replay": _("Replay"),
    "replay_end": _("End the replay"),
    "overlay": _("Laid over each other"),
    "overlay_differs": _("What sets them apart"),
    "overlay_same": _("The same parameters made both."),
    "overlay_smoothed": _("{run}, smoothed"),
    # What to do next, by outcome
    "advice.failed": _("The first failing case is open below."),
    "advice.error_in_code": _("The last lines of the log say where it stopped."),
    "advice.out_of_memory": _("A smaller size fits; what had arrived before is kept."),
    "advice.timed_out": _("The server ended it. What had arrived before is kept."),
    "advice.cancelled": _("What had arrived before is kept."),
    "advice.infrastructure_failure": _("Press Run again: this one is not counted."),
}  # fmt: skip


# What depends on a number: chosen by `n`, on the server here and in the page by its own rules.
COUNTED = {
    "log_cut": ngettext_lazy(
        "{n} line in between is in the downloaded log.",
        "{n} lines in between are in the downloaded log.",
        "n",
    ),
    "clipped": ngettext_lazy(
        "Clipped in {over} of {n} step.", "Clipped in {over} of {n} steps.", "n"
    ),
    "clipped_of_told": ngettext_lazy(
        "Clipped in {over} of the {n} step whose norm is told.",
        "Clipped in {over} of the {n} steps whose norm is told.",
        "n",
    ),
    "count_passed": ngettext_lazy("{n} passed", "{n} passed", "n"),
    "count_failed": ngettext_lazy("{n} failed", "{n} failed", "n"),
    "count_left": ngettext_lazy("{n} to come", "{n} to come", "n"),
    "let_go": ngettext_lazy(
        "{n} more, whose file is no longer kept", "{n} more, whose files are no longer kept", "n"
    ),
    "runs_left": ngettext_lazy(
        "{n} of {limit} Runs left today.", "{n} of {limit} Runs left today.", "n"
    ),
}


@cache
def words(language: str) -> dict[str, str | dict[str, str]]:
    """Every word in that language; what depends on a number has both its forms."""
    with override(language):
        found: dict[str, str | dict[str, str]] = {key: str(text) for key, text in WORDS.items()}
        for key, text in COUNTED.items():
            found[key] = {"one": text % {"n": 1}, "other": text % {"n": 2}}
        return found
