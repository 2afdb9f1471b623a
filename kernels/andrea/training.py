"""Training: the loop around the engine, its files, its samples and its signals.

The loss of a step is read while the next one runs. With every checkpoint that is handed out goes
what another process needs to go on from it: state, losses and samples so far.

A signal only raises a flag, looked at after each step: SIGUSR1 (context.checkpoint) writes a
checkpoint and goes on, SIGTERM (context.stop) writes one and ends. That changes nothing after it.
"""

import math
from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any

import torch

from kernels.andrea import batches, checkpoint
from kernels.andrea.config import Config, Precision
from kernels.andrea.corpus import Corpus, text_of
from kernels.andrea.engine import Engine
from kernels.andrea.gauges import Gauges
from kernels.andrea.history import History, finite
from kernels.andrea.host import HostSlot
from kernels.andrea.initial import state as initial_state
from kernels.andrea.job import Job, Start, read_start
from kernels.andrea.origin import about, rounds_otherwise
from kernels.andrea.pace import ALL_SKIPPED, pace
from kernels.andrea.phases import Phase, later, phase
from kernels.andrea.runfiles import KINDS, RunFiles
from kernels.andrea.sampling import Decoder, write
from kernels.andrea.scale import Scale
from kernels.andrea.schedule import learning_rate
from kernels.andrea.scoring import FAILURES_TO_HALT, LOWEST_PASS, score
from kernels.andrea.sources import drawn
from kernels.andrea.state import Source, State
from kernels.artifacts import checkpoint_name, describe
from kernels.events import Artifact, End, Event, Log, Metric, Note, Outcome, Progress, Sample
from kernels.procedure import BadParameter, Context

# The disk takes no more; or somebody changed a file meanwhile, which is not written over then.
UNKEPT = (OSError, BadParameter)


class Training:
    """Raises BadParameter for a job that cannot be done, before anything is made or written."""

    def __init__(self, job: Job, device: torch.device) -> None:
        self.job, self.config, self.device = job, job.config, device
        self.files = RunFiles(job.folder, job.model)
        self.about = about(job.config, job.text, job.version, device)
        self.pace = pace(job.config.steps, job.sample_every, job.checkpoint_every)
        self.start = read_start(job, self.about)
        self.done = self.start.checkpoint.step if self.start else 0
        state = self.start.state if self.start else initial_state(job.config)
        self.first = self.done  # steps that were made before
        self.failures, self.applied = state.failures, 0
        self.source = state.sources.get(job.text.name, Source())
        self.scale = Scale(state.scale, state.good)
        self.loss = math.nan
        self.phase: Phase | None = None
        self.curves_at = 0  # the last step whose curves were told
        self.owed: list[dict[str, Any]] = []  # samples that the disk had no room for

    def run(self, context: Context) -> Iterator[Event]:
        """Every step, with its Events; ends with an End. Raises OSError where the disk takes no
        file to begin with."""
        self.make()
        self.job.folder.mkdir(parents=True, exist_ok=True)
        self.files.sweep()
        self.corpus: Corpus = self.job.text.lay(self.job.folder)
        yield from self.open()
        self.history = History(self.files.file("loss"))
        try:
            yield from self.steps(context)
        finally:
            self.history.close()
            self.gauges.close()

    def make(self) -> None:
        """The engine, and what reads its buffers. It may be refused for want of memory."""
        start = (self.start.checkpoint, self.start.state) if self.start else None
        self.engine = Engine(self.config, self.device, self.job.version, start)
        buffers = self.engine.arena.buffers
        self.decoder = Decoder(self.config, self.engine.views.masters, buffers)
        self.gauges = Gauges(self.engine)

    def open(self) -> Iterator[Event]:
        text = self.job.text
        yield Log(Note("log.andrea.corpus", {"name": text.name, "tokens": len(text)}))
        yield Log(scheduled(self.config))
        if self.start is not None:
            yield from self.go_on(self.start)
            self.start = None  # its arrays are on the device now
        yield from self.gauges.open()

    def go_on(self, start: Start) -> Iterator[Event]:
        job = self.job
        assert job.resume is not None
        yield Log(Note("log.andrea.resumed", {"step": self.done, "file": job.resume.name}))
        if note := rounds_otherwise(start.card, start.tiles, self.about):
            yield Log(note, level="warning")
        if job.elsewhere:
            self.files.adopt(start.files, self.done)
        if job.polish:
            number = self.files.polish(self.about, self.done, self.state())
            yield Log(Note("log.andrea.polish", {"number": number}))
        else:
            self.files.save_state(self.about, self.done, self.state())

    def steps(self, context: Context) -> Iterator[Event]:
        yield Progress(self.done, self.config.steps)
        running: tuple[int, HostSlot] | None = None
        for done in range(self.done, self.config.steps):
            slot = self.engine.slots[done % 2]
            batches.fill(slot.batch, self.config, self.corpus, done)
            self.engine.feed(slot)
            self.engine.step(slot)
            if running is not None:
                yield from self.tell(*running)
            running = done + 1, slot
            if self.pauses(done + 1, context):
                yield from self.tell(*running)
                running = None
                with self.gauges.aside():
                    end = yield from self.pause(done + 1, context)
                if end is not None:
                    yield end
                    return

    def pauses(self, step: int, context: Context) -> bool:
        job = self.job
        return (
            context.stop.is_set()
            or context.checkpoint.is_set()
            or step % job.sample_every == 0
            or step % job.checkpoint_every == 0
            or step == self.config.steps
        )

    def tell(self, step: int, slot: HostSlot) -> Iterator[Event]:
        """Read what a step came to, note it in the files and report it."""
        report = slot.read()
        self.done, self.loss = step, report.loss
        self.applied += report.applied
        self.scale.follow(applied=report.applied)
        yield from self.note_loss(step)
        self.source = drawn(
            self.source, self.config, len(self.corpus), slot.batch.starts, report.loss
        )
        if not report.applied and (report.skipped <= ALL_SKIPPED or step % self.pace.curves == 0):
            params = {"step": step, "skipped": report.skipped}
            yield Log(Note("log.andrea.skipped", params), level="warning")
        last = step == self.config.steps
        if step % self.pace.loss == 0 or last:
            yield Metric("loss", report.loss, step)
        if step % self.pace.curves == 0 or step % self.pace.checkpoint == 0 or last:
            yield from self.curves(step, report.norm)
        yield from self.enter_phase(step)
        if step % self.pace.progress == 0 or last:
            yield Progress(step, self.config.steps)
        yield from self.gauges.read(step)

    def note_loss(self, step: int) -> Iterator[Log]:
        """Into the file. A disk without room is told once; what it misses is written later."""
        told = bool(self.history.owed)
        try:
            self.history.add(step, self.loss)
        except OSError as error:
            if not told:
                yield untaken("log.andrea.loss-not-kept", step, error)

    def curves(self, step: int, norm: float) -> Iterator[Metric]:
        self.curves_at = step
        if self.source.ema is not None:
            yield Metric("ema", self.source.ema, step)
        yield Metric("learning-rate", learning_rate(self.config, step - 1), step)
        yield Metric("norm", norm, step)
        if self.config.precision is Precision.FP16 and self.scale.news(step, self.pace.scale):
            yield Metric("loss-scale", self.scale.value, step)

    def enter_phase(self, step: int) -> Iterator[Log]:
        if self.source.ema is None:
            return
        entered = phase(self.source.ema, self.config.vocabulary)
        if later(self.phase, entered):
            self.phase = entered
            yield Log(Note("log.andrea.phase", {"phase": entered.value, "step": step}))

    def pause(self, step: int, context: Context) -> Generator[Event, None, End | None]:
        """Sample and save as they are due. Returns the End if this is where the run ends."""
        if step % self.job.sample_every == 0:
            yield from self.sample(step)
        stopping, last = context.stop.is_set(), step == self.config.steps
        halted = self.failures >= FAILURES_TO_HALT
        asked = context.checkpoint.is_set() or stopping or last or halted
        context.checkpoint.clear()
        if not asked and step % self.job.checkpoint_every:
            return None
        try:
            yield from self.save(step, context, asked=asked)
        except UNKEPT as error:
            note = Note("log.andrea.not-saved", {"step": step, "reason": why(error)})
            yield Log(note, level="error")
            yield from self.hand_out(context)
            if stopping or last or halted:
                return End(context.unwritten(error), replace(note, code="end.not-saved"))
            return None
        return self.ending(step, last=last, halted=halted, stopping=stopping)

    def ending(self, step: int, *, last: bool, halted: bool, stopping: bool) -> End | None:
        if halted:
            params = {"step": step, "failures": self.failures, "lowest": LOWEST_PASS}
            return End(Outcome.FAILED, Note("end.halted", params))
        if last:
            return self.trained(step)
        if stopping:
            file = checkpoint_name(step)
            return End(Outcome.CANCELLED, Note("end.saved", {"step": step, "file": file}))
        return None

    def trained(self, step: int) -> End:
        """All steps are made. That is no pass where nothing was learnt or nothing is left."""
        if not self.applied:
            return End(Outcome.FAILED, Note("end.no-update", {"step": step - self.first}))
        if not math.isfinite(self.loss):
            return End(Outcome.FAILED, Note("end.not-finite", {"step": step}))
        return End(Outcome.PASSED, Note("end.trained", {"steps": step, "loss": self.loss}))

    def sample(self, step: int) -> Iterator[Event]:
        tokens = write(self.decoder, self.job.sample_tokens, self.config.seed, step)
        text = text_of(tokens)
        scored = score(text)
        self.failures = 0 if scored.passed else self.failures + 1
        scores = scored.shown()
        loss, told = finite(self.loss), bool(self.owed)
        self.owed.append({"step": step, "text": text, "loss": loss, "scores": scores})
        try:
            self.keep_samples()
        except UNKEPT as error:
            if not told:
                yield untaken("log.andrea.sample-not-kept", step, error)
        if step % self.pace.sample == 0:
            yield Sample(step, text, scores)
        if not scored.passed:
            params = {"step": step, "score": scored.total, "lowest": LOWEST_PASS}
            note = Note("log.andrea.low-sample", {**params, "failures": self.failures})
            yield Log(note, level="warning")

    def keep_samples(self) -> None:
        """Raises UNKEPT; the samples are owed then."""
        if self.owed:
            self.files.add_samples(self.owed)
            self.owed.clear()

    def save(self, step: int, context: Context, *, asked: bool) -> Iterator[Event]:
        """Losses, samples and state first, then the checkpoint: see `runfiles`. Raises UNKEPT."""
        self.history.flush()
        self.keep_samples()
        self.files.save_state(self.about, step, self.state())
        name = checkpoint_name(step)
        checkpoint.save(self.job.folder / name, self.engine.checkpoint())
        if asked or step % self.pace.checkpoint == 0:
            if self.curves_at != step and self.source.ema is not None:
                yield Metric("ema", self.source.ema, step)  # by which checkpoints are compared
            yield from self.hand_out(context)
            yield describe(context, name)

    def hand_out(self, context: Context) -> Iterator[Artifact]:
        """The run's own files as they are now; the same names each time."""
        for kind in KINDS:
            if self.files.file(kind).exists():
                yield describe(context, self.files.file(kind).name)

    def state(self) -> State:
        sources = {self.job.text.name: self.source}
        return replace(self.engine.state(), failures=self.failures, sources=sources)


def untaken(code: str, step: int, error: Exception) -> Log:
    """The disk took that not; the training goes on."""
    return Log(Note(code, {"step": step, "reason": why(error)}), level="warning")


def why(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)


def scheduled(config: Config) -> Note:
    return Note(
        "log.andrea.schedule",
        {
            "steps": config.steps,
            "warmup": config.warmup_steps,
            "peak": config.learning_rate,
            "floor": config.floor,
            "clip": config.clip,
            "context": config.context,
            "vocabulary": config.vocabulary,
        },
    )
