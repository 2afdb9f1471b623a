"""A web process, a worker, a reaper and a Valkey of their own, with the misbehaving Procedures."""

import os
import signal
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dj_database_url
import psutil
from celery import current_app
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.sessions.backends.db import SessionStore
from django.core.files.storage import FileSystemStorage, default_storage
from django.core.management import call_command
from django.db import connections

from chainrule.serving import plan
from chainrule.serving.children import Child
from runner import api, procedures
from runner.models import Run, State
from tests.stack import free_port

REGISTRY = "tests.runner.registry"


class Site:
    """The processes, and this process pointed at their database and broker."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self.socket = folder / "valkey.sock"
        self.file = str(folder / "chainrule.sqlite3")
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = dict(os.environ) | {
            "DATA_DIR": str(folder),
            "REDIS_URL": f"unix://{self.socket}",
            "SECRET_KEY": settings.SECRET_KEY,
            "RUNNER_REGISTRY": REGISTRY,
            "RUN_GRACE_SECONDS": "4",
            "RUN_MEMORY_MB": "600",
            **environment,
        }
        address = os.environ.get("DATABASE_URL")  # a server may be named; else SQLite in `folder`
        self.database = dj_database_url.parse(address)["NAME"] if address else self.file
        self.valkey = self.private_valkey()
        self.web = plan.web("127.0.0.1", self.port, self.environment)
        self.worker = plan.worker("cpu", 0, self.environment | {"TRITON_INTERPRET": "1"})
        self.reaper = plan.reaper(self.environment)

    def private_valkey(self) -> Child:
        kept, settings.DATA_DIR = settings.DATA_DIR, self.folder
        try:
            return plan.valkey(self.socket)
        finally:
            settings.DATA_DIR = kept

    def open(self) -> None:
        self.point_here()
        call_command("migrate", verbosity=0, interactive=False)
        self.start(self.valkey)
        wait_for(self.socket.exists)
        for child in (self.web, self.worker, self.reaper):
            self.start(child)
        wait_for(lambda: any(device.online for device in api.devices()), 120)
        wait_for(self.answers)

    def close(self) -> None:
        for child in (self.web, self.worker, self.reaper, self.valkey):
            child.signal(signal.SIGCONT)
            child.signal(signal.SIGTERM)
        for child in (self.web, self.worker, self.reaper, self.valkey):
            if not child.ended_within(5):
                child.signal(signal.SIGKILL)
                child.ended_within(5)
        self.point_back()

    def start(self, child: Child) -> None:
        kept = Path.cwd()
        os.chdir(settings.BASE_DIR)
        child.start()
        os.chdir(kept)

    def restart(self, child: Child) -> None:
        """Kill it as a crash would, and start it again."""
        assert child.process is not None
        child.process.kill()
        child.process.wait()
        self.start(child)

    def point_here(self) -> None:
        self._kept = (connections["default"], connections["default"].settings_dict["NAME"])
        self.leave_pool()
        self._kept_storage = default_storage._wrapped  # type: ignore[attr-defined]
        default_storage._wrapped = FileSystemStorage(self.folder / "files")  # type: ignore[attr-defined]
        self._kept_settings = (settings.REDIS_URL, settings.RUNNER_REGISTRY)
        del connections["default"]
        connections.settings["default"]["NAME"] = self.database
        settings.REDIS_URL = f"unix://{self.socket}"
        settings.RUNNER_REGISTRY = REGISTRY
        procedures.registry.cache_clear()
        self._kept_broker = current_app.conf.broker_url
        current_app.conf.broker_url = f"redis+socket://{self.socket}"

    def point_back(self) -> None:
        connections["default"].close()
        self.leave_pool()
        wrapper, connections.settings["default"]["NAME"] = self._kept
        connections["default"] = wrapper
        settings.REDIS_URL, settings.RUNNER_REGISTRY = self._kept_settings
        default_storage._wrapped = self._kept_storage  # type: ignore[attr-defined]
        procedures.registry.cache_clear()
        current_app.conf.broker_url = self._kept_broker

    def leave_pool(self) -> None:
        """Django's pool is known by its alias, whatever database it leads to."""
        if connections["default"].vendor == "postgresql":
            connections["default"].close()
            connections["default"].close_pool()

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=2):
                return True
        except (urllib.error.URLError, OSError):
            return False

    def person(self) -> Any:
        return get_user_model().objects.create_guest("en")

    def cookie(self, person: Any) -> str:
        """What a browser signed in as this person sends."""
        session = SessionStore()
        session[SESSION_KEY] = str(person.pk)
        session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
        session[HASH_SESSION_KEY] = person.get_session_auth_hash()
        session.save()
        return f"{settings.SESSION_COOKIE_NAME}={session.session_key}"

    def submit(self, procedure: str, person: Any = None, **parameters: Any) -> Run:
        view = api.submit(person or self.person(), procedure, parameters=parameters, device="cpu")
        return Run.objects.get(id=view.id)

    def run(self, procedure: str, timeout: float = 150, **parameters: Any) -> Run:
        return self.ended(self.submit(procedure, **parameters), timeout)

    def ended(self, run: Run, timeout: float = 150) -> Run:
        wait_for(lambda: reread(run).state == State.ENDED, timeout)
        return run

    def running(self, run: Run, events: int = 2, timeout: float = 90) -> Run:
        """Once it has told that many Events."""
        wait_for(lambda: reread(run).state == State.RUNNING and run.last_seq >= events, timeout)
        return run

    def descendants(self, child: Child) -> list[psutil.Process]:
        assert child.process is not None
        return psutil.Process(child.process.pid).children(recursive=True)

    def child_of(self, run: Run) -> psutil.Process:
        """The process that runs it: the one whose folder is the Run's."""

        def find() -> psutil.Process | None:
            for process in self.descendants(self.worker):
                try:
                    if str(run.id) in os.readlink(f"/proc/{process.pid}/cwd"):
                        return process
                except OSError:
                    continue
            return None

        return wait_for(find)


def reread(run: Run) -> Run:
    run.refresh_from_db()
    return run


def wait_for(what: Callable[[], Any], timeout: float = 90, every: float = 0.05) -> Any:
    deadline = time.monotonic() + timeout
    while not (found := what()):
        assert time.monotonic() < deadline, f"waited {timeout} s in vain"
        time.sleep(every)
    return found


def events_of(run_id: uuid.UUID) -> list[dict[str, Any]]:
    return api.stored_after(run_id, 0, 100_000)


def require_whole(run: Run) -> None:
    """Numbers from 1 without a gap, one outcome, at the end."""
    events = events_of(run.id)
    assert [event["seq"] for event in events] == list(range(1, run.last_seq + 1))
    assert [event["kind"] for event in events].count("outcome") == 1
    assert events[-1]["kind"] == "outcome"
