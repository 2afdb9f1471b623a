"""Training: the loop around the engine, its files, its samples and its signals.

The loss of a step is read while the next one runs. With every checkpoint that is handed out goes
what another process needs to go on from it: state, losses and samples so far.

A signal only raises a flag, looked at after each step: SIGUSR1 (context.checkpoint) writes a
checkpoint and goes on, SIGTERM (context.stop) writes one and ends. Writing one changes nothing of
what follows.
"""

import math
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from kernels.andrea import batches, checkpoint
from kernels.andrea.checkpoint import CheckpointError
from kernels.andrea.config import Config
from kernels.andrea.corpus import Corpus, text_of
from kernels.andrea.engine import Engine
from kernels.andrea.gauges import Gauges
from kernels.andrea.history import History
from kernels.andrea.host import HostSlot
from kernels.andrea.layout import parameter_count
from kernels.andrea.origin import about, require_same
from kernels.andrea.pace import pace
from kernels.andrea.phases import Phase, later, phase
from kernels.andrea.runfiles import KINDS, RunFiles, Source, State
from kernels.andrea.sampling import Decoder, write
from kernels.andrea.schedule import learning_rate
from kernels.andrea.scoring import FAILURES_TO_HALT, LOWEST_PASS, SAMPLE_TOKENS, score
from kernels.andrea.sources import drawn
from kernels.artifacts import checkpoint_name, describe
from kernels.events import Artifact, End, Event, Log, Metric, Note, Outcome, Progress, Sample
from kernels.procedure import BadParameter, Context


@dataclass(frozen=True)
class Job:
    """One training run. Files go to `folder`; `resume` is a checkpoint to continue from."""

    config: Config
    model: str
    folder: Path
    corpus: Corpus
    version: int = 1
    resume: Path | None = None
    polish: bool = False  # continue with another corpus or schedule: archive what was
    sample_every: int = 100
    checkpoint_every: int = 100
    sample_tokens: int = SAMPLE_TOKENS


class Training:
    """Raises BadParameter for a job that cannot be done, before anything is written."""

    def __init__(self, job: Job, device: torch.device) -> None:
        self.job, self.config = job, job.config
        self.files = RunFiles(job.folder, job.model)
        self.about = about(job.config, job.corpus, job.version, device)
        self.card = self.about["card"]
        self.pace = pace(job.config.steps, job.sample_every, job.checkpoint_every)
        start = self.read_start()
        self.engine = Engine(job.config, device, job.version, start)
        self.done, self.failures = 0, 0
        self.source = Source()
        self.loss = math.nan
        self.phase: Phase | None = None
        self.curves_at = 0  # the last step whose curves were told
        if start is not None:
            self.done, state = start[0].step, start[1]
            self.failures = state.failures
            self.source = state.sources.get(job.corpus.name, Source())
        buffers = self.engine.arena.buffers
        self.decoder = Decoder(job.config, self.engine.views.masters, buffers)
        self.gauges = Gauges(self.engine)

    def read_start(self) -> tuple[checkpoint.Checkpoint, State] | None:
        job = self.job
        if job.resume is None:
            require_same(self.files.content(), self.about, "output")
            return None
        try:
            start = checkpoint.load(job.resume, parameter_count(job.config))
        except CheckpointError as error:
            raise BadParameter(f"resume: {error}.") from None
        if start.step >= job.config.steps:
            raise BadParameter(
                f"steps = {job.config.steps} is not accepted: {job.resume.name} has made "
                f"{start.step} already; accepted: more than that."
            )
        beside = RunFiles(job.resume.parent, job.model)
        content = beside.content()
        self.card = content.get("card", self.card)
        if not job.polish:
            require_same(content, self.about, "resume")
            require_same(self.files.content(), self.about, "output")
        state = beside.load_state(start.step)
        return start, replace(state, failures=0, sources={}) if job.polish else state

    def run(self, context: Context) -> Iterator[Event]:
        """Every step, with its Events; ends with an End."""
        self.files.sweep()
        yield from self.open()
        self.history = History(self.files.live("loss"))
        try:
            yield from self.steps(context)
        finally:
            self.history.close()
            self.gauges.close()

    def open(self) -> Iterator[Event]:
        job, corpus = self.job, self.job.corpus
        yield Log(Note("log.andrea.corpus", {"name": corpus.name, "tokens": len(corpus)}))
        yield Log(scheduled(job.config))
        if job.resume is not None:
            file = job.resume.name
            yield Log(Note("log.andrea.resumed", {"step": self.done, "file": file}))
            if self.card != self.about["card"]:
                note = Note("log.andrea.other-card", {"card": self.card})
                yield Log(note, level="warning")
            if job.resume.parent.resolve() != job.folder.resolve():
                self.files.adopt(RunFiles(job.resume.parent, job.model), self.done)
            if job.polish:
                number = self.files.archive()
                yield Log(Note("log.andrea.polish", {"number": number}))
            self.files.save_state(self.about, self.done, self.state())
        yield from self.gauges.open()

    def steps(self, context: Context) -> Iterator[Event]:
        yield Progress(self.done, self.config.steps)
        running: tuple[int, HostSlot] | None = None
        for done in range(self.done, self.config.steps):
            slot = self.engine.slots[done % 2]
            batches.fill(slot.batch, self.config, self.job.corpus, done)
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
        self.history.add(step, report.loss)
        self.source = drawn(
            self.source, self.config, len(self.job.corpus), slot.batch.starts, report.loss
        )
        if not report.applied:
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

    def curves(self, step: int, norm: float) -> Iterator[Metric]:
        self.curves_at = step
        if self.source.ema is not None:
            yield Metric("ema", self.source.ema, step)
        yield Metric("learning-rate", learning_rate(self.config, step - 1), step)
        yield Metric("norm", norm, step)

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
        except OSError as error:
            note = Note("log.andrea.not-saved", {"step": step, "reason": str(error.strerror)})
            yield Log(note, level="error")
            yield from self.hand_out(context)
            if stopping or last or halted:
                return End(Outcome.FAILED, replace(note, code="end.not-saved"))
            return None
        return self.ending(step, last=last, halted=halted, stopping=stopping)

    def ending(self, step: int, *, last: bool, halted: bool, stopping: bool) -> End | None:
        if halted:
            params = {"step": step, "failures": self.failures, "lowest": LOWEST_PASS}
            return End(Outcome.FAILED, Note("end.halted", params))
        if last:
            return End(Outcome.PASSED, Note("end.trained", {"steps": step, "loss": self.loss}))
        if stopping:
            file = checkpoint_name(step)
            return End(Outcome.CANCELLED, Note("end.saved", {"step": step, "file": file}))
        return None

    def sample(self, step: int) -> Iterator[Event]:
        tokens = write(self.decoder, self.job.sample_tokens, self.config.seed, step)
        text = text_of(tokens)
        scored = score(text)
        self.failures = 0 if scored.passed else self.failures + 1
        scores = scored.shown()
        self.files.add_sample({"step": step, "text": text, "loss": self.loss, "scores": scores})
        if step % self.pace.sample == 0:
            yield Sample(step, text, scores)
        if not scored.passed:
            params = {"step": step, "score": scored.total, "lowest": LOWEST_PASS}
            note = Note("log.andrea.low-sample", {**params, "failures": self.failures})
            yield Log(note, level="warning")

    def save(self, step: int, context: Context, *, asked: bool) -> Iterator[Event]:
        """State first, then the checkpoint: see `runfiles`. Raises OSError."""
        self.history.flush()
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
            if self.files.live(kind).exists():
                yield describe(context, self.files.live(kind).name)

    def state(self) -> State:
        sources = {self.job.corpus.name: self.source}
        return replace(self.engine.state(), failures=self.failures, sources=sources)


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
