"""Where the server can be reached from this machine, and whether it answers."""

from __future__ import annotations

import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException

from raif_integrations.cli.serving.flags import VllmFlags

_DEFAULT_PORT = "8000"
_ALL_INTERFACES = ("", "0.0.0.0", "::")
_HEALTH_SECONDS = 2.0


def base_url(given: VllmFlags) -> str | None:
    """Base URL of the server's API; ``None`` if it has no address of its own.

    Args:
        given: The user's own flags.
    """
    if "uds" in given or "headless" in given:
        return None
    host = given.value("host") or ""
    host = "localhost" if host in _ALL_INTERFACES else host
    host = f"[{host}]" if ":" in host else host
    scheme = "https" if "ssl-certfile" in given else "http"
    return f"{scheme}://{host}:{given.value('port') or _DEFAULT_PORT}/v1"


def demands_key(given: VllmFlags, environment: Mapping[str, str]) -> bool:
    """Whether requests need a key."""
    return bool(given.value("api-key") or environment.get("VLLM_API_KEY"))


def answers(api: str) -> bool:
    """Whether the server with this base URL is ready for requests."""
    context = ssl.create_default_context()
    # It is our own process, whose certificate may be made out to another name than localhost.
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
    )
    try:
        with opener.open(f"{api.removesuffix('/v1')}/health", timeout=_HEALTH_SECONDS) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, HTTPException, OSError):
        return False
