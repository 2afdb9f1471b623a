"""Makes the virtual environment and installs what is pinned. Standard library only.

    python3 scripts/setup.py site    what `make run` needs
    python3 scripts/setup.py dev     the same and the tools of `make test` and `make check`

A step whose inputs have not changed since it last succeeded is skipped, so that a second
start takes seconds.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
LEAST_TORCH, LEAST_TRITON = (2, 11), (3, 6)
VERSIONS = """
import re, torch, triton
for module in (torch, triton):
    print(*re.findall(r"\\d+", module.__version__)[:2])
"""


def main() -> None:
    which = sys.argv[1] if len(sys.argv) > 1 else "site"
    if which not in ("site", "dev"):
        sys.exit(f"setup: {which!r} is not known: write site or dev.")
    if sys.version_info < (3, 11):  # noqa: UP036  (this file is what an older Python meets)
        sys.exit(
            "Chainrule needs Python 3.11 or newer; this is Python "
            f"{sys.version.split()[0]}. Install a newer one and name it: make run PYTHON=python3.12"
        )
    try:
        make_environment(which)
    except subprocess.CalledProcessError as error:
        sys.exit(
            f"setup: this command failed: {' '.join(map(str, error.cmd))}\n"
            "Its own message stands above. Mend the cause and run the same make command again; "
            "what is already installed is kept."
        )
    except PermissionError as error:
        sys.exit(
            f"setup: {error.filename} cannot be written. Clone Chainrule into your own folder."
        )


def make_environment(which: str) -> None:
    if not (VENV / "bin" / "pip").exists():  # a venv that failed half-way has a python already
        say("Making .venv")
        flags = ["--system-site-packages"] if has_torch(sys.executable) else []
        run(sys.executable, "-m", "venv", "--clear", *flags, str(VENV))
    # The dev lock holds everything of the site's, so a folder set up for tests can also run.
    done = VENV / "lock.done"
    wanted = digest("build.lock", f"{which}.lock")
    known = done.read_text().split() if done.exists() else []
    if wanted not in known:
        say("Installing the pinned dependencies")
        pip("--require-hashes", "-r", "requirements/build.lock")
        pip("--require-hashes", "-r", f"requirements/{which}.lock")
        pip("--no-deps", "--no-build-isolation", "-e", ".")
        implied = [digest("build.lock", "site.lock")] if which == "dev" else []
        done.write_text("\n".join([wanted, *implied]))
    if not (VENV / "torch.done").exists():
        if not has_torch(str(PYTHON)):
            say("Installing torch and Triton (large; once)")
            pip("-r", "requirements/torch.txt")
        (VENV / "torch.done").touch()
    compile_translations()


def has_torch(python: str) -> bool:
    """Whether that Python imports a torch and a Triton new enough to be kept."""
    answer = subprocess.run([python, "-c", VERSIONS], capture_output=True, text=True, cwd="/")
    if answer.returncode:
        return False
    torch, triton = (tuple(map(int, line.split())) for line in answer.stdout.splitlines())
    return torch >= LEAST_TORCH and triton >= LEAST_TRITON


def digest(*names: str) -> str:
    text = b"".join((ROOT / "requirements" / name).read_bytes() for name in names)
    return hashlib.sha256(text + str(ROOT).encode()).hexdigest()


def pip(*arguments: str) -> None:
    run(str(PYTHON), "-m", "pip", "install", "-q", "--disable-pip-version-check", *arguments)


def compile_translations() -> None:
    command = [str(PYTHON), "manage.py", "translations", "compile"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if answer.returncode:  # a setting that cannot be used: the sentence says which
        sys.exit(answer.stderr.strip())


def run(*command: str) -> None:
    environment = os.environ | {"PIP_ROOT_USER_ACTION": "ignore"}
    subprocess.run(command, cwd=ROOT, check=True, env=environment)


def say(sentence: str) -> None:
    print(f"setup: {sentence} …", flush=True)


if __name__ == "__main__":
    main()
