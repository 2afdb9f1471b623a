"""What code inside bubblewrap cannot reach, tried from inside. Skipped where it does not work."""

import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner import sandbox

_BREAK_OUT = """
import ctypes, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
MS_REMOUNT, MS_BIND = 32, 4096
secret, address = sys.argv[1:]
folder = os.path.dirname(secret)
status = open("/proc/self/status").read()
print("capabilities", int(status.split("CapEff:")[1].split()[0], 16))
print("remount", libc.mount(b"none", b"/", b"", MS_REMOUNT | MS_BIND, b""))
print("unmount", libc.umount2(folder.encode(), 2))
print("unshared", libc.unshare(0x10000000 | 0x20000) == 0 and libc.umount2(folder.encode(), 2) == 0)
print("secret", os.path.exists(secret))
print("socket", socket.socket(socket.AF_UNIX).connect_ex(address) == 0)
for where in (folder, "/tmp", "/run", os.path.expanduser("~"), "/etc"):
    try:
        open(os.path.join(where, "written"), "w").close()
        print("wrote", where)
    except OSError:
        pass
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[sandbox.Place]:
    data, code = tmp_path / "data", Path(__file__).resolve().parents[2]
    for folder in ("outputs", "given", "cache"):
        (data / folder).mkdir(parents=True)
    (data / "secret").write_text("a key")
    (tmp_path / ".env").write_text("SECRET_KEY=a key")
    hidden = (data, tmp_path / ".env", tmp_path / "not-there")
    place = sandbox.Place(data / "outputs", data / "given", data / "cache", hidden, code, gpu=False)
    if sandbox.chosen(place)[0] != sandbox.BUBBLEWRAP:
        pytest.skip("bubblewrap does not work on this machine")
    yield place


def inside(place: sandbox.Place, script: str, *arguments: str) -> str:
    command = [*sandbox.bubblewrap(place), sys.executable, "-c", script, *arguments]
    environment = sandbox.clean_environment(place, {"PATH": "/usr/bin:/bin"})
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_root_has_no_capability_and_uncovers_nothing(place: sandbox.Place) -> None:
    secret = place.outputs.parent / "secret"
    with tempfile.TemporaryDirectory(prefix="chainrule-") as folder:  # as Valkey's may lie
        address = f"{folder}/valkey.sock"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(address)
            server.listen()
            said = inside(place, _BREAK_OUT, str(secret), address).splitlines()
    assert said == [
        *("capabilities 0", "remount -1", "unmount -1", "unshared False"),
        *("secret False", "socket False"),
    ]


def test_folders_that_others_share_are_empty_but_for_what_python_needs(
    place: sandbox.Place,
) -> None:
    script = "import os, sys\nfor name in sys.argv[1:]: print(*os.listdir(name))"
    said = inside(place, script, *map(str, sandbox.shared_folders())).splitlines()
    needed = [*sandbox.what_python_needs(place), place.outputs, place.given]
    for folder, names in zip(sandbox.shared_folders(), said, strict=True):
        allowed = {p.relative_to(folder).parts[0] for p in needed if p.is_relative_to(folder)}
        assert set(names.split()) <= allowed


def test_a_file_of_secrets_cannot_be_read(place: sandbox.Place) -> None:
    script = """
import sys
try:
    print(repr(open(sys.argv[1]).read()))
except PermissionError:
    print("refused")
"""
    assert inside(place, script, str(place.outputs.parents[1] / ".env")) in ("''\n", "refused\n")


def test_outputs_and_the_cache_of_kernels_can_be_written(place: sandbox.Place) -> None:
    script = "import sys\nfor name in sys.argv[1:]: open(name + '/kept', 'w').write('x')"
    inside(place, script, str(place.outputs), str(place.cache))
    assert (place.outputs / "kept").read_text() == (place.cache / "kept").read_text() == "x"


def test_what_a_run_goes_on_from_is_read_and_not_written(place: sandbox.Place) -> None:
    (place.given / "run").mkdir()  # made after the warm parent started, as for each Run
    (place.given / "run" / "step_000001.bin").write_bytes(b"weights")
    script = """
import os, sys
name = sys.argv[1] + "/step_000001.bin"
print(open(name).read())
for attempt in (lambda: os.chmod(name, 0o644), lambda: os.unlink(name), lambda: open(name, "ab")):
    try:
        attempt()
        print("changed it")
    except OSError:
        pass
"""
    assert inside(place, script, str(place.given / "run")) == "weights\n"


def test_python_that_cannot_work_inside_is_said_loudly(
    place: sandbox.Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sandbox, "bubblewrap", lambda place: ["false"])
    assert sandbox.chosen(place) == (sandbox.NONE, [])
    assert "NO SANDBOX" in capsys.readouterr().err


def test_an_environment_that_is_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    link = tmp_path / "environment"
    link.symlink_to("/usr")
    again = sandbox.shown_again(
        [tmp_path / "code", tmp_path / "code" / "inner", link, link / "lib"]
    )
    assert again == [
        *("--ro-bind", str(tmp_path / "code"), str(tmp_path / "code")),
        *("--symlink", "/usr", str(link)),
    ]
