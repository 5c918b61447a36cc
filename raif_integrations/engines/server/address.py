"""Where a vLLM server is: the one address a user gives, checked and split."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from raif_integrations.errors import ConfigurationError

_ENDPOINTS = ("/chat/completions", "/completions", "/responses", "/models")
_EXAMPLE = "Give it like 'http://localhost:8000/v1'."


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The two roots of a vLLM server.

    Attributes:
        api: Base URL of the OpenAI-compatible API, without a slash at its end (``http://host:8000/v1``).
        root: Base URL of vLLM's own endpoints (``/version``, ``/tokenize``), the API's without ``/v1``.
    """

    api: str
    root: str

    @classmethod
    def parse(cls, base_url: str) -> ServerAddress:
        """Checks ``base_url`` and completes it.

        ``http://host:8000`` becomes ``http://host:8000/v1``; any path that is given is kept, so that
        servers behind a gateway's prefix can be reached.

        Args:
            base_url: Address of the server, with or without ``/v1``.

        Raises:
            ConfigurationError: It is not an ``http(s)://`` URL of a server's API.
        """
        if not isinstance(base_url, str) or not base_url.strip():
            raise ConfigurationError("base_url is empty.", hint=_EXAMPLE)
        base_url = base_url.strip()
        # The port is parsed only when it is read; the text itself may hold a password.
        try:
            parts = urlsplit(base_url)
            parts.port  # noqa: B018
        except ValueError:
            raise ConfigurationError("base_url is not a valid URL.", hint=_EXAMPLE) from None
        if "@" in parts.netloc:
            raise ConfigurationError(
                "base_url contains a user name or password.", hint="Pass api_key or default_headers instead."
            )
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigurationError(
                f"base_url {base_url!r} is not an http:// or https:// URL.", hint=_EXAMPLE
            )
        if parts.query or parts.fragment:
            raise ConfigurationError(
                "base_url contains a query or fragment.", hint="Pass default_query instead."
            )
        path = parts.path.rstrip("/")
        for endpoint in _ENDPOINTS:
            if path.endswith(endpoint):
                raise ConfigurationError(
                    f"base_url {base_url!r} is the address of one endpoint.",
                    hint=f"Leave out {endpoint!r}.",
                )
        api = f"{parts.scheme}://{parts.netloc}{path or '/v1'}"
        return cls(api=api, root=api.removesuffix("/v1"))
