"""How long the checkpoint file of n weights is. Needs neither torch nor NumPy.

int32 step | int32 n | n float32 weights | n float32 m | n float32 v
"""

import struct

HEADER = struct.Struct("<ii")
LARGEST_COUNT = 2**31 - 1  # what the header can say


def file_size(count: int) -> int:
    return HEADER.size + 12 * count
