"""Going on from a checkpoint of an earlier Run, and proving that nothing is lost by it."""

import uuid
from collections.abc import Mapping
from typing import Any

from kernels.artifacts import checkpoint_step
from kernels.procedure import BadParameter, Procedure
from kernels.registry import UnknownProcedure
from runner import checkpoints, procedures, submission
from runner.access import may_steer, visible
from runner.checkpoints import Checkpoint
from runner.models import Run
from runner.shapes import NotResumable, Origin, Resumes, RunNotFound

_LONGER = 2  # a Run that goes on may be this many times as long as the one before


def resume(
    run_id: uuid.UUID | str, viewer: Any, file: str, steps: int | str | None, device: str | None
) -> Run:
    """A queued Run that goes on from that checkpoint. For what it raises see `runner.api`."""
    row = owned(run_id, viewer)
    procedure = procedure_of(row)
    if not procedure.checkpoints:
        raise NotResumable("not-training")
    found = checkpoint_of(row, file)
    total = total_steps(found)
    parameters = continued(procedure, row.parameters, found.step, total, steps)
    return submission.submit(
        viewer,
        procedure.name,
        parameters,
        row.version,
        device or row.device,
        origin_of(row),
        Resumes(row.id, file, found.step),
    )


def prove(run_id: uuid.UUID | str, viewer: Any) -> Run:
    """A queued Run of the Procedure that proves a resume of this one changes nothing."""
    row = owned(run_id, viewer)
    procedure = procedure_of(row)
    if not procedure.proof:
        raise NotResumable("not-training")
    proof = procedures.find(procedure.proof)
    known = {parameter.name for parameter in proof.parameters if not parameter.path}
    shared = {name: value for name, value in row.parameters.items() if name in known}
    return submission.submit(viewer, proof.name, shared, row.version, row.device, origin_of(row))


def owned(run_id: uuid.UUID | str, viewer: Any) -> Run:
    row = visible(run_id, viewer)
    if row.is_recording:
        raise NotResumable("recording")
    if not may_steer(viewer, row):
        raise RunNotFound(str(run_id))
    return row


def procedure_of(row: Run) -> Procedure:
    try:
        procedure = procedures.find(row.procedure)
    except UnknownProcedure as unknown:
        raise NotResumable("gone") from unknown
    if row.version not in procedure.versions:
        raise NotResumable("gone")
    return procedure


def origin_of(row: Run) -> Origin:
    return Origin(row.course, row.lesson, row.step)


def checkpoint_of(row: Run, file: str) -> Checkpoint:
    """That checkpoint of the Run, with its state. Raises NotResumable."""
    if checkpoint_step(file) is None or not row.artifacts.filter(name=file).exists():
        raise NotResumable("no-checkpoint")
    found = next((one for one in checkpoints.kept(row.id) if one.file.name == file), None)
    if found is None:
        raise NotResumable("not-kept")
    return found


def total_steps(found: Checkpoint) -> int:
    """How many steps the Run of that checkpoint was to make. Raises NotResumable."""
    try:
        return int((found.state() or {})["config"]["steps"])
    except (KeyError, TypeError, ValueError) as unknown:
        raise NotResumable("no-state") from unknown


def continued(
    procedure: Procedure,
    parameters: Mapping[str, Any],
    step: int,
    total: int,
    steps: int | str | None,
) -> dict[str, Any]:
    """The parameters of the Run that goes on: the same, or a polish where its length differs,
    since the schedule of the learning rate follows from it. Raises BadParameter."""
    wanted = steps_of(procedure, steps)
    if not wanted:
        wanted = total if step < total else _LONGER * total
    if not step < wanted <= _LONGER * total:
        accepted = f"a whole number from {step + 1} to {_LONGER * total}"
        raise BadParameter(f"steps = {wanted} is not accepted; accepted: {accepted}.")
    if wanted == total:
        return {**parameters, "polish": False}
    return {**parameters, "steps": wanted, "polish": True}


def steps_of(procedure: Procedure, steps: int | str | None) -> int:
    if steps in (None, ""):
        return 0
    return int(procedures.registry().parse(procedure, {"steps": steps})["steps"])
