"""Which client a request comes from."""

import ipaddress

from django.conf import settings
from django.http import HttpRequest


def client_ip(request: HttpRequest) -> str:
    """The client's address, as far as it can be believed.

    X-Forwarded-For is read only where TRUSTED_PROXIES says how many proxies of ours append to
    it: whatever stands left of what they wrote, the client may have made up.
    """
    peer = request.META.get("REMOTE_ADDR") or "unknown"
    proxies: int = settings.TRUSTED_PROXIES
    if not proxies:
        return peer
    hops = [hop.strip() for hop in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    claimed = hops[-proxies] if len(hops) >= proxies else ""
    return claimed if _is_address(claimed) else peer


def network(address: str) -> str:
    """What is counted as one client: an IPv4 address, or the /64 an IPv6 host chooses from."""
    if not _is_address(address):
        return address
    parsed = ipaddress.ip_address(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return address


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
