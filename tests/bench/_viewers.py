"""Many websocket clients in one process, as cheap as can be: the server is what is measured."""

import asyncio
import base64
import os
import time
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Received:
    """One frame: when it came and what was in it."""

    at: float
    payload: bytes


@dataclass(eq=False)
class Viewer(asyncio.Protocol):
    """Reads what a server sends (unmasked, not compressed) and keeps it."""

    request: bytes
    frames: list[Received] = field(default_factory=list)
    buffer: bytearray = field(default_factory=bytearray)
    upgraded: bool = False
    refused: bytes = b""

    def __post_init__(self) -> None:
        self.opened = asyncio.get_running_loop().create_future()
        self.closed = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self.transport: asyncio.WriteTransport = transport
        transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        now = time.time()
        self.buffer += data
        if not self.upgraded and not self.upgrade():
            return
        while (frame := self.next_frame()) is not None:
            opcode, payload = frame
            if opcode == 1:
                self.frames.append(Received(now, payload))
            elif opcode == 8:
                self.transport.close()
            elif opcode == 9:
                self.transport.write(bytes([0x8A, 0x80]) + os.urandom(4))

    def upgrade(self) -> bool:
        head, found, rest = bytes(self.buffer).partition(b"\r\n\r\n")
        if not found:
            return False
        if b" 101 " not in head.partition(b"\r\n")[0]:
            self.refused = head
            self.transport.close()
            return False
        self.upgraded, self.buffer = True, bytearray(rest)
        self.opened.set_result(None)
        return True

    def next_frame(self) -> tuple[int, bytes] | None:
        have = self.buffer
        if len(have) < 2:
            return None
        length, start = have[1] & 127, 2
        if length == 126:
            length, start = int.from_bytes(have[2:4], "big"), 4
        elif length == 127:
            length, start = int.from_bytes(have[2:10], "big"), 10
        if len(have) < start + length or (start > 2 and len(have) < start):
            return None
        payload = bytes(have[start : start + length])
        opcode = have[0] & 15
        del have[: start + length]
        return opcode, payload

    def connection_lost(self, error: Exception | None) -> None:
        for future in (self.opened, self.closed):
            if not future.done():
                future.set_result(None)


def request_for(port: int, path: str, cookie: str) -> bytes:
    key = base64.b64encode(os.urandom(16)).decode()
    lines = (
        f"GET {path} HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        f"Origin: http://127.0.0.1:{port}",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {key}",
        f"Cookie: {cookie}",
    )
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def connect(port: int, path: str, cookie: str) -> Viewer:
    loop = asyncio.get_running_loop()
    request = request_for(port, path, cookie)
    _, viewer = await loop.create_connection(lambda: Viewer(request), "127.0.0.1", port)
    await viewer.opened
    if not viewer.upgraded:
        raise ConnectionError(viewer.refused.decode(errors="replace"))
    return viewer
