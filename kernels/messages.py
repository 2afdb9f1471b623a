"""Every sentence that a Procedure says, by code, in English.

The site extracts the templates (`gettext_noop` marks them), translates them and fills the
{placeholders}; a terminal fills them in English with `sentence`.
"""

from kernels.andrea.messages import ANDREA
from kernels.andrea.messages_checks import CHECKS
from kernels.events import Note
from kernels.marking import Counted, counted, gettext_noop
from kernels.rmsnorm_messages import RMSNORM


def sentence(note: Note) -> str:
    """The note in English. A code without a template shows itself and its parameters."""
    template = MESSAGES.get(note.code)
    if template is None:
        return " ".join([note.code, *(f"{key}={value}" for key, value in note.params.items())])
    if isinstance(template, Counted) and note.params.get(template.by) == 1:
        template = template.one
    return template.format(**{key: plain(value) for key, value in note.params.items()})


def plain(value: str | int | float) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


MESSAGES: dict[str, str] = (
    RMSNORM
    | ANDREA
    | CHECKS
    | {
        "made": gettext_noop("Running on {device_name}."),
        # Outcomes
        "outcome.passed": gettext_noop("Passed."),
        "outcome.failed": gettext_noop("Failed."),
        "outcome.error_in_code": gettext_noop("The code has an error."),
        "outcome.out_of_memory": gettext_noop("Out of memory."),
        "outcome.timed_out": gettext_noop("The time limit was reached."),
        "outcome.cancelled": gettext_noop("Stopped on request."),
        "outcome.infrastructure_failure": gettext_noop(
            "A fault on our side. It does not count against you."
        ),
        "end.cases": counted(
            "total", "{passed} of {total} case passed.", "{passed} of {total} cases passed."
        ),
        "end.grid-cases": gettext_noop(
            "{passed} of {total} cases passed, and {special_passed} of {special} special inputs."
        ),
        "end.stopped": counted(
            "done",
            "Stopped on request, after {done} case.",
            "Stopped on request, after {done} cases.",
        ),
        "end.fault": gettext_noop("A fault on our side ({error}). It does not count against you."),
        "end.not-written": gettext_noop("{file} could not be written: {reason}."),
        "end.something-not-written": gettext_noop(
            "A file of the Run could not be written: {reason}."
        ),
        "end.error-in-code": gettext_noop("The code has an error: {error}"),
        "end.out-of-memory": gettext_noop("The device ran out of memory."),
        # Said by the worker of a site about a child process
        "end.cancelled-in-queue": gettext_noop("Cancelled before it started."),
        "end.cancelled-by-sign-in": gettext_noop(
            "Ended by signing in: your account had a Run of its own in progress."
        ),
        "end.killed": gettext_noop("Stopped on request; it did not end by itself and was killed."),
        "end.timed-out": gettext_noop("The time limit of {seconds} s was reached."),
        "end.memory-limit": gettext_noop(
            "It used more than the {megabytes} MB of memory it may have."
        ),
        "end.file-too-large": gettext_noop("It wrote a file larger than it may."),
        "end.crashed": gettext_noop(
            "The process crashed ({signal}): the code touched memory that is not its own, "
            "or aborted itself."
        ),
        "end.vanished": gettext_noop(
            "The process ended without a result (status {status}), for a reason outside the code. "
            "It does not count against you."
        ),
        "end.worker-lost": gettext_noop(
            "The worker that ran it was lost. It does not count against you: start it again."
        ),
        "end.nobody-came": gettext_noop(
            "No worker took it for hours. It does not count against you: start it again later."
        ),
        "log.restarted": gettext_noop(
            "The worker was lost. The Run starts again from the beginning (attempt {attempt})."
        ),
        "log.resumed-after-restart": gettext_noop(
            "The worker was lost. The Run goes on after step {step}, from {file} "
            "(attempt {attempt})."
        ),
        "log.handed-back": gettext_noop(
            "The worker is being stopped. Another one goes on from the last checkpoint."
        ),
        "log.checkpoint-damaged": gettext_noop(
            "The file {file} is not what was stored, and is passed over."
        ),
        "end.resume-gone": gettext_noop(
            "The checkpoint {file} that it was to go on from is no longer there. "
            "It does not count against you."
        ),
        "log.event-too-long": gettext_noop("An Event was too large and is left out."),
        "log.event-malformed": gettext_noop("Something that is no Event was sent and is left out."),
        "log.events-dropped": counted(
            "count",
            "Too many Events: {count} of them is left out.",
            "Too many Events: {count} of them are left out.",
        ),
        "log.artifact-missing": gettext_noop("The file {name} was announced, but is not there."),
        "log.artifact-bad-name": gettext_noop("A file has a name that cannot be used: {name}"),
        "log.artifact-twice": gettext_noop("The file {name} was announced a second time."),
        "log.artifact-too-large": gettext_noop("The file {name} is too large to be kept."),
        "log.artifact-too-many": gettext_noop("The file {name} is one file too many to be kept."),
        "log.artifact-not-stored": gettext_noop(
            "The file {name} could not be stored: a fault on our side. The Run goes on."
        ),
        "log.cut": gettext_noop(
            "More than {kilobytes} kB of output: the rest is in the log file, its end below."
        ),
        "log.truncated": gettext_noop("{kilobytes} kB of output are not shown here."),
        # Devices
        "refusal.no-gpu": gettext_noop("This machine has no usable GPU."),
        "refusal.needs-gpu": gettext_noop(
            "This Procedure needs a GPU: a timing made on Triton’s interpreter would say nothing "
            "about a kernel."
        ),
    }
)
