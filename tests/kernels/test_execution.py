"""From a generator to exactly one outcome, whatever happens in it."""

import errno
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
import torch
from triton.compiler.errors import CompilationError

from kernels.artifacts import store
from kernels.contract import ContractError
from kernels.events import Case, End, Event, Log, Note, Outcome, Verdict
from kernels.execution import execute
from kernels.messages import sentence
from kernels.procedure import CodeError, Context, Device, Procedure
from tests.kernels.running import Said

Body = Callable[[Context], Iterator[Event]]


@pytest.fixture
def ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Said]:
    """Execute a generator as a Procedure and give what was said."""

    def run(
        body: Body, device: Device = Device.CPU, stop: bool = False, served: bool = False
    ) -> Said:
        module = ModuleType("made_for_a_test")
        module.__dict__["body"] = body
        monkeypatch.setitem(sys.modules, module.__name__, module)
        procedure = Procedure("test.body", f"{module.__name__}:body")
        context = Context(device, 1, {}, tmp_path, served=served)
        if stop:
            context.stop.set()
        return Said(list(execute(procedure, context, sandbox="bubblewrap")))

    return run


def case(verdict: Verdict, placed: bool = False) -> Case:
    return Case("a", verdict, {}, place=(0, 0, 0) if placed else None)


def test_the_first_event_says_what_the_run_was_made_on(ended: Callable[..., Said]) -> None:
    made = ended(lambda context: iter(())).made
    assert made["device"] == "cpu" and made["interpreter"] == 1
    assert made["sandbox"] == "bubblewrap"
    assert made["torch"] and made["triton"] and made["python"] and made["device_name"]


def test_passed_cases_make_it_pass(ended: Callable[..., Said]) -> None:
    end = ended(lambda context: iter([case(Verdict.PASSED)] * 3)).end
    assert (end.outcome, end.passed, end.failed) == (Outcome.PASSED, 3, 0)


def test_one_failed_case_makes_it_fail(ended: Callable[..., Said]) -> None:
    end = ended(lambda context: iter([case(Verdict.PASSED), case(Verdict.FAILED)])).end
    assert (end.outcome, end.passed, end.failed) == (Outcome.FAILED, 1, 1)


def test_special_inputs_are_counted_apart_from_the_grid(ended: Callable[..., Said]) -> None:
    cases = [case(Verdict.PASSED, placed=True)] * 2 + [case(Verdict.FAILED)]
    note = ended(lambda context: iter(cases)).end.note
    assert note == Note(
        "end.grid-cases", {"passed": 2, "total": 2, "special_passed": 0, "special": 1}
    )


def test_a_stop_without_an_end_of_its_own_is_cancelled(ended: Callable[..., Said]) -> None:
    assert ended(lambda context: iter(()), stop=True).end.outcome is Outcome.CANCELLED


def test_an_end_of_its_own_is_kept_and_nothing_follows(ended: Callable[..., Said]) -> None:
    events = [End(Outcome.FAILED), case(Verdict.PASSED)]
    said = ended(lambda context: iter(events))
    assert said.end.outcome is Outcome.FAILED and said.cases == []


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (MemoryError(), Outcome.OUT_OF_MEMORY),
        (torch.OutOfMemoryError("no room"), Outcome.OUT_OF_MEMORY),
        (CompilationError(None, None, "bad"), Outcome.ERROR_IN_CODE),
        (CodeError("not a kernel"), Outcome.ERROR_IN_CODE),
        (RuntimeError("ours"), Outcome.INFRASTRUCTURE_FAILURE),
        (ContractError("epsilon", epsilon="0"), Outcome.INFRASTRUCTURE_FAILURE),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else value,
)
def test_an_exception_has_an_outcome_and_a_line_in_the_log(
    ended: Callable[..., Said],
    capsys: pytest.CaptureFixture[str],
    error: Exception,
    outcome: Outcome,
) -> None:
    def body(context: Context) -> Iterator[Event]:
        yield case(Verdict.PASSED)
        raise error

    said = ended(body)
    assert said.end.outcome is outcome and said.end.passed == 1
    log = said.events[-2]
    assert (
        isinstance(log, Log) and log.level == "error" and type(error).__name__ in (log.text or "")
    )
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG])
def test_a_disk_that_takes_nothing_more_is_said_and_is_no_fault_of_ours(
    ended: Callable[..., Said], tmp_path: Path, number: int
) -> None:
    def body(context: Context) -> Iterator[Event]:
        yield case(Verdict.PASSED)
        raise OSError(number, os.strerror(number))

    end = ended(body).end
    assert end.outcome is Outcome.FAILED and end.passed == 1
    assert end.note == Note(
        "end.not-written", {"file": str(tmp_path), "reason": os.strerror(number)}
    )


def full(path: Path) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    ("served", "file"), [(False, "deep/a.bin"), (True, "a.bin")], ids=["terminal", "site"]
)
def test_a_file_without_room_is_named_and_to_a_site_by_its_name_alone(
    tmp_path: Path, ended: Callable[..., Said], served: bool, file: str
) -> None:
    def body(context: Context) -> Iterator[Event]:
        yield store(replace(context, served=served), "deep/a.bin", full)

    note = ended(body, served=served).end.note
    due = file if served else str(tmp_path / file)
    assert note == Note("end.not-written", {"file": due, "reason": os.strerror(errno.ENOSPC)})
    assert sentence(note) == f"{due} could not be written: No space left on device."


def test_a_site_tells_no_path_where_the_file_is_not_known(ended: Callable[..., Said]) -> None:
    def body(context: Context) -> Iterator[Event]:
        full(context.outputs)
        yield

    note = ended(body, served=True).end.note
    assert note == Note("end.something-not-written", {"reason": os.strerror(errno.ENOSPC)})


@pytest.mark.parametrize(
    ("number", "outcome"),
    [
        *((number, Outcome.INFRASTRUCTURE_FAILURE) for number in (errno.ENOSPC, errno.EROFS)),
        *((number, Outcome.FAILED) for number in (errno.EFBIG, errno.EDQUOT)),
    ],
)
def test_a_server_s_full_disk_is_its_own_fault_and_a_limit_of_the_run_is_the_run_s(
    number: int, outcome: Outcome, tmp_path: Path
) -> None:
    error = OSError(number, os.strerror(number))
    context = Context(Device.CPU, 1, {}, tmp_path, served=True)
    assert context.unwritten(error) is outcome
    assert replace(context, served=False).unwritten(error) is Outcome.FAILED


def test_a_file_of_its_own_that_is_denied_is_said_and_any_other_is_a_fault(
    ended: Callable[..., Said], tmp_path: Path
) -> None:
    def denied(path: Path) -> Outcome:
        def body(context: Context) -> Iterator[Event]:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
            yield

        return ended(body).end.outcome

    assert denied(tmp_path / "a.json") is Outcome.FAILED
    assert denied(Path("/elsewhere")) is Outcome.INFRASTRUCTURE_FAILURE


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
def test_a_gpu_that_is_not_there_is_said_in_a_sentence(ended: Callable[..., Said]) -> None:
    end = ended(lambda context: iter(()), device=Device.CUDA).end
    assert end.outcome is Outcome.INFRASTRUCTURE_FAILURE
    assert end.note == Note("refusal.no-gpu")


def test_the_interpreter_must_have_been_asked_for(
    ended: Callable[..., Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRITON_INTERPRET")
    end = ended(lambda context: iter(())).end
    assert end.outcome is Outcome.INFRASTRUCTURE_FAILURE
