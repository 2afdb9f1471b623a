"""The warm parent: it has imported torch and Triton, never touched a GPU, and forks each child.

Started by a slot as `python -m runner.zygote <descriptor> <parent pid or 0>`. It takes orders
on a socket, watches the child's memory and tells how it ended. No Django here: a child inherits
everything that this process holds.
"""

import gc
import importlib
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import asdict

import psutil

from kernels import execution, machine
from runner import child, orders
from runner.processes import adopt_orphans, die_with_parent, private_bytes

_LOOK_SECONDS = 0.1  # how often the child's memory is measured
_FAMILY_EVERY = 10  # looks between two searches for the child's own children


def main() -> None:
    channel = socket.socket(fileno=int(sys.argv[1]))
    if parent := int(sys.argv[2]):
        die_with_parent(parent)
    adopt_orphans()
    for number in (signal.SIGINT, signal.SIGTERM):  # the slot ends us by closing the channel
        signal.signal(number, signal.SIG_IGN)
    warm_up()
    orders.send(channel, "ready", asdict(facts()))
    Zygote(channel).serve()


def warm_up() -> None:
    """Import once what every child would import. What is missing is missed by the child."""
    # Triton imports the last of them at a first launch, for a fifth of a second.
    for name in ("numpy", "torch", "triton", "triton.language", "triton.experimental.gluon"):
        with suppress(ImportError):
            importlib.import_module(name)
    registry = importlib.import_module(os.environ.get("RUNNER_REGISTRY", "kernels.registry"))
    for procedure in registry.PROCEDURES.values():
        with suppress(ImportError):
            importlib.import_module(procedure.entry.partition(":")[0])
    machine.commit()
    gc.collect()
    gc.freeze()  # a collection in the child would copy every page it looks at


def facts() -> orders.Facts:
    return orders.Facts(
        device_name=asked_in_a_child() or machine.processor_name(),
        driver=machine.driver_version(),
        torch=machine.package_version("torch"),
        triton=machine.package_version("triton"),
    )


def asked_in_a_child() -> str:
    """The GPU's name: asking touches CUDA, which must not happen in the process that forks."""
    if os.environ.get("TRITON_INTERPRET") == "1":
        return ""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writing, execution.gpu_name().encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        name = answer.read().decode()
    os.waitpid(pid, 0)
    return name


class Zygote:
    """One child at a time: a slot owns a device."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel
        self.pid = 0
        self.limits = orders.Limits(0, 0)
        self.out_of_memory = False
        self.family: list[int] = []
        self.looks = 0
        # SIGCHLD writes into this pipe, so that an end is noticed at once.
        self.bell, ringing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(ringing, warn_on_full_buffer=False)

    def serve(self) -> None:
        channel = self.channel.fileno()
        while True:
            timeout = _LOOK_SECONDS if self.pid else None
            ready, _, _ = select.select([channel, self.bell], [], [], timeout)
            if self.bell in ready:
                with suppress(BlockingIOError):
                    os.read(self.bell, 4096)
            if channel in ready and not self.obey():
                break
            if self.pid:
                self.watch_memory()
                self.notice_end()
        self.sweep()

    def obey(self) -> bool:
        kind, body, descriptors = orders.receive(self.channel)
        if kind == "spawn":
            limits = orders.Limits(**body.pop("limits"))
            self.spawn(orders.Spawn(**body, limits=limits), *descriptors)
        elif kind == "signal" and self.pid:
            self.signal(body)
        return kind != ""

    def spawn(self, order: orders.Spawn, events: int, output: int) -> None:
        parent = os.getpid()
        self.limits, self.out_of_memory, self.looks = order.limits, False, 0
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            self.channel.close()
            child.become(order, events, output, parent)
        os.close(events)
        os.close(output)
        self.pid, self.family = pid, [pid]

    def watch_memory(self) -> None:
        if self.looks % _FAMILY_EVERY == 0:
            self.family = [self.pid, *(p.pid for p in descendants(self.pid))]
        self.looks += 1
        if sum(map(private_bytes, self.family)) > self.limits.memory_bytes:
            self.out_of_memory = True
            self.signal(signal.SIGKILL)

    def signal(self, number: int) -> None:
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:  # not yet the leader of a group of its own
            os.kill(self.pid, number)

    def notice_end(self) -> None:
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0:
            return
        self.pid = 0
        self.sweep()
        killed = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        orders.send(self.channel, "exited", asdict(orders.Exited(killed, code, self.out_of_memory)))

    def sweep(self) -> None:
        """Kill whatever the child left behind, also what moved to a session of its own."""
        while left := descendants(os.getpid()):
            for process in left:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            with suppress(ChildProcessError):
                while os.waitpid(-1, 0):
                    pass


def descendants(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


if __name__ == "__main__":
    main()
