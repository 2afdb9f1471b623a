"""Which client a request comes from."""

import ipaddress
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from django.conf import settings
from django.http import HttpRequest

NOWHERE = "0.0.0.0"  # a peer without an address: a unix socket


def client_ip(request: HttpRequest) -> str:
    """The client's address, as far as it can be believed; always a well-formed one.

    X-Forwarded-For is read only where TRUSTED_PROXIES says how many proxies of ours append to
    it: whatever stands left of what they wrote, the client may have made up.
    """
    return _believed(
        request.META.get("REMOTE_ADDR", ""), request.META.get("HTTP_X_FORWARDED_FOR", "")
    )


class Addressed:
    """Tells a websocket's application which client opens it: `network` in its scope."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        peer = (scope.get("client") or ("",))[0]
        said = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
        client = network(_believed(peer, b",".join(said).decode("latin-1")))
        return await self.app(scope | {"network": client}, receive, send)


def _believed(peer_address: str, forwarded: str) -> str:
    peer = _parsed(peer_address)
    proxies: int = settings.TRUSTED_PROXIES
    if proxies:
        hops = forwarded.split(",")
        claimed = hops[-proxies] if len(hops) >= proxies else ""
        peer = _parsed(claimed) or peer
    return str(peer) if peer else NOWHERE


def network(address: str) -> str:
    """What is counted as one client: an IPv4 address, or the /64 an IPv6 host chooses from."""
    parsed = ipaddress.ip_address(address)
    if isinstance(parsed, IPv6Address):
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    try:
        parsed = ipaddress.ip_address(text.strip().partition("%")[0])  # without a zone
    except ValueError:
        return None
    mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
    return mapped or parsed
