"""Which proxy of the environment stands between us and an endpoint."""

import ipaddress
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass


def proxy_for(base_url: str) -> str | None:
    """Returns a proxy's address from HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, unless NO_PROXY names the host.

    None for this machine: a proxy would look for the endpoint on its own host.
    """
    address = urlsplit(base_url)
    if _is_this_machine(address.hostname or "") or proxy_bypass(address.netloc):
        return None
    proxies = getproxies()
    proxy = proxies.get(address.scheme) or proxies.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name
        return False
