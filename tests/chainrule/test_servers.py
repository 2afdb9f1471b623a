"""docker-compose.yml's own commands, run by hand on PostgreSQL and Valkey, with two workers.

No Docker engine is needed: what the images would run is run here, with their environment.
"""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest
import yaml

from runner.processes import die_with_parent
from tests.chainrule import servers
from tests.stack import ROOT, free_port
from tests.visitor import Visitor

STEP = "/en/rmsnorm/forward/two-sizes/"
WORKER = {"CHAINRULE_QUEUE": "cpu", "TRITON_INTERPRET": "1"}


class Site:
    """The services that run, and where they are reached."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder, self.environment, self.port = folder, environment, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.started: list[subprocess.Popen[bytes]] = []

    def run(self, service: str) -> None:
        subprocess.run(
            servers.command_of(service), cwd=ROOT, env=self.environment, check=True, timeout=120
        )

    def start(self, service: str, name: str, **more: str) -> subprocess.Popen[bytes]:
        command = [
            word.replace("8000", str(self.port)).replace("0.0.0.0", "127.0.0.1")
            for word in servers.command_of(service)
        ]
        if "-n" in command:
            command[command.index("-n") + 1] = f"{name}@%h"
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=self.environment | more,
            stderr=(self.folder / f"{name}.log").open("wb"),
            preexec_fn=partial(die_with_parent, os.getpid()),
        )
        self.started.append(process)
        return process


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    if servers.postgres_folder() is None:
        pytest.fail("PostgreSQL's initdb was not found: install it (Debian: postgresql).")
    folder = tmp_path_factory.mktemp("servers")
    with ExitStack() as stack:
        environment = dict(os.environ) | {
            "DATABASE_URL": stack.enter_context(servers.postgres(folder)),
            "REDIS_URL": stack.enter_context(servers.valkey(folder)),
            "DATA_DIR": str(folder / "data"),
            "SECRET_KEY": "a secret of this test alone",
        }
        site = Site(folder, environment)
        site.run("prepare")
        site.start("web", "web")
        site.start("reaper", "reaper")
        servers.wait_for_port(site.port)
        yield site
        for process in site.started:
            process.terminate()
        for process in site.started:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


@pytest.fixture(scope="module")
def workers(site: Site) -> list[subprocess.Popen[bytes]]:
    processes = [site.start("cpu", name, **WORKER) for name in ("one", "two")]
    servers.wait_for([*servers.command_of("prepare")[:2], "worker_alive"], site.environment)
    return processes


def cases(events: list[dict]) -> list[str]:
    return [event["data"]["id"] for event in events if event["kind"] == "case"]


@pytest.mark.stack
def test_two_visitors_runs_pass_on_two_workers(site: Site, workers: list) -> None:
    visitors = [Visitor(site.url), Visitor(site.url)]
    runs = [visitor.run(STEP, "cpu") for visitor in visitors]
    for visitor, run in zip(visitors, runs, strict=True):
        events = list(visitor.follow(run))
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        assert events[-1]["data"]["outcome"] == "passed"
        assert len(set(cases(events))) == len(cases(events)) >= 72


@pytest.mark.chaos
def test_a_run_whose_worker_is_killed_ends_on_another(site: Site, workers: list) -> None:
    visitor = Visitor(site.url)
    run = visitor.run(STEP, "cpu")
    seen = []
    for event in visitor.follow(run):
        seen.append(event)
        if len(seen) == 5:
            for worker in workers:  # whichever has it
                worker.send_signal(signal.SIGKILL)
            site.start("cpu", "three", **WORKER)
    assert [event["seq"] for event in seen] == list(range(1, len(seen) + 1))
    notes = [event["data"]["note"]["code"] for event in seen if event["data"].get("note")]
    assert notes[0] == "made" and "log.restarted" in notes
    assert seen[-1]["data"]["outcome"] == "passed"


def test_compose_file_names_the_path_the_lessons_name_and_holds_no_secret() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    assert "gpu python -m kernels rmsnorm.check-forward --config configs/minimum.yaml" in text
    services = yaml.safe_load(text)["services"]
    assert {"web", "gpu", "valkey", "postgres"} <= set(services)
    for name in ("web", "gpu", "valkey", "postgres"):
        assert services[name]["healthcheck"]["test"]
    for name in ("SECRET_KEY", "POSTGRES_PASSWORD"):
        assert f"${{{name}:?" in text
        assert f"{name}=\n" in (ROOT / ".env.example").read_text()
