"""`python -m kernels`: the Procedures at a terminal.

Exit status: 0 passed (or stopped with a checkpoint), 1 failed (or stopped), 2 bad arguments,
3 device not available.
"""

import argparse
import json
import os
import signal
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

from kernels import machine
from kernels.config import read_config
from kernels.events import End, Event, Outcome, to_data
from kernels.execution import REFUSED, execute
from kernels.messages import MESSAGES
from kernels.procedure import BadParameter, Context, Device, Procedure
from kernels.registry import PROCEDURES, UnknownProcedure, accepts, get, parse
from kernels.report import Report

PASSED, FAILED, BAD_ARGUMENTS, NO_DEVICE = 0, 1, 2, 3
SAVED = "end.saved"  # stopped, and nothing is lost
DEVICE_REFUSALS = {"refusal.no-gpu", "refusal.needs-gpu"}


def main(arguments: list[str]) -> int:
    parser = arguments_parser()
    options = parser.parse_args(arguments)
    if options.list:
        print_list()
        return PASSED
    if options.name is None:
        parser.error("a Procedure is needed; --list shows them")
    try:
        procedure = get(options.name)
        context = prepare(procedure, options)
    except (UnknownProcedure, BadParameter) as mistake:
        print(mistake, file=sys.stderr)
        return BAD_ARGUMENTS
    stop_on_signals(context)
    # Before torch and Triton are imported: Triton decides once, when it reads a kernel.
    if context.device is Device.CPU:
        os.environ["TRITON_INTERPRET"] = "1"
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # its products are too small to share
    else:
        os.environ.pop("TRITON_INTERPRET", None)
    events = execute(procedure, context, sandbox="none")
    try:
        return status_of(show_json(events) if options.json else Report(procedure).show(events))
    except BrokenPipeError:  # the reader went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


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
    parser.add_argument("--output", type=Path, default=Path("outputs"), help="folder for artifacts")
    parser.add_argument("--json", action="store_true", help="one JSON Event a line")
    return parser


def prepare(procedure: Procedure, options: argparse.Namespace) -> Context:
    given = read_config(options.config, procedure) if options.config else {}
    for pair in options.set:
        key, equals, value = pair.partition("=")
        if not equals:
            raise BadParameter(f"--set takes key=value, not {pair!r}.")
        given[key] = value
    version = procedure.versions[0] if options.version is None else options.version
    if version not in procedure.versions:
        accepted = ", ".join(map(str, procedure.versions))
        raise BadParameter(f"{procedure.name} has no version {version}; accepted: {accepted}.")
    parameters = parse(procedure, given)
    try:
        options.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadParameter(
            f"{options.output} cannot be used for output: {error.strerror}."
        ) from None
    return Context(choose_device(options.device), version, parameters, options.output.resolve())


def choose_device(asked: str | None) -> Device:
    if asked is not None:
        return Device(asked)
    if machine.cuda_present():
        return Device.CUDA
    print(
        "NO GPU HERE: running on Triton's interpreter, on the CPU. Verdicts hold for the "
        "interpreter only, and nothing is timed. (--device cpu says so without this notice.)",
        file=sys.stderr,
    )
    return Device.CPU


def stop_on_signals(context: Context) -> None:
    def stop(number: int, frame: FrameType | None) -> None:
        context.stop.set()
        if number == signal.SIGINT:
            signal.signal(number, signal.SIG_DFL)  # a second Ctrl-C ends at once

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGUSR1, lambda number, frame: context.checkpoint.set())


def show_json(events: Iterator[Event]) -> End | None:
    end = None
    for seq, event in enumerate(events, start=1):
        print(json.dumps(envelope(seq, event), ensure_ascii=False), flush=True)
        if isinstance(event, End):
            end = event
    return end


def envelope(seq: int, event: Event) -> dict[str, Any]:
    at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"seq": seq, "kind": event.kind.value, "at": at, "data": to_data(event)}


def status_of(end: End | None) -> int:
    if end is None:
        return FAILED
    code = end.note.code if end.note is not None else ""
    if code in DEVICE_REFUSALS:
        return NO_DEVICE
    if code == REFUSED:
        return BAD_ARGUMENTS
    if code == SAVED:
        return PASSED
    return PASSED if end.outcome is Outcome.PASSED else FAILED


def print_list() -> None:
    for procedure in PROCEDURES.values():
        versions = ", ".join(map(str, procedure.versions))
        devices = ", ".join(device.value for device in procedure.devices)
        print(f"{procedure.name}   (versions {versions}; {devices})")
        print(f"    {MESSAGES[f'procedure.{procedure.name}.about']}")
        for parameter in procedure.parameters:
            shown = f"{parameter.name} = {parameter.default}"
            print(f"    {shown}   {parameter.help} ({accepts(parameter)})")
