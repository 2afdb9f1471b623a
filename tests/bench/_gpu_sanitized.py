"""A few launches of every kernel, to be watched by a memory checker:

compute-sanitizer python -m tests.bench._gpu_sanitized
"""

import torch

from kernels.rmsnorm import EPS
from kernels.rmsnorm_versions import VERSIONS

for number in (1, 2, 3):
    for rows, columns in ((3, 257), (600, 31), (5, 8193)):
        if columns > VERSIONS[number].contract.max_columns:
            continue
        x = torch.randn(rows, columns, device="cuda", requires_grad=True)
        gamma = torch.randn(columns, device="cuda", requires_grad=True)
        for _ in range(2):
            VERSIONS[number].apply(x, gamma, EPS).sum().backward()
torch.cuda.synchronize()
print("all launched")
