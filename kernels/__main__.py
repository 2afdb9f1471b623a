import sys

from kernels.terminal import main

sys.exit(main(sys.argv[1:]))
