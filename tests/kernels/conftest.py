"""Kernels run on Triton's interpreter here, so that these tests need no GPU."""

import os

os.environ["TRITON_INTERPRET"] = "1"  # before any module imports Triton
os.environ.setdefault(
    "OMP_NUM_THREADS", "1"
)  # before NumPy: small products gain no time in threads
