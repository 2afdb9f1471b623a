"""`python -m tests.bench [name …]`: runs the benchmarks and prints their tables.

Each is a module here with `main() -> None`. Without a name all of them run, the GPU's too: it
says that there is none rather than print a time of the interpreter's.
"""

import importlib
import pkgutil
import sys

import tests.bench


def main() -> None:
    known = sorted(m.name for m in pkgutil.iter_modules(tests.bench.__path__) if m.name[0] != "_")
    wanted = sys.argv[1:] or known
    for name in wanted:
        if name not in known:
            sys.exit(f"There is no benchmark {name!r}; there are: {', '.join(known)}.")
    for name in wanted:
        print(f"\n{name}\n{'-' * len(name)}", flush=True)
        importlib.import_module(f"tests.bench.{name}").main()


if __name__ == "__main__":
    main()
