"""What goes to a platform: in time, and with nothing of this machine's surroundings."""

import io
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings
from requests import PreparedRequest, Response
from requests.adapters import BaseAdapter

from classroom.lti.outgoing import NotThere, Services
from tests.classroom.lti.conftest import registered
from tests.classroom.lti.platform import Simulated

pytestmark = pytest.mark.django_db
ADDRESS = "https://lms.example.org/roster"


class Kept(BaseAdapter):
    """In place of the network: what would have gone there, and how."""

    def __init__(self, status: int) -> None:
        super().__init__()
        self.status = status
        self.sent: list[tuple[PreparedRequest, dict[str, Any]]] = []

    def send(self, request: PreparedRequest, **options: Any) -> Response:  # type: ignore[override]
        self.sent.append((request, options))
        answer = Response()
        answer.status_code, answer.url = self.status, str(request.url)
        answer.request, answer.raw = request, io.BytesIO(b"{}")
        answer.headers["Location"] = "https://lms.example.org/elsewhere"
        return answer

    def close(self) -> None:
        pass


@pytest.fixture
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine whose environment has proxies, a bundle of certificates and passwords."""
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine lms.example.org login root password secret\n")
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy"):
        monkeypatch.setenv(name, "http://elsewhere.example:3128")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(netrc))
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HOME", str(tmp_path))


def ask(method: str, **options: Any) -> tuple[PreparedRequest, dict[str, Any]]:
    services, kept = services_of(200)
    services.request(method, ADDRESS, **options)
    return kept.sent[0]


def services_of(status: int) -> tuple[Services, Kept]:
    services, kept = Services(registered(Simulated(url="https://lms.example.org"))), Kept(status)
    services.mount("https://", kept)
    return services, kept


@pytest.mark.parametrize("loopback", [False, True])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_nothing_of_the_environment_goes_along(
    surroundings: None, settings: Settings, method: str, loopback: bool
) -> None:
    settings.LTI_LOOPBACK = loopback
    request, options = ask(method)
    assert "Authorization" not in request.headers
    assert not options["proxies"] and options["verify"] is True


def test_a_proxy_is_used_where_the_settings_name_one(
    surroundings: None, settings: Settings
) -> None:
    settings.LTI_PROXY = "http://proxy.example:3128"
    _request, options = ask("GET")
    assert options["proxies"] == {"https": "http://proxy.example:3128"}


@pytest.mark.parametrize("asked", [{}, {"timeout": None}, {"timeout": 600}])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
def test_no_request_waits_without_an_end(method: str, asked: dict[str, Any]) -> None:
    _request, options = ask(method, **asked)
    connecting, reading = options["timeout"]
    assert 0 < connecting <= 5 and 0 < reading <= 10


@pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
def test_no_request_follows_a_detour(method: str) -> None:
    services, kept = services_of(302)
    with pytest.raises(NotThere, match="detour"):
        services.request(method, ADDRESS, allow_redirects=True)
    assert len(kept.sent) == 1


def test_a_token_that_was_given_goes_along(surroundings: None) -> None:
    request, _options = ask("GET", headers={"Authorization": "Bearer given"})
    assert request.headers["Authorization"] == "Bearer given"
