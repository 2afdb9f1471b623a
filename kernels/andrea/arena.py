"""One allocation that holds every buffer of a plan."""

import psutil
import torch

from kernels.andrea.plan import BESIDE_ON_GPU, Buffer, Plan, aligned, require_room

DTYPES = {
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "int32": torch.int32,
}


class Arena:
    """The buffers by name, zeroed. Raises MemoryRefused before anything is allocated."""

    def __init__(self, plan: Plan, device: torch.device) -> None:
        require_room(plan, free_memory(device), BESIDE_ON_GPU if device.type == "cuda" else 0)
        self.memory = torch.zeros(plan.bytes, dtype=torch.uint8, device=device)
        self.buffers: dict[str, torch.Tensor] = {}
        start = 0
        for buffer in plan.buffers:
            self.buffers[buffer.name] = self.view(buffer, start)
            start += aligned(buffer.bytes)

    def view(self, buffer: Buffer, start: int) -> torch.Tensor:
        part = self.memory[start : start + buffer.bytes]
        return part.view(DTYPES[buffer.dtype]).view(buffer.shape)

    def __getitem__(self, name: str) -> torch.Tensor:
        return self.buffers[name]


def free_memory(device: torch.device) -> int:
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    return int(psutil.virtual_memory().available)
