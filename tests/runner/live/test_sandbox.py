"""What a child can see of the machine it runs on."""

import os
import sys

import psutil
import pytest

from runner import api
from tests.runner.site import Site, events_of


@pytest.fixture(scope="module")
def seen(site: Site) -> dict[str, str]:
    run = site.run("test.look-around")
    assert run.outcome == "passed"
    found = {}
    for event in events_of(run.id):
        if event["kind"] == "metric":
            found[event["data"]["name"]] = str(int(event["data"]["value"]))
        elif text := event["data"].get("text"):
            name, _, rest = text.partition(" ")
            found[name] = rest
    found["sandbox"] = run.made["sandbox"]
    return found


def test_no_secret_is_in_the_environment(seen: dict[str, str]) -> None:
    names = set(seen["environment"].split())
    assert not names & {"SECRET_KEY", "REDIS_URL", "DATABASE_URL", "DATA_DIR"}
    assert not [name for name in names if "PASSWORD" in name or "TOKEN" in name]


def test_inside_bubblewrap_neither_secrets_nor_network_nor_other_processes_are_seen(
    seen: dict[str, str],
) -> None:
    if seen["sandbox"] != "bubblewrap":
        pytest.skip("bubblewrap does not work on this machine; the Run said so")
    assert set(seen["data"].split()) <= {"triton", "work"}
    assert seen["network"] in ("", "lo")
    assert int(seen["processes"]) <= 4
    assert int(seen["capabilities"]) == 0


def test_few_descriptors_reach_the_child(seen: dict[str, str]) -> None:
    assert int(seen["descriptors"]) <= 8


def test_the_site_says_which_sandbox_its_workers_have(site: Site, seen: dict[str, str]) -> None:
    cpu = next(device for device in api.devices() if device.device == "cpu")
    assert cpu.online
    assert cpu.sandbox == seen["sandbox"]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_neither_web_nor_worker_has_loaded_torch(site: Site) -> None:
    site.run("test.count")
    assert site.worker.process is not None and site.web.process is not None
    slots = [
        process
        for process in site.descendants(site.worker)
        if "celery" in " ".join(process.cmdline())
    ]
    for pid in (site.web.process.pid, site.worker.process.pid, *(slot.pid for slot in slots)):
        with open(f"/proc/{pid}/maps") as maps:
            assert "libtorch" not in maps.read()
    assert slots


def test_the_warm_parent_has_loaded_torch(site: Site) -> None:
    def loaded(process: psutil.Process) -> bool:
        try:
            with open(f"/proc/{process.pid}/maps") as maps:
                return "libtorch" in maps.read()
        except OSError:
            return False

    assert os.path.exists("/proc/self/maps")
    assert any(loaded(process) for process in site.descendants(site.worker))
