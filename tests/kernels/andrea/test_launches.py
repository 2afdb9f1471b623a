"""What a launch says it starts is what starts, and what a pair says it saves is what it takes."""

import inspect
from collections.abc import Iterator

import pytest
from triton.runtime.interpreter import InterpretedFunction

from kernels.andrea.engine import Engine
from kernels.andrea.operators import TABLE, Operator, pair
from kernels.andrea.program import Launch
from kernels.procedures.andrea import trace
from tests.kernels.andrea.small import engine


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the kernels that are started, as they start."""
    names: list[str] = []
    ready = InterpretedFunction.__getitem__

    def noting(self: InterpretedFunction, grid: object) -> object:
        names.append(self.fn.__name__)
        return ready(self, grid)

    monkeypatch.setattr(InterpretedFunction, "__getitem__", noting)
    yield names


def launches(made: Engine) -> list[Launch]:
    program = made.programs[0]
    return [*program.forward, *program.backward, *made.updating]


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
@pytest.mark.parametrize("version", [1, 2])
def test_every_launch_names_the_kernels_that_it_starts(
    started: list[str], version: int, precision: str
) -> None:
    made = engine(version, precision=precision)
    for launch in launches(made):
        started.clear()
        launch.call()
        assert tuple(started) == launch.kernels, (launch.operator, launch.direction)


@pytest.mark.parametrize("version", [1, 2])
def test_the_trace_tells_what_ran(started: list[str], version: int) -> None:
    made = engine(version, layers=2)
    started.clear()
    forward, backward = trace.traced(made)
    rows = trace.table(forward + backward, version).rows
    told = [name for row in rows for name in str(row[3]).split(", ") if name != trace.LIBRARY]
    assert told == started
    assert trace.twins(backward) == trace.twins(forward)[::-1]
    assert trace.block(backward, 1) == trace.due_order(version)


# Arguments of backward passes that are no gradient (those begin with d) and nothing saved.
WEIGHTS = {"w", "w_1", "w_2", "gamma", "e"}
OTHERS = {"upstream", "scratch", "a", "eps", "accumulate", "heads", "length"}


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("operator", TABLE, ids=lambda operator: operator.name)
def test_what_is_saved_is_what_the_backward_pass_takes(operator: Operator, version: int) -> None:
    taken = inspect.signature(pair(operator.name, version).backward).parameters
    others = WEIGHTS | OTHERS
    assert operator.saved == tuple(n for n in taken if n[0] != "d" and n not in others)
