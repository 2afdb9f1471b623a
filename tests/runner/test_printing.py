"""What is shown of a child's output, and what its Event lines may hold."""

import json
from pathlib import Path
from typing import Any

import pytest

from runner import limits
from runner.lines import BadLine, Lines
from runner.output import Output


def shown(output: Output, *pieces: bytes) -> tuple[str, str | None]:
    head = "".join(text for piece in pieces if (text := output.take(piece)))
    return head, output.rest()


def test_pieces_are_joined_to_whole_lines(tmp_path: Path) -> None:
    output = Output(tmp_path / "log")
    assert output.take(b"one\ntw") == "one\n"
    assert output.take(b"o\n") == "two\n"
    assert output.take(b"thr") is None
    assert output.rest() == "thr"
    assert output.skipped == 0


def test_half_a_letter_waits_for_the_other_half(tmp_path: Path) -> None:
    output = Output(tmp_path / "log")
    letter = "ı".encode()
    assert shown(output, b"a" + letter[:1], letter[1:] + b"\n") == ("aı\n", None)


@pytest.mark.parametrize("piece", [10, 4096, 65_536])
def test_the_middle_of_too_much_is_counted(tmp_path: Path, piece: int) -> None:
    data = b"".join(b"%06d\n" % n for n in range(100_000))
    output = Output(tmp_path / "log")
    head, tail = shown(output, *(data[i : i + piece] for i in range(0, len(data), piece)))
    assert tail is not None
    assert data.startswith(head.encode()) and data.endswith(tail.encode())
    assert len(head) == limits.LOG_HEAD_BYTES and len(tail) == limits.LOG_TAIL_BYTES
    assert len(head) + output.skipped + len(tail) == len(data)
    assert (tmp_path / "log").read_bytes() == data


def test_one_endless_line_is_shown_too(tmp_path: Path) -> None:
    head, tail = shown(Output(tmp_path / "log"), *[b"x" * 50_000] * 4)
    assert len(head) == limits.LOG_HEAD_BYTES
    assert tail == "x" * limits.LOG_TAIL_BYTES


def test_the_file_has_a_limit_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LOG_FILE_BYTES", 1000)
    output = Output(tmp_path / "log")
    shown(output, b"y" * 5000)
    assert (tmp_path / "log").stat().st_size == 1000


def line(**changes: Any) -> bytes:
    event = {"kind": "log", "at": "2026-11-30T12:00:00.000Z", "data": {"text": "hello"}}
    return json.dumps(event | changes).encode() + b"\n"


def test_events_are_cut_out_wherever_the_pipe_breaks_them() -> None:
    stream = line() + line(kind="metric", data={"value": 1}) + line()
    for size in (1, 7, 100):
        lines = Lines()
        pieces = (stream[i : i + size] for i in range(0, len(stream), size))
        events = [event for piece in pieces for event in lines.take(piece)]
        assert [event["kind"] for event in events if not isinstance(event, BadLine)] == [
            "log",
            "metric",
            "log",
        ]


@pytest.mark.parametrize(
    "bad",
    [
        b"no json\n",
        b"[]\n",
        b"null\n",
        line(kind="shout"),
        line(data="text"),
        line(at=3),
        b'{"kind": "log"}\n',
        b"[" * 100_000 + b"\n",
    ],
)
def test_what_is_no_event_is_refused_and_the_next_one_taken(bad: bytes) -> None:
    first, second = Lines().take(bad + line())
    assert isinstance(first, BadLine) and str(first) == "malformed"
    assert not isinstance(second, BadLine)


def test_a_line_without_an_end_does_not_fill_the_memory() -> None:
    lines = Lines()
    answers = [a for _ in range(40) for a in lines.take(b"z" * 65_536)]
    assert [str(answer) for answer in answers] == ["too-long"]
    (event,) = lines.take(b"\n" + line())
    assert not isinstance(event, BadLine)


def test_numbers_that_json_has_not_become_words() -> None:
    (event,) = Lines().take(line(data={"value": float("nan")}))
    assert not isinstance(event, BadLine)
    assert event["data"] == {"value": "NaN"}
