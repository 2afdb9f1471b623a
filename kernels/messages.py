"""Every sentence that a Procedure says, by code, in English.

The site extracts the templates (`gettext_noop` marks them), translates them and fills the
{placeholders}; a terminal fills them in English with `sentence`.
"""

from kernels.events import Note


def gettext_noop(text: str) -> str:
    """Mark a text for extraction without needing a translation library here."""
    return text


def sentence(note: Note) -> str:
    """The note in English. A code without a template shows itself and its parameters."""
    template = MESSAGES.get(note.code)
    if template is None:
        return " ".join([note.code, *(f"{key}={value}" for key, value in note.params.items())])
    return template.format(**{key: plain(value) for key, value in note.params.items()})


def plain(value: str | int | float) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


MESSAGES: dict[str, str] = {
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
    "end.cases": gettext_noop("{passed} of {total} cases passed."),
    "end.grid-cases": gettext_noop(
        "{passed} of {total} cases passed, and {special_passed} of {special} special inputs."
    ),
    "end.stopped": gettext_noop("Stopped on request, after {done} cases."),
    "end.fault": gettext_noop("A fault on our side ({error}). It does not count against you."),
    "end.error-in-code": gettext_noop("The code has an error: {error}"),
    "end.out-of-memory": gettext_noop("The device ran out of memory."),
    # Devices
    "refusal.no-gpu": gettext_noop("This machine has no usable GPU."),
    "refusal.needs-gpu": gettext_noop(
        "This Procedure needs a GPU: a timing made on Triton’s interpreter would say nothing "
        "about a kernel."
    ),
    # Refusals of the contract
    "refusal.rank": gettext_noop(
        "x must have two dimensions [M, N] and gamma one [N]; they have {x} and {gamma}."
    ),
    "refusal.gamma-length": gettext_noop(
        "gamma has {gamma} elements where x has {columns} columns."
    ),
    "refusal.empty": gettext_noop(
        "x has {rows} rows and {columns} columns: there is nothing to normalise, and a "
        "launch needs at least one program."
    ),
    "refusal.dtype": gettext_noop("{tensor} is {dtype}; this version accepts {accepted}."),
    "refusal.not-contiguous": gettext_noop(
        "{tensor} is not contiguous. The kernel finds row r at r × N, so a strided view "
        "would be read from the wrong place."
    ),
    "refusal.devices": gettext_noop(
        "x is on {x} and gamma on {gamma}; both must be on one device."
    ),
    "refusal.epsilon": gettext_noop(
        "epsilon is {epsilon}; it must be a finite number greater than zero."
    ),
    "refusal.columns": gettext_noop(
        "x has {columns} columns; this version accepts at most {limit}."
    ),
    "refusal.scratch": gettext_noop(
        "The backward pass would need {bytes} bytes of scratch (M × N × 4); the limit is {limit}."
    ),
    "refusal.double-backward": gettext_noop(
        "This version has a single backward pass; create_graph=True is not supported."
    ),
    "refusal.dy-shape": gettext_noop("dy has the shape {dy}; x has {x}."),
    "refusal.dy-dtype": gettext_noop("dy is {dy}; x is {x}."),
    "refusal.dy-device": gettext_noop("dy is on {dy}; x is on {x}."),
    # Why a case failed, told from its numbers
    "why.input-changed": gettext_noop("The kernel wrote into its input {tensor}."),
    "why.outside": gettext_noop(
        "Memory beside {tensor} was overwritten: a store without a mask, or a wrong row address."
    ),
    "why.nothing-written": gettext_noop(
        "No element was written: the NaN put there beforehand is still in place."
    ),
    "why.only-first-row": gettext_noop("Only row 0 was written; {rows} rows were due."),
    "why.not-written": gettext_noop(
        "{count} of {total} elements hold NaN: not written, or computed from NaN."
    ),
    "why.by-block": gettext_noop(
        "Every row is off by the factor {factor} = √(BLOCK/N) = √({block}/{columns}): the "
        "mean divides by BLOCK, not by N."
    ),
    "why.no-mask": gettext_noop(
        "The row sum includes elements of the next row: the lanes from N on are not masked."
    ),
    "why.no-root": gettext_noop("r is 1/(mean + ε): the square root is missing."),
    "why.zeros": gettext_noop("Every element is zero."),
    "why.overflow": gettext_noop(
        "Every element is zero although x reaches {largest}: squares beyond 65,504 overflow "
        "FP16. Convert to FP32 before squaring."
    ),
    "why.no-gamma": gettext_noop("This is the result without gamma."),
    "why.mean-subtracted": gettext_noop("The mean was subtracted: this is a LayerNorm."),
    "why.mean-ux-by-block": gettext_noop(
        "mean(u·x) divides by BLOCK ({block}), not by N ({columns})."
    ),
    "why.r-squared": gettext_noop("The second term has r² where r³ is due."),
    "why.no-second-term": gettext_noop("The second term, −x·r³·mean(u·x), is missing."),
    "why.wrong-sign": gettext_noop("The second term is added where it must be subtracted."),
    "why.mean-not-sum": gettext_noop(
        "Every element is {rows} times too small: a mean over the rows where a sum is due."
    ),
    "why.first-row-only": gettext_noop("Only row 0 of {rows} reached dgamma."),
    "why.first-tile-only": gettext_noop("Only the first {tile} of {rows} rows reached dgamma."),
    "why.no-inverse": gettext_noop("dgamma lacks the factor r: it sums dy·x."),
    "why.gamma-twice": gettext_noop(
        "dgamma was multiplied by gamma; it is the gradient before that product."
    ),
    "why.not-finite": gettext_noop("{count} of {total} elements are infinite or NaN."),
    "why.rows-scaled": gettext_noop(
        "Each row is scaled by one factor, between {low} and {high}: r is wrong and the rest "
        "is right."
    ),
    "why.outside-tolerance": gettext_noop(
        "The error is larger than the tolerance declared beforehand."
    ),
    # Procedures
    "procedure.rmsnorm.check-forward.title": gettext_noop("Forward pass against the oracle"),
    "procedure.rmsnorm.check-forward.about": gettext_noop(
        "72 inputs and the special ones: y and r of the kernel, compared with a float64 oracle."
    ),
}
