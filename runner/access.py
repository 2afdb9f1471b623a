"""Who may see a Run: the one predicate for pages, sockets, artifacts and downloads."""

import uuid
from typing import Any

from django.core.exceptions import ValidationError

from runner.models import Run
from runner.shapes import RunNotFound, RunView


def may_view(viewer: Any, run: Run) -> bool:
    """Everybody a recording; its owner and the owner's instructors any other Run."""
    if run.is_recording:
        return True
    if not getattr(viewer, "is_authenticated", False):
        return False
    if run.owner_id == viewer.pk:
        return True
    # Given for all Runs, or by a backend that knows whose instructor this is for this one.
    return viewer.has_perm("runner.view_run") or viewer.has_perm("runner.view_run", run)


def may_steer(viewer: Any, run: Run | RunView) -> bool:
    """Stop it, ask for a checkpoint: its owner alone."""
    authenticated = getattr(viewer, "is_authenticated", False)
    return bool(authenticated) and not run.is_recording and run.owner_id == viewer.pk


def visible(run_id: uuid.UUID | str, viewer: Any) -> Run:
    """The Run. Raises RunNotFound, the same whether it is missing or somebody else's."""
    try:
        run: Run = Run.objects.get(id=run_id)
    except (Run.DoesNotExist, ValidationError, ValueError) as missing:
        raise RunNotFound(str(run_id)) from missing
    if not may_view(viewer, run):
        raise RunNotFound(str(run_id))
    return run


def steerable(run_id: uuid.UUID | str, viewer: Any) -> Run:
    run = visible(run_id, viewer)
    if not may_steer(viewer, run):
        raise RunNotFound(str(run_id))
    return run
