"""`python -m kernels`: the Procedures at a terminal.

Exit status: 0 passed (or stopped with a checkpoint), 1 failed (or stopped), 2 bad arguments, also
those that show only while it runs, 3 device not available. A bad argument and a device that is not
there are answered with one sentence on stderr, and nothing is written; the output folder is made by
the first file in it.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kernels import machine
from kernels.artifacts import require_writable
from kernels.config import read_config
from kernels.events import End, Event, Note, Outcome, to_data
from kernels.execution import DEVICE_REFUSALS, execute, mistaken, refused
from kernels.messages import MESSAGES, sentence
from kernels.procedure import BadParameter, Context, Device, DeviceNotAvailable, Procedure
from kernels.registry import PROCEDURES, UnknownProcedure, accepts, get, parse
from kernels.report import Report
from kernels.signals import Asked

PASSED, FAILED, BAD_ARGUMENTS, NO_DEVICE = 0, 1, 2, 3
SAVED = "end.saved"  # stopped, and nothing is lost


def main(arguments: list[str], asked: Asked) -> int:
    """The exit status. `asked` holds what signals ask for from now on."""
    parser = arguments_parser()
    options = parser.parse_args(arguments)
    if options.list:
        print_list()
        return PASSED
    if options.name is None:
        parser.error("a Procedure is needed; --list shows them")
    try:
        procedure = get(options.name)
        context = prepare(procedure, options, asked)
    except (UnknownProcedure, BadParameter) as mistake:
        print(mistake, file=sys.stderr)
        return BAD_ARGUMENTS
    except DeviceNotAvailable as lacking:
        print(MESSAGES[str(lacking)], file=sys.stderr)
        return NO_DEVICE
    # Before torch and Triton are imported: Triton decides once, when it reads a kernel.
    if context.device is Device.CPU:
        os.environ["TRITON_INTERPRET"] = "1"
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # its products are too small to share
    else:
        os.environ.pop("TRITON_INTERPRET", None)
    told = Told(execute(procedure, context, sandbox="none"))
    try:
        show_json(told) if options.json else Report(procedure).show(told)
    except OSError as error:  # of stdout: what happens to a Run's own files is an Event
        end_unheard(told, error, asked)
    end = told.end
    if end is not None and refused(end) and not options.json:
        print(reason(end), file=sys.stderr)
    return status_of(end)


@dataclass
class Told:
    """Events that may be followed on after whoever showed them could not go on."""

    events: Iterator[Event]
    end: End | None = None

    def __iter__(self) -> Iterator[Event]:
        for event in self.events:
            if isinstance(event, End):
                self.end = event
            yield event


def end_unheard(told: Told, error: OSError, asked: Asked) -> None:
    """Stdout takes no more. A reader that went away, as `head` does, wants no more: what can be
    saved is saved. A full disk under a log is told, and the Procedure goes on."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        asked.stop.set()
    else:
        print(f"Nothing more can be shown ({error.strerror}); it goes on.", file=sys.stderr)
    for _ in told:
        pass
    if told.end is not None and told.end.note is not None and not refused(told.end):
        print(sentence(told.end.note), file=sys.stderr)


def arguments_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m kernels", description="Run a Procedure.")
    parser.add_argument("name", nargs="?", help="the Procedure, such as rmsnorm.check-forward")
    parser.add_argument(
        "--list", action="store_true", help="list the Procedures and their parameters"
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="YAML: parameters by Procedure")
    parser.add_argument(
        "--set", nargs="+", action="extend", default=[], metavar="key=value", help="set parameters"
    )
    parser.add_argument(
        "--version", type=int, metavar="N", help="the version of the operator (1 = as taught)"
    )
    parser.add_argument(
        "--device", choices=["cuda", "cpu"], help="default: the GPU if there is one"
    )
    parser.add_argument("--output", default="outputs", help="folder for artifacts")
    parser.add_argument("--json", action="store_true", help="one JSON Event a line")
    return parser


def prepare(procedure: Procedure, options: argparse.Namespace, asked: Asked) -> Context:
    given = read_config(options.config, procedure) if options.config else {}
    given |= pairs(options.set)
    version = procedure.versions[0] if options.version is None else options.version
    if version not in procedure.versions:
        accepted = ", ".join(map(str, procedure.versions))
        raise BadParameter(f"{procedure.name} has no version {version}; accepted: {accepted}.")
    parameters = parse(procedure, given)
    require_writable(options.output)
    device = choose_device(procedure, options.device)
    output = Path(options.output).resolve()
    return Context(device, version, parameters, output, asked.stop, asked.checkpoint)


def pairs(words: list[str]) -> dict[str, str]:
    """What --set gives. Raises BadParameter."""
    given: dict[str, str] = {}
    for pair in words:
        key, equals, value = pair.partition("=")
        if not equals:
            raise BadParameter(f"--set takes key=value, not {pair!r}.")
        if key in given:
            raise BadParameter(f"--set gives {key!r} twice; accepted: each key once.")
        given[key] = value
    return given


def choose_device(procedure: Procedure, asked: str | None) -> Device:
    """Raises DeviceNotAvailable. What runs no kernel needs no word on where kernels run."""
    if asked == Device.CPU and Device.CPU not in procedure.devices:
        raise DeviceNotAvailable("refusal.needs-gpu")
    if asked == Device.CPU:
        return Device.CPU
    if machine.cuda_present():
        return Device.CUDA
    if asked == Device.CUDA:
        raise DeviceNotAvailable("refusal.no-gpu")
    if Device.CPU not in procedure.devices:
        raise DeviceNotAvailable("refusal.needs-gpu")
    if not procedure.uses_torch:
        return Device.CPU
    print(
        "NO GPU HERE: running on Triton's interpreter, on the CPU. Verdicts hold for the "
        "interpreter only, and nothing is timed. (--device cpu says so without this notice.)",
        file=sys.stderr,
    )
    return Device.CPU


def show_json(events: Iterable[Event]) -> None:
    for seq, event in enumerate(events, start=1):
        print(json.dumps(envelope(seq, event), ensure_ascii=False), flush=True)


def envelope(seq: int, event: Event) -> dict[str, Any]:
    at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"seq": seq, "kind": event.kind.value, "at": at, "data": to_data(event)}


def status_of(end: End | None) -> int:
    if end is None:
        return FAILED
    code = code_of(end)
    if code in DEVICE_REFUSALS:
        return NO_DEVICE
    if mistaken(end):
        return BAD_ARGUMENTS
    if code == SAVED:
        return PASSED
    return PASSED if end.outcome is Outcome.PASSED else FAILED


def reason(end: End) -> str:
    """The mistake in one sentence, which names the key and what is accepted."""
    note = end.note or Note("")
    return str(note.params["reason"]) if "reason" in note.params else sentence(note)


def code_of(end: End) -> str:
    return end.note.code if end.note is not None else ""


def print_list() -> None:
    for procedure in PROCEDURES.values():
        versions = ", ".join(map(str, procedure.versions))
        devices = ", ".join(device.value for device in procedure.devices)
        print(f"{procedure.name}   (versions {versions}; {devices})")
        print(f"    {MESSAGES[f'procedure.{procedure.name}.about']}")
        for parameter in procedure.parameters:
            shown = f"{parameter.name} = {parameter.default}"
            print(f"    {shown}   {parameter.help} ({accepts(parameter)})")
