import sys

from kernels import signals

ASKED = signals.listen()

from kernels.terminal import main  # noqa: E402 - after the handlers: it takes a while

try:
    STATUS = main(sys.argv[1:], ASKED)
finally:
    signals.ignore()
sys.exit(STATUS)
