"""Which pages may open a websocket: those of this very site."""

from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host


class SameOrigin:
    """Refuses a websocket whose Origin is not the host and port that it is opened at.

    Cookies know no ports and browsers let any page open a websocket anywhere: comparing host
    names alone would trust whatever else runs on this machine.
    """

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        headers = dict(scope["headers"])
        host, origin = (headers.get(name, b"").decode("latin-1") for name in (b"host", b"origin"))
        app = self.app if _allowed(host.lower(), origin.lower()) else WebsocketDenier()
        return await app(scope, receive, send)


def _allowed(host: str, origin: str) -> bool:
    domain, _port = split_domain_port(host)
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        return False
    return urlsplit(origin).netloc == host or origin in settings.CSRF_TRUSTED_ORIGINS
