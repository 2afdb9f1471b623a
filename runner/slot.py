"""A slot: the one process of a worker that runs Runs, one at a time, on the device it owns."""

import logging
import re
import shutil
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connections
from django.utils import timezone

from kernels.events import End, Kind, Log, Note, Outcome, to_data
from kernels.procedure import Procedure
from runner import limits, procedures, starting
from runner.claims import Claim, Hold, claim, hand_back
from runner.files import Files, discard_unrecorded
from runner.keeping import make_room
from runner.models import Queue, WorkerNode
from runner.orders import Facts, Limits, Spawn
from runner.output import Output
from runner.recorder import Recorder
from runner.sandbox import Place
from runner.starting import Gone, Start
from runner.supervision import Supervision
from runner.warm import Warm

log = logging.getLogger(__name__)

_FIRST_LOOK_SECONDS = 1.0


class Slot:
    def __init__(self, name: str, queue: Queue, index: int, slots: int) -> None:
        self.name, self.queue, self.slots = name, queue, slots
        require_code_outside(Path(settings.DATA_DIR))
        safe = re.sub(r"[^A-Za-z0-9]+", "-", f"{name}-{index}")
        self.folder = Path(settings.DATA_DIR) / "work" / safe
        shutil.rmtree(self.folder, ignore_errors=True)  # what a slot that was killed left here
        self.place = Place(
            outputs=self.folder / "runs",
            given=self.folder / "given",
            cache=Path(settings.DATA_DIR) / "triton",
            hidden=(Path(settings.DATA_DIR), settings.BASE_DIR / ".env"),
            code=settings.BASE_DIR,
            gpu=queue == Queue.GPU,
        )
        self.warm = Warm(self.place)
        self._over = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._beat_on, name="heartbeat", daemon=True).start()

    def end(self) -> None:
        self._over.set()
        self.warm.end()
        WorkerNode.objects.filter(name=self.name).delete()

    def execute(self, run_id: uuid.UUID) -> None:
        """Run it to its end, if nobody else has it."""
        claimed = claim(run_id, self.name)
        if claimed is None:
            return
        handed_back = False
        with (
            self.workspace(claimed) as folder,
            Hold(claimed) as hold,
            Recorder(claimed, hold.lost) as recorder,
        ):
            try:
                handed_back = self.supervise(claimed, folder, hold, recorder)
            except Gone as gone:
                end = End(Outcome.INFRASTRUCTURE_FAILURE, gone.note)
                recorder.add(Kind.OUTCOME, to_data(end))
            except Exception as error:
                log.exception("Run %s failed by our fault.", run_id)
                note = Note("end.fault", {"error": type(error).__name__})
                end = End(Outcome.INFRASTRUCTURE_FAILURE, note)
                recorder.add(Kind.OUTCOME, to_data(end))
        if hold.lost.is_set():  # another attempt has it, or it was erased
            discard_unrecorded(claimed, range(claimed.attempt, claimed.attempt + 1))
        elif handed_back:  # and all that it told is stored
            hand_back(claimed, in_order=hold.closing)

    def supervise(self, claimed: Claim, folder: Path, hold: Hold, recorder: Recorder) -> bool:
        """One attempt. True if it left the Run to another one. Raises Gone."""
        procedure = procedures.find(claimed.procedure)
        if claimed.attempt > 1:
            discard_unrecorded(claimed, range(1, claimed.attempt))
        start = starting.prepare(claimed, procedure, self.place.given / folder.name)
        if procedure.checkpoints:
            make_room(claimed)
        for note in start.notes:
            recorder.add(Kind.LOG, to_data(Log(note=note, level="warning")))
        outputs = self.place.outputs / folder.name / "outputs"
        output = Output(folder / "printed")
        with Files(claimed, outputs, folder, training=procedure.checkpoints) as files:
            supervision = Supervision(self.warm, recorder, hold, files, output)
            if procedure.checkpoints and claimed.attempt > 1:
                files.remember()
                supervision.keeper.remember(claimed.run_id)
            supervision.run(self.order(claimed, procedure, start))
        if supervision.handed_back and hold.closing:
            note = Note("log.handed-back")
            recorder.add(Kind.LOG, to_data(Log(note=note, level="warning")))
        return supervision.handed_back

    def order(self, claimed: Claim, procedure: Procedure, start: Start) -> Spawn:
        seed = claimed.parameters.get("seed", 0)
        return Spawn(
            procedure=claimed.procedure,
            parameters=claimed.parameters | start.parameters,
            version=claimed.version,
            device=procedures.DEVICES[Queue(claimed.device)].value,
            outputs=str(self.place.outputs / workspace_name(claimed) / "outputs"),
            sandbox="",
            seed=seed if isinstance(seed, int) else 0,
            limits=Limits(
                wall_seconds=min(procedure.wall_seconds, settings.RUN_LONGEST_SECONDS),
                memory_bytes=limits.memory_bytes(),
            ),
        )

    @contextmanager
    def workspace(self, claimed: Claim) -> Iterator[Path]:
        """A folder the child cannot see, for what it prints; beside it those it may write to, and
        the one it may only read."""
        name = workspace_name(claimed)
        private, child = self.folder / "private" / name, self.place.outputs / name
        given = self.place.given / name
        for folder in (private, child / "outputs", child / "scratch", given):
            folder.mkdir(parents=True, exist_ok=True)
        try:
            yield private
        finally:
            for folder in (private, child, given):
                shutil.rmtree(folder, ignore_errors=True)

    def _beat_on(self) -> None:
        """Keep the warm parent alive, and say so. A slot without one is offline."""
        pause = _FIRST_LOOK_SECONDS
        while not self._over.wait(pause):
            try:
                known = self.warm.ready(timeout=_FIRST_LOOK_SECONDS)
                pause = limits.HEARTBEAT_SECONDS if known else 0.0
                if known:
                    self.beat(*known)
            except DatabaseError as away:
                log.warning("The database did not answer a heartbeat: %s", away)
                connections.close_all()
            except Exception:
                log.exception("The warm parent of %s cannot be started.", self.name)
                pause = _FIRST_LOOK_SECONDS

    def beat(self, facts: Facts, sandbox: str) -> None:
        WorkerNode.objects.update_or_create(
            name=self.name,
            defaults={
                "queue": self.queue,
                "device_name": facts.device_name,
                "driver": facts.driver,
                "torch": facts.torch,
                "triton": facts.triton,
                "sandbox": sandbox,
                "slots": self.slots,
                "heartbeat_at": timezone.now(),
            },
        )


def require_code_outside(data_dir: Path) -> None:
    """The sandbox hides the data folder, so nothing that a child needs may lie in it."""
    for needed in (settings.BASE_DIR, Path(sys.prefix)):
        if needed.is_relative_to(data_dir):
            raise ImproperlyConfigured(
                f"DATA_DIR is {data_dir}, and {needed} lies inside: choose a folder of its own."
            )


def workspace_name(claimed: Claim) -> str:
    return f"{claimed.run_id}-{claimed.attempt}"
