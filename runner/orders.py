"""What a slot says to its warm parent and hears from it: one JSON message a packet.

Imports neither Django nor torch: both ends load it.
"""

import json
import socket
from dataclasses import asdict, dataclass
from typing import Any

LONGEST = 256 * 1024


@dataclass(frozen=True)
class Limits:
    wall_seconds: int
    memory_bytes: int
    file_bytes: int = 2 * 1024**3
    open_files: int = 1024


@dataclass(frozen=True)
class Spawn:
    """Start one child. Two descriptors travel along: for its Events, and for its output."""

    procedure: str
    parameters: dict[str, Any]
    version: int
    device: str  # cuda, cpu
    outputs: str
    sandbox: str
    seed: int
    limits: Limits


@dataclass(frozen=True)
class Exited:
    """How the child ended: the signal that killed it, or its exit status."""

    signal: int | None
    status: int | None
    out_of_memory: bool = False


@dataclass(frozen=True)
class Facts:
    """What the warm parent learned of its device."""

    device_name: str
    driver: str
    torch: str
    triton: str


def send(channel: socket.socket, kind: str, body: Any, descriptors: tuple[int, ...] = ()) -> None:
    data = json.dumps({"kind": kind, "body": body}).encode()
    if len(data) > LONGEST:
        raise ValueError(f"A message of {len(data)} bytes is too long for the warm parent.")
    socket.send_fds(channel, [data], descriptors)


def send_spawn(channel: socket.socket, order: Spawn, events: int, output: int) -> None:
    send(channel, "spawn", asdict(order), (events, output))


def receive(channel: socket.socket) -> tuple[str, Any, list[int]]:
    """The next message; kind "" when the other end is gone."""
    data, descriptors, _, _ = socket.recv_fds(channel, LONGEST, 2)
    if not data:
        return "", None, []
    message = json.loads(data)
    return message["kind"], message["body"], descriptors
